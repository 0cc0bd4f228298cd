import { expect, test } from "vitest";
import { createLiteralFlips } from "./literal-flips.ts";
import { negateShellConditions } from "./shell-conditions.ts";

const negatedIn = (text: string): readonly string[] =>
  [...negateShellConditions(text.split("\n")).values()].map((line) => line.trim());

test.each([
  [
    "a branch that counts a failure",
    'check() {\n  if lower "$1" "$2"; then\n    echo ok\n  else\n    fails=$((fails + 1))\n  fi\n}\n',
    ['if ! lower "$1" "$2"; then'],
  ],
  [
    "a branch that ends the script, with `then` in the next line",
    "if ! lower 1.10 1.9\nthen\n  echo wrong\n  exit 1\nfi\n",
    ["if lower 1.10 1.9"],
  ],
  [
    "a command joined to a failure",
    "lower 1.9 1.10 || fail 'numbers'\n",
    ["! lower 1.9 1.10 || fail 'numbers'"],
  ],
  [
    "a command joined to a block that fails",
    "lower 1.9 1.10 || {\n  echo no\n  exit 1\n}\n",
    ["! lower 1.9 1.10 || {"],
  ],
  ["nothing if no branch fails", "if lower 1 2; then\n  echo lower\nfi\necho done || true\n", []],
  [
    "nothing if it is about what the script needs",
    "command -v node || exit 1\ncd t || exit 1\nif [ ! -f a ]; then\n  exit 1\nfi\n",
    [],
  ],
])("%s", (_, text, expected) => expect(negatedIn(text)).toEqual(expected));

test("a script that compares something is broken there", () => {
  const text = 'if [ "$(add 1 2)" = 3 ]; then :; else exit 1; fi\nlower 1 2 || exit 1\n';
  expect(createLiteralFlips("t.sh", text).map(({ broken }) => broken)).not.toContain(
    "! lower 1 2 || exit 1",
  );
});
