import { describe, expect, test } from "vitest";
import { listTasks, planCommand, readBins } from "./quoted-commands.ts";

const project = {
  paths: new Set([
    "bench.mjs",
    "bin/slug.js",
    "cards/__main__.py",
    "run.sh",
    "data/in.txt",
    "cmd/med/main.go",
    "scripts/deploy.mjs",
    "src/sum.js",
    "src/sum.rb",
    "lib/stats/mean.py",
    "lib/Text/Slug.pm",
  ]),
  bins: readBins('{ "name": "@a/slugger", "bin": { "slug": "./bin/slug.js" } }'),
  checks: ["npm test"],
  tasks: listTasks('{ "scripts": { "bench": "node bench.mjs", "ship": "npm publish" } }', [
    "all:\n\tnode bench.mjs\n",
    "deploy:\n\tscp x y\n",
  ]),
};
const plan = (command: string) => planCommand(command, project);

describe("what a document quotes is run", () => {
  test.each([
    "node bench.mjs",
    "node bin/slug.js 'Grand Hotel'",
    "python3 -m cards 4539148803436467",
    "./run.sh --all",
    "sh run.sh",
    "go run ./cmd/med 1 2 3",
    "FORCE=1 node bench.mjs",
    "node bench.mjs | head -3",
    "cat data/in.txt | sort",
    "npm test",
    "npm test -- --reporter=dot test/a.test.js",
    "npm run bench",
    "make all",
    "node -e \"import('./src/sum.js').then((m) => console.log(m.sum([])))\"",
    "node -p \"require('./src/sum').sum([1, 2])\"",
    "node --input-type=module -e 'import { sum } from \"./src/sum.js\"; console.log(sum([]))'",
    "python3 -c 'from cards import check; print(check(1))'",
    'PYTHONPATH=lib python3 -c "import stats.mean as m; print(m.mean([1]))"',
    "ruby -r./src/sum.rb -e 'puts sum([])'",
    "perl -Ilib -MText::Slug -e 'print slug(q(a b))' | wc -c",
  ])("if it is the project's own: %s", (command) => expect(plan(command)).toBe(command));

  test("by the name that its manifest gives it", () => {
    expect(plan("slug 'Grand Hotel' | wc -c")).toBe("node bin/slug.js 'Grand Hotel' | wc -c");
    expect(readBins('{ "name": "@a/slugger", "bin": "cli.js" }').get("slugger")).toBe("cli.js");
  });

  test.each([
    "curl https://example.com",
    "rm -rf /",
    "docker run x",
    "node scripts/deploy.mjs",
    "node bench.mjs > out.txt",
    "node bench.mjs & rm x",
    "node other.mjs",
    "npm publish",
    "npm run ship",
    "make deploy",
    "git commit -m x",
    "make release",
    "npm test -- 'x; y'",
    "npm tests",
    "echo $(node bench.mjs)",
    "python3 -c 'print(1)'",
    "node -e 'console.log(1)'",
    "node -e \"import('node:child_process').then((m) => m.execSync('x ./src/sum.js'))\"",
    "node -e \"require('fs').writeFileSync('/tmp/x', require('./src/sum.js').sum([]))\"",
    "node -e \"import('./scripts/deploy.mjs')\"",
    'node -e "$(cat src/sum.js)"',
    "node -e \"`x`; import('./src/sum.js')\"",
    "python3 -c 'import os, stats.mean; os.system(\"x\")'",
    "node -e \"import('./src/other.js')\"",
    "node bench.mjs && rm -rf x",
    "ls",
  ])("and nothing else: %s", (command) => expect(plan(command)).toBeNull());

  test.each([
    "npm install slugger",
    "pip install x",
    "git clone https://example.com/x",
    "git status",
    "cd slugger",
    "npx slugger x",
  ])("what prepares a machine is passed over: %s", (command) => expect(plan(command)).toBe(""));
});
