import { expect, test } from "vitest";
import { findReturnedJson } from "./returned-json.ts";

test.each([
  ["a fenced block", 'Here:\n```json\n{ "a": 1 }\n```\n', { a: 1 }],
  [
    "the last of several blocks",
    '```json\n{ "a": 1 }\n```\nbetter:\n```json\n{ "a": 2 }\n```',
    { a: 2 },
  ],
  [
    "a block marked as JSON before one that is not",
    '```json\n{ "a": 1 }\n```\n```ts\nconst b = {};\n```',
    { a: 1 },
  ],
  ["a block without a mark", '```\n{ "a": 1 }\n```', { a: 1 }],
  ["a block of tildes", '~~~json\n{ "a": 1 }\n~~~', { a: 1 }],
  ["a block that is never closed", '```json\n{ "a": 1 }', { a: 1 }],
  ["a block in a longer fence", '````json\n{ "a": "\\n```\\n" }\n````', { a: "\n```\n" }],
  ["an indented block", '- result:\n  ```json\n  { "a": 1 }\n  ```', { a: 1 }],
  ["bare JSON", '{ "a": { "b": [1, 2] } }', { a: { b: [1, 2] } }],
  ["JSON in a sentence", 'The answer is {"a": 1}, as asked.', { a: 1 }],
  ["the last object in the text", '{"a": 1} no, {"a": 2} yes', { a: 2 }],
  ["an array", 'result: [{"a": 1}, {"a": 2}]', [{ a: 1 }, { a: 2 }]],
  ["braces in strings", 'x {"a": "}{"} y', { a: "}{" }],
  ["a stray brace before it", 'function f() { return } then {"a": 1}', { a: 1 }],
])("%s", (_, text, value) => {
  expect(findReturnedJson(text)).toMatchObject({ isFound: true, value });
});

test.each([
  ["nothing", ""],
  ["prose", "I have done it."],
  ["a number in a block", "```json\n3\n```"],
  ["a block that is broken", '```json\n{ "a": 1,, }\n```'],
  ["an object cut off", '{"a": 1'],
])("not handed back: %s", (_, text) => {
  expect(findReturnedJson(text).isFound).toBe(false);
});

test("a broken block is told with the parser's words", () => {
  expect(findReturnedJson("```json\n{ oops }\n```")).toMatchObject({
    why: expect.stringContaining("JSON") as string,
  });
});

test("no text takes long, however many braces it has", () => {
  for (const text of [
    "{".repeat(300_000),
    "}".repeat(300_000),
    "{}{".repeat(100_000),
    "[".repeat(200_000) + "]",
  ]) {
    expect(findReturnedJson(text)).toBeDefined();
  }
});
