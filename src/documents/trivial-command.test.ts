import { describe, expect, test } from "vitest";
import type { Expectation } from "../contracts/evidence.ts";
import { whyTrivial } from "./trivial-command.ts";

const trivial = [
  "true",
  ":",
  "exit 0",
  "exit",
  "echo done",
  'printf "%s" ok',
  "test 1 = 1",
  "[ 1 -eq 1 ]",
  "[[ a == a ]]",
  "test -n x",
  "test -d .",
  "ls",
  "ls -la",
  "ls .",
  "pwd",
  "date",
  "sleep 1",
  "cd .",
  "find . -name '*.ts'",
  "git status",
  "git log --oneline",
  "git diff --stat",
  "node --version",
  "npm -v",
  "touch done.txt",
  "mkdir -p out",
  "npm test || true",
  "npm test || exit 0",
  "npm test || echo failed",
  "npm test; true",
  "npm test; echo done",
  "npm test &",
  "npm test | cat",
  "npm test 2>&1 | tail -5",
  "true && echo ok",
  "! false",
  "bash -c 'exit 0'",
  "sh -c true",
  "env FOO=1 true",
  "FOO=1 true",
  "/bin/true",
  "( true )",
  "{ echo a; }",
  "echo ok | grep ok",
  "true # npm test",
  "true > /dev/null 2>&1",
  "",
];
const real = [
  "npm test",
  "test -f out.txt",
  "test -d src",
  "ls src/a.ts",
  "cat package.json",
  "grep -q x f",
  "! grep -q x f",
  "[ $(wc -l < f) -gt 3 ]",
  'test "$X" = 1',
  "node check.mjs | grep -c ok",
  "cat f | grep x",
  "npm test && echo ok",
  "npm test && npm run lint | tail -1 && npm run build",
  "cd src && npm test",
  "true && npm test",
  "false || npm test",
  "git diff --quiet",
  "git diff --exit-code main",
  "echo $(npm test) | grep ok",
  "bash check.sh",
  "./bin/cli --version",
  "dist/app -v",
  "./scripts/wait",
  "bash -c 'npm test'",
  "if test -f a; then exit 1; fi; npm test",
  "set -e; npm test; true",
  "for f in *; do test -s $f; done",
  "npm test; node check.mjs",
  "find src -name x | grep -q .",
  "echo 'a; true' > f && node f",
  "cat <<X\ntrue\nX\nnpm test",
  "npm test > log; grep -q ok log",
  "(cd a && npm test)",
  "exit 1",
];

describe("without an expectation the exit code decides", () => {
  test.each(trivial)("%j proves nothing", (command) => {
    expect(whyTrivial(command, null)).not.toBeNull();
  });

  test.each(real)("%j may fail", (command) => {
    expect(whyTrivial(command, null)).toBeNull();
  });
});

const says = (text: string): Expectation => ({ kind: "text", text });
const least = (count: number): Expectation => ({ kind: "at_least", count });

describe("with one the output decides", () => {
  test.each<[string, Expectation]>([
    ["echo 5", { kind: "exactly", count: 5 }],
    ["true; echo EXIT:$?", says("EXIT:0")],
    ["echo ok | cat", says("ok")],
    ["npm test; echo passed", says("passed")],
    ["grep -c x f", least(0)],
    ["npm test", says(" ")],
  ])("%j %j proves nothing", (command, expectation) => {
    expect(whyTrivial(command, expectation)).not.toBeNull();
  });

  test.each<[string, Expectation]>([
    ["npm test; echo EXIT:$?", says("EXIT:0")],
    ["bash check.sh 2>&1; echo EXIT:$?", says("EXIT:0")],
    ["ls src | wc -l", least(3)],
    ["ls", least(3)],
    ["grep -c x f || true", { kind: "exactly", count: 0 }],
    ["npm test && echo passed", says("passed")],
    ["echo $(cat version)", says("2.0")],
    ["git status --porcelain", { kind: "exactly", count: 0 }],
    ["node --version", says("v20")],
  ])("%j %j may fail", (command, expectation) => {
    expect(whyTrivial(command, expectation)).toBeNull();
  });
});

test("a blank that is none to a shell is a letter of a word, and nobody waits for its end", () => {
  for (const blank of ["\u00a0", "\u3000", "\u2028", "\f", "\v", "\r"]) {
    expect(whyTrivial(`test${blank}-f a.txt`, null)).toBeNull();
    expect(whyTrivial(`${blank}true`, null)).toBeNull(); // no such command
    expect(whyTrivial(`test -f a.txt >${blank}`, null)).toBeNull();
  }

  expect(whyTrivial("test -f a.txt\r\ntrue", null)).not.toBeNull();
});
