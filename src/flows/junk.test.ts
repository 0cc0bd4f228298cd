import { describe, expect, test } from "vitest";
import { findJsonSchema, validateReturn } from "./returns.ts";
import type { ReturnContext } from "./junk.ts";

const errorsOf = (name: string, value: unknown, context?: ReturnContext): readonly string[] => {
  const found = validateReturn(name, value, context);
  return "errors" in found ? found.errors : [];
};
const isJunk = (name: string, value: unknown): boolean => {
  const found = validateReturn(name, value);
  return "errors" in found && found.isJunk === true;
};

describe("what fits its schema and is no answer", () => {
  test.each([
    "TODO",
    "tbd",
    "FIXME",
    "TODO: write this",
    "string",
    "<summary>",
    "{summary}",
    "...",
    "…",
    "example",
    "Lorem ipsum dolor sit amet",
    "test root cause",
    "Example summary",
    "Your summary here",
    "[insert summary here]",
    "N/A",
    "none",
    "",
    "   ",
    "what you changed and why, in a few sentences",
  ])("%j is refused, with its field, what was found and what is expected", (summary) => {
    const [error, ...more] = errorsOf("progress", { summary });
    expect(error).toMatch(/^summary: .*; expected what you changed and why/);
    expect(more).toEqual([]);
    expect(isJunk("progress", { summary })).toBe(true);
  });

  test("the schema itself, in place of what fits it", () => {
    expect(errorsOf("progress", findJsonSchema("progress")).join("\n")).toContain(
      "this is the JSON Schema itself",
    );

    expect(isJunk("progress", findJsonSchema("progress"))).toBe(true);
  });

  test("placeholders deep inside lists", () => {
    expect(
      errorsOf("review", {
        confidence: 0.5,
        pass: false,
        issues: ["src/a.ts: off by one", "string", ""],
      }),
    ).toEqual([
      'issues[1]: "string" is a placeholder; expected each fault with its file, the worst first; empty if there is none',
      "issues[2]: is empty; expected each fault with its file, the worst first; empty if there is none",
    ]);
  });

  test("text copied from the prompt", () => {
    const reported =
      "Make the smallest complete change that meets the criterion, and read before you edit anything at all.";
    expect(
      errorsOf("progress", { summary: reported }, { prompt: `# Rules\n1. ${reported}\n2. More.` }),
    ).toEqual([
      expect.stringMatching(
        /^summary: "Make the smallest .* is copied from what you were told; expected/,
      ),
    ]);

    expect(errorsOf("progress", { summary: reported })).toEqual([]);
  });

  test("tasks that are done, and nothing that shows it", () => {
    const empty = { task_id: "1", criteria_met: [], commands_run: [] };
    for (const more of [{}, { commit_shas: [] }, { evidence: [] }, { evidence: [empty] }]) {
      expect(errorsOf("execute", { tasks_completed: "3/3", ...more })).toEqual([
        expect.stringMatching(/^evidence: 3\/3 tasks are said/),
      ]);
    }

    expect(errorsOf("execute", { tasks_completed: "3/3", commit_shas: ["abc1234"] })).toEqual([]);
    expect(
      errorsOf("execute", {
        tasks_completed: "1/1",
        evidence: [{ ...empty, commands_run: ["npm test"] }],
      }),
    ).toEqual([]);

    expect(errorsOf("execute", { tasks_completed: "0/3", commit_shas: [] })).toEqual([]);
  });

  test("one long text in two places, and the return of the attempt before, word for word", () => {
    const long = "The parser now keeps the time zone of every date that it reads.";
    expect(errorsOf("progress", { summary: long, remaining: long })).toEqual([
      "remaining: says word for word what summary says; expected what belongs here, or nothing",
    ]);

    const value = { summary: long, confidence: 0.9 };
    expect(errorsOf("progress", value, { previous: { ...value } })).toEqual([
      expect.stringContaining("word for word what was handed back before"),
    ]);

    expect(errorsOf("progress", value, { previous: { ...value, confidence: 0.8 } })).toEqual([]);
  });
});

