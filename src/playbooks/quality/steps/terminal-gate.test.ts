// What the terminal gate finds out about BUGS.md and about documents that nobody made in this run.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import type { Flow } from "../../../contracts/flow.ts";
import { findFact, gateFact, GateResult } from "../../../contracts/quality/quality-facts.ts";
import type { RunView } from "../../../core/state.ts";
import { left } from "../../../../test/quality/audit.ts";
import { createTerminalGateProof } from "./terminal-gate.ts";

const flow = parse(
  readFileSync(new URL("../../../flows/catalog/quality/flow.yaml", import.meta.url), "utf8"),
) as Flow;
const whole: Readonly<Record<string, string | null>> = Object.fromEntries(
  Object.values(left).flatMap((files) =>
    Object.entries(files).map(([path, text]) => [`quality/${path}`, text]),
  ),
);

type Story = {
  /** `null`: something is there that isn't text. */
  readonly files?: Readonly<Record<string, string | null>>;
  readonly changed?: readonly string[];
  readonly options?: Readonly<Record<string, string>>;
  readonly takenOver?: readonly string[];
};

/** The checks of a gate, by name, over phases that all hold. */
async function checksOf({
  files = {},
  changed,
  options = {},
  takenOver = [],
}: Story): Promise<Readonly<Record<string, string>>> {
  const all = { ...whole, ...files };
  const paths = Object.keys(all);

  const { prove } = createTerminalGateProof({
    verifier: { prove: () => Promise.resolve({ holds: true, failures: [], checks: [] }) },
    workspace: {
      pathsAt: () => Promise.resolve(paths),
      textAt: (_commit: string, path: string) => Promise.resolve(all[path] ?? null),
      differences: () =>
        Promise.resolve((changed ?? paths).map((path) => ({ path, change: "added" as const }))),
    },
    readBlob: () => null,
  } as unknown as Parameters<typeof createTerminalGateProof>[0]);

  const state = {
    phases: Object.keys(left).map((id) => ({ id, name: id, group: "phases" })),
    cursors: Object.fromEntries(
      takenOver.map((id) => [id, { last: { earlier: { facts: { proved: true } } } }]),
    ),
    overrides: {},
    drafted: { flow, options, base: { commit: "base" } },
  } as unknown as RunView;

  const input = { attempt: "6@1/do#1", state, commit: "tip" } as unknown as Parameters<
    typeof prove
  >[0];
  const gate = findFact((await prove(input)).facts, gateFact, GateResult);
  return Object.fromEntries(
    (gate?.checks ?? []).map(({ name, verdict, reason }) => [name, `${verdict}: ${reason}`]),
  );
}

test("a heading that no file can be named after is no way around write-ups and logs", async () => {
  const { bugs_heading: reported } = await checksOf({
    files: { "quality/BUGS.md": "# Bugs\n\n### BUG-: nameless\n### BUG-_2: too\n" },
  });
  expect(reported).toMatch(/^fail: BUGS\.md has 2 headings ### BUG- without an id/);
  expect((await checksOf({})).bugs_heading).toMatch(
    /^skip: no agent handed back its bugs; BUGS\.md has 2/,
  );
});

test("a BUGS.md that cannot be read is not taken for one without bugs", async () => {
  const { bugs_heading: reported } = await checksOf({ files: { "quality/BUGS.md": null } });
  expect(reported).toMatch(/^fail: quality\/BUGS\.md isn't a regular text file/);
});

test.each<[string, Story, string]>([
  ["every phase left something", {}, "pass: every phase left documents in this run"],
  [
    "two left nothing",
    { changed: ["quality/EXPLORATION.md", "quality/BUGS.md", "quality/writeups/BUG-001.md"] },
    "warn: phases 2, 4: this run changed none of the documents that are there, they are from before it",
  ],
  [
    "the log of an earlier run was moved, and all was found done",
    { changed: [], options: { earlier_log: "moved" }, takenOver: ["1", "2", "3", "4", "5"] },
    "warn: phases 1, 2, 3, 4, 5: this run changed none of the documents that are there, they are from before it",
  ],
  [
    "the same run was begun by another tool",
    { changed: [], options: { earlier_log: "continued" }, takenOver: ["1", "2", "3", "4", "5"] },
    "pass: every phase left documents in this run",
  ],
  [
    "nothing had to be reconciled",
    {
      files: { "quality/BUGS.md": "# Bugs\n\nNone.\n" },
      changed: Object.keys(whole).filter((path) => !/writeups|results/.test(path)),
    },
    "pass: every phase left documents in this run",
  ],
])("documents of before are told: %s", async (_what, story, reported) =>
  expect((await checksOf(story)).made_here).toBe(reported),
);

test("functional tests that name no code of the project are a warning", async () => {
  const hollow =
    "import test from 'node:test';\nimport assert from 'node:assert';\ntest('REQ-001', () => assert.ok(true));\n";
  const code = { "src/price.js": "export const price = 1;\n", "test/price.test.js": "1;\n" };
  const found = async (text: string) =>
    (await checksOf({ files: { ...code, "quality/test_functional.js": text } })).functional_tests;
  expect(await found(hollow)).toMatch(
    /^warn: quality\/test_functional\.js names no code of the project/,
  );

  expect(await found(hollow.replace("ok(true)", "ok(price())"))).toMatch(/^pass/);
  expect(await found("import x from '../src/x.js';\n")).toMatch(/^pass/);
  expect((await checksOf({})).functional_tests).toMatch(/^pass/);
});
