import { expect, test } from "vitest";
import type { QuestionContext } from "./question-context.ts";
import { findUntouchedSubjects } from "./untouched-subject.ts";

type Tree = Readonly<Record<string, string>>;

const client =
  "export async function fetchJson(get, url) {\n  return JSON.parse(await get(url));\n}\n";
const retrying = `import { retry } from "./retry.js";\n${client}`;
const retry = "export async function retry(count, job) {\n  return job(count);\n}\n";

function ask(goal: string, base: Tree, work: Tree): Promise<string | null> {
  const tree: Tree = { ...base, ...work };
  const context = {
    goal,
    differences: Object.keys(work).map((path) => ({
      path,
      kind: path in base ? "changed" : "added",
    })),
    rules: {
      base: new Set(Object.keys(base)),
      rowOf: (path: string) => (path.startsWith("test/") ? { kind: "test" } : null),
    },
    lab: {
      textAt: async (side: string, path: string) => (side === "base" ? base : tree)[path] ?? null,
      pathsAt: async () => Object.keys(tree),
    },
  };
  return findUntouchedSubjects(context as unknown as QuestionContext);
}

const goal = "fetchJson() must retry: up to three attempts. Write src/retry.js for it";
const base: Tree = { "src/client.js": client, "test/client.test.js": "" };

test("a function of which the goal says what it must do is told if nothing about it changed", async () => {
  expect(await ask(goal, base, { "src/retry.js": retry, "test/retry.test.js": "" })).toBe(
    "the goal says what fetchJson() must do, and neither it nor anything it loads was changed",
  );
  expect(
    await ask(`Retry. \`fetchJson()\` should retry`, base, { "src/retry.js": retry }),
  ).not.toBe(null);
});

test.each([
  ["it was changed", goal, base, { "src/client.js": retrying, "src/retry.js": retry }],
  [
    "what it loads was changed",
    goal,
    { ...base, "src/client.js": retrying, "src/retry.js": "" },
    { "src/retry.js": retry },
  ],
  [
    "what it loads loads what was changed",
    goal,
    {
      "src/client.js": retrying,
      "src/retry.js": 'import "./wait/index.js";\n',
      "src/wait/index.js": "",
    },
    { "src/wait/index.js": "export {};\n" },
  ],
  [
    "it finds code by itself",
    goal,
    { "src/client.js": `import { readdirSync } from "node:fs";\n${client}` },
    { "src/parts/retry.js": retry },
  ],
  ["only tests were changed", goal, base, { "test/client.test.js": "1;\n" }],
  ["the goal asks for tests of it", "fetchJson() must have tests", base, { "src/retry.js": retry }],
  ["it is to be exported", "fetchJson() must be exported", base, { "index.js": "export {};\n" }],
  ["the goal begins with another", "retry() must call its job", base, { "src/retry.js": retry }],
  ["settings were changed", goal, base, { "src/retry.js": retry, "package.json": "{}" }],
])("it is not told if %s", async (_, said, before, work) => {
  expect(await ask(said, before, work)).toBeNull();
});
