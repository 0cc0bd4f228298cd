import { describe, expect, test } from "vitest";
import { extractClaims } from "./look-up-claims.ts";
import { claimLimits } from "./reported-claim.ts";

const reported = (
  text: string,
  more: { claim?: unknown; prompt?: string; promised?: boolean } = {},
): readonly string[] =>
  extractClaims({ said: text, claim: null, ...more }).map((claim) => {
    switch (claim.kind) {
      case "done":
        return `done ${claim.subject}`;
      case "command":
        return `command ${claim.command} ${claim.passed === null ? "?" : claim.passed ? "passed" : "failed"}`;
      case "commit":
        return `commit ${claim.sha}`;
      case "file_line":
        return `line ${claim.path}:${claim.line}${claim.name === null ? "" : ` ${claim.name}`}`;
      case "file_changed":
        return `changed ${claim.path}`;
      case "count":
        return `count ${claim.counted} ${claim.claimedCount}${claim.noun === undefined ? "" : ` ${claim.noun}`}`;
      case "named":
        return `named ${claim.id}`;
      case "score":
        return "score";
    }
  });

describe("what an agent says that can be looked up", () => {
  test.each([
    ["All tests pass.", ["done tests"]],
    ["The whole test suite is green now.", ["done tests"]],
    ["All done criteria are met.", ["done all"]],
    ["Everything is done.", ["done all"]],
    ["Everything passes.", ["done all"]],
    ["The bug is fixed.", ["done task"]],
    ["I ran `npm test` and it passed.", ["command npm test passed"]],
    ["`cargo build` fails with 3 errors.", ["command cargo build failed"]],
    ["`npm test` passes with no errors.", ["command npm test passed"]],
    [
      "Committed as deadbeefdeadbeefdeadbeefdeadbeefdeadbeef.",
      ["commit deadbeefdeadbeefdeadbeefdeadbeefdeadbeef"],
    ],
    ["See commit `abc1234` for it.", ["commit abc1234"]],
    ["The cause is in src/a.ts:42.", ["line src/a.ts:42"]],
    ["`parseDate` (`src/a.ts:42`) loses the zone.", ["line src/a.ts:42 parseDate"]],
    ["It is on line 7 of lib/x.py.", ["line lib/x.py:7"]],
    ["I edited `src/a.ts` and src/b.ts.", ["changed src/a.ts", "changed src/b.ts"]],
    ["Added 5 unit tests.", ["count tests_added 5"]],
    ["I wrote three new tests for it.", ["count tests_added 3"]],
    ["Changed 2 files.", ["count files_changed 2"]],
    ["12 passed.", ["count other 0"]],
    ["Coverage is now 92 %.", ["score"]],
  ])("%s", (text, claims) => {
    expect(reported(text)).toEqual(claims);
  });

  test.each([
    ["a plan", "I will make all tests pass."],
    ["a condition", "If all tests pass, the bug is fixed."],
    ["a denial", "The tests do not pass yet."],
    ["a part", "3 of 4 criteria: some tests pass."],
    ["a question", "Do all tests pass?"],
    ["an address", "The server listens on example.com:8080 and http://localhost.dev:3000."],
    ["a time", "Started at 10:30."],
    ["a number that is no commit", "There are 1234567 rows."],
    ["a file somebody else's", "The helper follows the style of `src/a.ts`."],
  ])("%s claims nothing that could be held against it", (_what, text) => {
    expect(reported(text).filter((claim) => !claim.startsWith("count"))).toEqual([]);
  });

  test("quotations, code, JSON and echoes of the prompt are not its word", () => {
    const prompt = "Work until all tests pass and everything is done in src/a.ts:1.\nThen say so.";
    const text = [
      "> All tests pass.",
      'The reporter wrote "all tests pass" in the issue.',
      "```",
      "All tests pass. src/a.ts:42",
      "```",
      "Work until all tests pass and everything is done in src/a.ts:1.",
      '{ "summary": "all tests pass" }',
    ].join("\n");
    expect(reported(text, { prompt })).toEqual([]);
  });
});