describe("an honest answer passes, however short", () => {
  test.each([
    ["progress", { summary: "Done." }],
    ["progress", { summary: "fixed typo", remaining: "" }],
    [
      "progress",
      { summary: "made b", remaining: "none", files_changed: [], criteria_done: ["c1"] },
    ],
    ["progress", { summary: "removed the TODO in src/a.ts", remaining: "N/A" }],
    ["progress", { summary: "Renamed string to text in the example." }],
    ["progress", { summary: "ok" }],
    ["review", { confidence: 1, pass: true, issues: [] }],
    ["review", { confidence: 0.9, pass: false, issues: ["a.ts: TODO left in line 3"] }],
    ["staged", { summary: "Wrote the spec.", question: true, question_text: "Which database?" }],
    ["execute", { tasks_completed: "0/2", tasks_failed: "2/2" }],
  ])("%s %j", (name, value) => {
    expect(errorsOf(name, value)).toEqual([]);
  });

  test("the same review twice: the same fault may be there again", () => {
    const value = {
      confidence: 0.9,
      pass: false,
      issues: ["src/b.txt: it is too short, three lines are asked for"],
    };
    expect(errorsOf("review", value, { previous: { ...value } })).toEqual([]);
  });

  test("a verdict that names each criterion in the words it was told in, sums its failures up in theirs, and says the same twice", () => {
    const reported =
      "Every order that is cancelled within a day is paid back in full, without anybody having to ask for it.";
    const shown = "src/orders.ts:12 -- refund() is called with the whole amount of the order";

    const value = {
      pass: false,
      automated_checks: { tests: true },
      criteria_results: [
        { criterion: reported, status: "failed", evidence: shown },
        { criterion: "Another one", status: "verified", evidence: shown },
      ],
      alignment_score: 5,
      verification_duration_seconds: 10,
      commands_run: [],
      failures: ["the refund is never written down, so that it could be paid twice"],
      failure_categories: [
        {
          failure: "the refund is never written down, so that it could be paid twice",
          category: "executor_incomplete",
        },
      ],
      scope_creep: [],
    };
    expect(
      errorsOf("verify", value, {
        prompt: `# Criteria\n1. ${reported}`,
        previous: structuredClone(value),
      }),
    ).toEqual([]);
  });

  test("a judge with nothing more to note", () => {
    const value = {
      alignment_score: 8,
      recommendation: "proceed",
      concerns: ["no test covers an empty list"],
      independent_evidence: ["src/a.ts:3 -- sum() starts at 0"],
      verifier_agreement: true,
      verifier_missed: [],
      scope_creep: [],
      missing_requirements: [],
      notes: "",
    };
    expect(errorsOf("judge", value)).toEqual([]);
  });

  test("a summary that is the goal's few words", () => {
    expect(errorsOf("progress", { summary: "make b" }, { prompt: "# Goal\nmake b\n" })).toEqual([]);
  });
});

describe("a wrapper around what fits is taken off, and told", () => {
  const inner = { summary: "made b", confidence: 0.9 };
  test.each([
    ["result", { result: inner }],
    ["a name of its own", { progress: inner }],
    ["a text", JSON.stringify(inner)],
    ["a list of one", [inner]],
    ["two of them", { status: "ok", data: { result: inner } }],
    ["a text inside", { response: JSON.stringify(inner) }],
  ])("%s", (_what, value) => {
    expect(validateReturn("progress", value)).toMatchObject({
      claim: inner,
      says: { confidence: 0.9 },
      warning: expect.stringContaining("wrapped") as string,
    });
  });

  test("junk inside a wrapper stays junk, and what does not fit is told as it stands", () => {
    expect(errorsOf("progress", { result: { summary: "TODO" } }).join()).toMatch(/summary/);
    expect("errors" in validateReturn("progress", { result: { summary: 7 } })).toBe(true);
    expect(validateReturn("progress", inner)).not.toHaveProperty("warning");
  });
});
