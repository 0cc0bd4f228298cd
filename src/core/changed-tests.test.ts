import { describe, expect, test } from "vitest";
import type { ProtectedChange } from "../contracts/evidence.ts";
import { settleChangedTests } from "./decide-question.ts";

const change = (
  path: string,
  kind: ProtectedChange["kind"],
  how: ProtectedChange["how"],
): ProtectedChange => ({ path, kind, how, detail: "it was changed", allowed: null });

test.each([
  [[change("a.test.js", "test", "changed")], "changed test files (a.test.js)"],
  [
    [
      change("a.test.js", "test", "changed"),
      change(".eslintrc.json", "lint", "loosened"),
      change("b.test.js", "test", "changed"),
      change("a.snap", "snapshot", "changed"),
    ],
    "changed test files (a.test.js, b.test.js), loosened lint rules (.eslintrc.json) and 1 more file",
  ],
  [[{ ...change("a.test.js", "test", "changed"), allowed: "scope" as const }], null],
])("a question about changed tests says what was changed", (changes, words) => {
  type Asked = Parameters<typeof settleChangedTests>;
  const asked = settleChangedTests(
    { oracles: { content: "c", changes }, drafted: {} } as unknown as Asked[0],
    { path: "flow", visit: 1, ended: {} } as unknown as Asked[1],
    { id: "prove" },
    { kind: "failed", facts: { oracles: "changed" } } as unknown as Asked[3],
  );
  const question = JSON.stringify(asked);

  if (words === null) expect(asked).toBeNull();
  else {
    expect(question).toContain(
      `The agent ${words}, which check its work. Keep exactly this change?`,
    );
  }
});

describe("tests that the work can't pass without", () => {
  type Settled = Parameters<typeof settleChangedTests>;
  const settle = (run: object, facts: object): string =>
    JSON.stringify(
      settleChangedTests(
        {
          oracles: { content: "c", changes: [change("a.test.js", "test", "changed")] },
          drafted: { policy: { changed_tests: "hold" } },
          ...run,
        } as unknown as Settled[0],
        { path: "flow", visit: 1, ended: {}, streak: {} } as unknown as Settled[1],
        { id: "prove" },
        { kind: "failed", facts: { oracles: "changed", ...facts } } as unknown as Settled[3],
      ),
    );

  test("are held back from landing if everything passes with them, and the step is tried again", () => {
    expect(settle({}, { passes_changed: true })).toContain('"tests_held"');
    expect(settle({ held: ["c"] }, { passes_changed: true })).toContain('"step_retried"');
  });

  test("are asked about if not, or if somebody else takes the work", () => {
    expect(settle({}, {})).toContain('"block_opened"');
    expect(settle({ held: ["other"] }, {})).toContain('"block_opened"');
    expect(settle({ drafted: {} }, { passes_changed: true })).toContain('"block_opened"');
  });
});