describe("transcripts", () => {
  const shown = (...lines: readonly string[]): readonly string[] =>
    reported(["I ran it:", "```console", ...lines, "```"].join("\n"));
  test("a command with what it is said to have printed", () => {
    expect(shown("$ npm test", "# pass 4", "# fail 0")).toEqual(["command npm test passed"]);
    expect(shown("$ npm test", "Tests: 1 failed, 3 passed")).toEqual(["command npm test failed"]);
    expect(shown("$ npm run lint", "$ pytest -q", "3 passed in 0.1s")).toEqual([
      "command pytest -q passed",
    ]);
  });

  test("a block whose command stands in the words before it", () => {
    expect(reported("The output of `go test ./...`:\n\n```\nok  \texample/a\t0.1s\n```")).toEqual([
      "command go test ./... passed",
    ]);
  });

  test("code is none", () => {
    expect(shown("const price = `$ 5 passed`;", "npm test")).toEqual([]);
  });
});

describe("what an agent hands back", () => {
  test("fields that claim, and sentences in its texts", () => {
    const claim = {
      summary: "All tests pass; see src/a.ts:3.",
      criteria_done: ["c1"],
      files_changed: ["src/a.ts"],
      confidence: 0.9,
      commit_shas: ["ABC1234"],
      tasks_completed: "3/3",
      evidence: [
        { task_id: "1", criteria_met: [], commands_run: ["npm test -> passed", "npm run lint"] },
      ],
    };

    expect(reported("", { claim, promised: true })).toEqual([
      "done all",
      "changed src/a.ts",
      "commit abc1234",
      "done c1",
      "count other 0",
      "score",
      "command npm test passed",
      "command npm run lint ?",
      "done tests",
      "line src/a.ts:3",
    ]);

    expect(reported("", { claim: { pass: true, confidence: 0.4, issues: [] } })).toEqual([
      "done all",
      "score",
    ]);
  });

  test("what is no object claims nothing", () => {
    for (const claim of [null, 7, "All tests pass.", []]) {
      expect(reported("", { claim })).toEqual([]);
    }
  });
});

test("what is said is bounded, however much it is", () => {
  const said = Array.from(
    { length: 5_000 },
    (_, n) => `The cause is in src/a${n}.ts:${n + 1}, ${"x".repeat(2_000)}.`,
  ).join("\n");

  const claims = extractClaims({
    said: `${said}\n${"`".repeat(50_000)}${'"'.repeat(50_000)}`,
    claim: null,
  });
  expect(claims.length).toBeLessThanOrEqual(claimLimits.claimsMax);
  for (const { text } of claims) expect(text.length).toBeLessThanOrEqual(claimLimits.textCharsMax);
});

describe("what is found and listed", () => {
  test("numbers of findings in a sentence, and in a field of the return", () => {
    expect(reported("I found 12 bugs and wrote them down.")).toEqual(["count listed 12 bugs"]);
    expect(reported("docs/REPORT.md lists three open findings.")).toEqual([
      "count listed 3 findings",
    ]);

    expect(reported("Five requirements were documented.")).toEqual(["count listed 5 requirements"]);
    expect(
      reported("", { claim: { bugs_found: 3, use_cases_count: 2, findings: 7, retries: 4 } }),
    ).toEqual(["count listed 3 bugs", "count listed 2 use cases", "count listed 7 findings"]);
  });

  test("a wish, a limit and a number of something else claim nothing", () => {
    for (const sentence of [
      "I should find 12 bugs.",
      "If there were 3 findings, I would list them.",
      "It takes 12 minutes.",
    ]) {
      expect(reported(sentence)).toEqual([]);
    }
  });

  test("findings that are handed back one by one: their ids and their places, less what the agent was told", () => {
    const claim = {
      findings: [
        { id: "BUG-001", file: "src/a.ts", line: 3, title: "x" },
        { id: "c1", title: "told" },
      ],
      bugs: [{ id: "free text" }],
    };

    expect(reported("", { claim, prompt: "Criteria: c1" })).toEqual([
      "named BUG-001",
      "line src/a.ts:3",
    ]);
  });
});
