import { describe, expect, it } from "vitest";
import type { CheckoutChange, RaisedQuestion } from "./question-context.ts";
import { findUnanswered } from "./shared-runs.ts";

const raised = (path: string): RaisedQuestion => ({
  whether: path,
  change: { edits: [{ path, text: "" }] },
  gap: path,
});
const all = [raised("package.json"), { whether: "b", change: { paths: ["cases.json"] }, gap: "b" }];

/** What is left open, and the changes that were tried. */
async function tried(questions: readonly RaisedQuestion[], ran: number, isPassed = true) {
  const changes: CheckoutChange[] = [];
  const now = { passed: true, failed: new Set<string>(), tests: { ran: 3, failed: 0, skipped: 0 } };

  const asking: Parameters<typeof findUnanswered>[0] = {
    announce: () => undefined,
    runWith: async (_, change) => {
      changes.push(change);
      return { ...now, passed: isPassed, tests: { ran, failed: 0, skipped: 0 } };
    },
    lab: { now },
  };

  return { open: (await findUnanswered(asking, questions)).map(({ gap }) => gap), changes };
}

describe("questions whose good answer is a pass", () => {
  it("share one run, and a pass answers all of them", async () => {
    const { open, changes } = await tried(all, 3);
    expect(open).toEqual([]);
    expect(changes).toEqual([
      { edits: [{ path: "package.json", text: "" }], paths: ["cases.json"], without: [] },
    ]);
  });

  it("are asked alone if the shared run fails, or runs fewer tests", async () => {
    expect((await tried(all, 3, false)).open).toEqual(["package.json", "b"]);
    expect((await tried(all, 2)).open).toEqual(["package.json", "b"]);
  });

  it("share nothing if they change the same file, or if there is one", async () => {
    expect(await tried([raised("a.js"), raised("a.js")], 3)).toEqual({
      open: ["a.js", "a.js"],
      changes: [],
    });

    expect(await tried([raised("a.js")], 3)).toEqual({ open: ["a.js"], changes: [] });
  });
});
