import { expect, test } from "vitest";
import type { ProtectedChange } from "../contracts/evidence.ts";
import { askAboutTests } from "./decide-question.ts";

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
  type Asked = Parameters<typeof askAboutTests>;
  const asked = askAboutTests(
    { oracles: { content: "c", changes } } as unknown as Asked[0],
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
