import { expect, test } from "vitest";
import { findConsoleSteps } from "./console-steps.ts";

test("commands in code blocks, each with what is quoted below it", () => {
  const text =
    "Run:\n\n```console\n$ npm install slug\n$ node bin/slug.js 'A b' \\\n>   --upper\nA-B\n\n$ node x.js\n```\n";
  expect(findConsoleSteps(text)).toEqual([
    { command: "npm install slug", output: [] },
    { command: "node bin/slug.js 'A b'  --upper", output: ["A-B", ""] },
    { command: "node x.js", output: [] },
  ]);
});

test("also in indented blocks, behind the name of a machine, and in several blocks in order", () => {
  const text = "Then:\n\n    $ ./run a\n    one\n\nText.\n\n~~~\nada@host:~/x$ ./run b\ntwo\n~~~\n";
  expect(findConsoleSteps(text)).toEqual([
    { command: "./run b", output: ["two"] },
    { command: "./run a", output: ["    one", ""] },
  ]);
});

test("no money, variables or prose", () => {
  expect(findConsoleSteps("It costs $ 5.\n\n```sh\necho $HOME\nprice: 5 $ each\n```\n")).toEqual(
    [],
  );
});

test("a command goes on while its quotes are open, if they are ever closed", () => {
  const code =
    "```\n$ node -e \"\nimport('./a.js');\n\"\n3\n$ echo it's\nfine\n$ ls # it's all\na\n```\n";
  expect(findConsoleSteps(code)).toEqual([
    { command: "node -e \"\nimport('./a.js');\n\"", output: ["3"] },
    { command: "echo it's", output: ["fine"] },
    { command: "ls # it's all", output: ["a"] },
  ]);
});
