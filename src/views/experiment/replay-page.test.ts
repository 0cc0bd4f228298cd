import { expect, test } from "vitest";
import type { AttemptFacts } from "../../insight/attempt-facts.ts";
import { countColumns } from "../../kit/columns.ts";
import { replayPage } from "./replay-page.ts";

const facts: AttemptFacts = {
  outcome: "passed",
  reason: null,
  detail: null,
  agent: "claude",
  said: "The week branch is in, and I added tests for the years that have 53 of them.",
  tokens: 123_456,
  calls: 3,
  minutes: 12.25,
  usd: 1.5,
  paths: ["src/date/parse-weeks-of-the-year.ts", "test/date/parse-weeks-of-the-year.test.ts"],
  tree: "a",
  checks: [],
};
const npmTest = (status: string) => [
  { command: "npm run test -- --coverage --reporter=verbose", status },
];
const page = (
  recorded: Partial<AttemptFacts>,
  replayed: Partial<AttemptFacts>,
): readonly string[] =>
  replayPage({
    attempt: "1@1/execute#1",
    run: "run-1",
    commit: "c".repeat(40),
    recorded: { ...facts, ...recorded },
    replayed: { ...facts, ...replayed },
    changed: [],
  });

test.each([
  ["neither was checked", [], [], "neither proved anything"],
  ["only the replay was checked", [], npmTest("failed"), "can't be ranked"],
  ["both fail", npmTest("failed"), npmTest("failed"), "proved the same"],
  ["the replay passes", npmTest("failed"), npmTest("passed"), "proved more"],
  ["the replay fails", npmTest("passed"), npmTest("failed"), "proved less"],
  [
    "other checks were run",
    npmTest("passed"),
    [{ command: "npm run lint", status: "passed" }],
    "can't be ranked",
  ],
])("%s: the conclusion follows from the checks", (_what, recorded, replayed, text) => {
  expect(page({ checks: recorded }, { checks: replayed }).at(-1)).toContain(text);
});

test("a step that failed proved less than one that passed, whatever was checked", () => {
  expect(
    page({ checks: npmTest("passed") }, { outcome: "failed", reason: "agent_failed" }).at(-1),
  ).toContain("proved less");
});

test("an attempt that never ended is nothing to be better than", () => {
  expect(page({ outcome: "unfinished" }, { checks: npmTest("passed") }).at(-1)).toContain(
    "nothing to rank",
  );
});

test("both columns fit a terminal of eighty", () => {
  const lines = page(
    { outcome: "interrupted", reason: "budget_threshold_reached", checks: npmTest("passed") },
    {
      outcome: "failed",
      reason: "completion_gates_blocked",
      tokens: 999_999,
      checks: npmTest("could_not_run"),
    },
  );
  const table = lines.slice(lines.findIndex((line) => line.includes("RECORDED")));
  expect(table.slice(0, table.indexOf("")).every((line) => countColumns(line) <= 80)).toBe(true);
});
