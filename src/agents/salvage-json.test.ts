import { describe, expect, test } from "vitest";
import { judgeReturn } from "./judge-return.ts";
import { openSubmissions, type ValidateReturn } from "./answer-tools/submissions.ts";
import { findSalvageable } from "./salvage-json.ts";

const validateReturn: ValidateReturn = (_name, value) => {
  const { summary, isJunk } = value as { summary?: unknown; isJunk?: boolean };
  if (typeof summary !== "string") return { errors: ["summary: expected a text"] };
  return isJunk === true ? { errors: ["summary: junk"], isJunk } : { claim: value, says: {} };
};
const order = (isOptional: boolean) => ({
  returns: { name: "progress", schema: {}, isOptional },
  prompt: "do it",
});
const judged = (answer: string, isOptional = false) =>
  judgeReturn(
    order(isOptional),
    validateReturn,
    openSubmissions(order(isOptional).returns, validateReturn),
    answer,
  );

describe("an answer that is nearly what was asked for is read in good will, and told", () => {
  test.each([
    ["single quotes", "```json\n{'summary': 'made b'}\n```"],
    ["a trailing comma", '```json\n{"summary": "made b",}\n```'],
    ["bare keys, in prose", "Here it is: {summary: 'made b'} and that is all."],
    ["comments", '```json\n{\n  // what I did\n  "summary": "made b"\n}\n```'],
    ["YAML in a block", "```yaml\nsummary: made b\nconfidence: 0.9\n```"],
    ["YAML at the end", "I am through.\n\nsummary: made b\nconfidence: 0.9\n"],
    ["Python", "```python\n{'summary': 'made b', 'question': False}\n```"],
  ])("%s", (_what, answer) => {
    expect(judged(answer)).toMatchObject({
      claim: { summary: "made b" },
      warnings: [expect.stringContaining("good will")],
    });
  });

  test("JSON as it was asked for needs none", () => {
    expect(judged('```json\n{"summary": "made b"}\n```')).toEqual({
      claim: { summary: "made b" },
      says: {},
      warnings: [],
    });
  });

  test("prose stays prose, and what does not fit is asked for again in the words of the strict reading", () => {
    expect(judged("I made b. Note: done.")).toEqual({ errors: ["no JSON was handed back"] });
    expect(judged('```json\n{"title": 7}\n```')).toEqual({ errors: ["summary: expected a text"] });
  });

  test("what need not be handed back may be left out, and not filled with junk", () => {
    expect(judged("I made b.", true)).toMatchObject({ claim: null });
    expect(judged('{"title": 7}', true)).toMatchObject({
      claim: null,
      warnings: [expect.stringContaining("not needed")],
    });

    expect(judged('{"summary": "x", "isJunk": true}', true)).toEqual({ errors: ["summary: junk"] });
  });
});

test("texts in quotes stay as they are, whatever they look like", () => {
  const answer =
    "```json\n{'paths': ['src/**/*.ts', 'a // b', 'x, None, y'], /* all */ 'skip': None, // so far\n}\n```";
  expect(findSalvageable(answer)[0]).toEqual({
    paths: ["src/**/*.ts", "a // b", "x, None, y"],
    skip: null,
  });

  expect(findSalvageable("```yaml\npaths: src/**/*.ts\nurl: http://a.example/b\n```")).toEqual([
    { paths: "src/**/*.ts", url: "http://a.example/b" },
  ]);
});

test("aliases and sheer size are not read", () => {
  expect(findSalvageable(`\`\`\`yaml\na: &a [1]\nb: *a\n\`\`\``)).toEqual([]);
  expect(findSalvageable(`\`\`\`yaml\na: ${"x".repeat(100_000)}\n\`\`\``)).toEqual([]);
});
