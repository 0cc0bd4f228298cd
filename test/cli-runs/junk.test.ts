// What an agent hands back that isn't an answer: asked for again with the exact mistakes, at most
// twice; then it fails. What is nearly one is read.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventsOf, goScripted, runFolderOf } from "../support/autopilot.ts";
import { scratchCheckedOnce as scratch } from "../support/scratch-repository.ts";
import { aFew } from "../support/sampled.ts";

const makeB = { write: { path: "b.txt", text: "b\n" } };
const done = { say: "I made it. <promise>DONE</promise>" };
const criterion = ["--done-criteria", "b is there :: test -f b.txt", "--max-cycles", "1"];
const long = "The file b.txt is there now, with one line in it, as was asked for.";

describe.concurrent("junk is no return", () => {
  aFew(2).each([
    [
      "a placeholder",
      { summary: "TODO", confidence: 1 },
      /^summary: "TODO" is a placeholder; expected what you changed/,
    ],
    [
      "the schema's own words",
      { summary: "what you changed and why, in a few sentences" },
      /is what the schema says of a field/,
    ],
    [
      "types in place of values",
      { summary: "string", criteria_done: ["string"] },
      /^summary: "string" is a placeholder/,
    ],
    ["lorem ipsum", { summary: "Lorem ipsum dolor sit amet, consectetur" }, /is a placeholder/],
    ["nothing", { summary: "" }, /^summary: is empty/],
    [
      "the same text twice",
      { summary: long, remaining: long },
      /^remaining: says word for word what summary says/,
    ],
  ])(
    "%s: asked again twice with the exact mistake, then return_invalid, and nothing of it is kept",
    async (_what, returns, mistake) => {
      const folder = scratch();
      const { json } = await goScripted(
        folder,
        [{ do: [makeB, done], returns, repeat: 0 }],
        criterion,
      );
      expect(json.state).not.toBe("completed");
      const asked = eventsOf(folder, "return_asked_again");
      expect(asked.map(({ ask }) => ask)).toEqual([2, 3]);

      for (const { errors, raw } of asked) {
        expect((errors as string[])[0]).toMatch(mistake);
        const blob = join(runFolderOf(folder), "blobs", String(raw).slice(0, 2), String(raw));
        expect(readFileSync(blob, "utf8")).toContain(JSON.stringify(returns.summary).slice(1, -1)); // the raw text is kept
      }

      const [failed] = eventsOf(folder, "step_failed");
      expect(failed).toMatchObject({ reason_code: "return_invalid" });
      expect(String(failed?.["detail"])).toMatch(/What the agent handed back does not fit/);
      expect(eventsOf(folder, "changes_applied")).toEqual([]);
      expect(eventsOf(folder, "claims_checked")).toMatchObject([
        { claims: [{ kind: "done", verdict: "false" }] },
      ]);
    },
  );

  test("the return of the attempt before, word for word, though other work was done", async () => {
    const folder = scratch();
    const returns = {
      summary: "Wrote a first part of what was asked for, and looked at the rest.",
    };

    const turns = [
      { when: { attempt: 1 }, do: [{ write: { path: "a.txt", text: "a\n" } }], returns },
      { when: { attempt: 2 }, do: [makeB, done], returns, repeat: 0 },
    ];
    await goScripted(folder, turns, [
      "--done-criteria",
      "b is there :: test -f b.txt",
      "--max-cycles",
      "2",
    ]);

    const [asked] = eventsOf(folder, "return_asked_again");
    expect(asked).toMatchObject({
      attempt: "1@1/execute#2",
      errors: [expect.stringContaining("word for word what was handed back before")],
    });

    expect(eventsOf(folder, "step_failed").map(({ reason_code }) => reason_code)).toContain(
      "return_invalid",
    );
  });

  test("one that is fixed when it is asked again counts", async () => {
    const folder = scratch();
    const turns = [
      { when: { role: "executor", ask: 1 }, do: [makeB, done], returns: { summary: "TODO" } },
      { when: { role: "executor", ask: 2 }, do: [done], returns: { summary: "made b" } },
    ];

    const { json } = await goScripted(folder, turns, criterion);
    expect(json).toMatchObject({ state: "completed", verdict: "verified" });
    expect(eventsOf(folder, "return_asked_again")).toHaveLength(1);
  });
});

describe.concurrent("what is nearly a return is read in good will, with a warning", () => {
  aFew(2).each([
    ["wrapped", '```json\n{"result": {"summary": "made b", "confidence": 0.9}}\n```'],
    [
      "in single quotes with a comma too many",
      "```json\n{'summary': 'made b', 'confidence': 0.9,}\n```",
    ],
    ["as YAML", "```yaml\nsummary: made b\nconfidence: 0.9\n```"],
    [
      "in the middle of prose",
      'I hand back {"summary": "made b", "confidence": 0.9} and that is it.',
    ],
  ])("%s", async (what, text) => {
    const folder = scratch();
    const { json } = await goScripted(
      folder,
      [{ do: [makeB, { say: `<promise>DONE</promise>\n\n${text}` }] }],
      criterion,
    );
    expect(json).toMatchObject({ state: "completed" });
    const [turn] = eventsOf(folder, "turn_ended");
    expect(turn).toMatchObject({
      says: { confidence: 0.9 },
      ...(what.startsWith("in the middle") ? {} : { warnings: [expect.any(String)] }),
    });

    expect(eventsOf(folder, "return_asked_again")).toEqual([]);
  });
});

test.concurrent("short honest returns pass", async () => {
  for (const summary of ["ok", "Done.", "made b"]) {
    const folder = scratch();
    const { json } = await goScripted(
      folder,
      [{ do: [makeB, done], returns: { summary, remaining: "none" } }],
      criterion,
    );

    expect({ summary, state: json.state }).toEqual({ summary, state: "completed" });
  }
});
