// What is hollow and what is not, from both sides: beside each text that holds nothing stands a
// small honest one that does.

import { describe, expect, test } from "vitest";
import { explainPlaceholder, parsePromptLines } from "./placeholder.ts";

const why = (text: string, path = "docs/report.md", minLines = 0, prompt = ""): string | null =>
  explainPlaceholder(text, { path, minLines, promptLines: parsePromptLines(prompt) });
const times = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join("\n");

describe("a Markdown file", () => {
  const rows: readonly (readonly [title: string, text: string, why: string | null])[] = [
    ["nothing at all", "", "nothing in it"],
    ["120 blank lines", "\n".repeat(120), "nothing but 120 blank lines"],
    ["blanks and tabs", "  \n\t\n", "nothing but 2 blank lines"],
    ["headings alone", "# Findings\n\n## Finding 1\n\n## Finding 2\n", "nothing but headings"],
    ["headings that are underlined", "Findings\n========\n\nMore\n----\n", "nothing but headings"],
    ["a heading with one sentence", "# Findings\n\nThe parser drops the last line.\n", null],
    ["one word", "done\n", null],
    [
      "placeholders",
      "# Plan\n\nTODO\n\n- TBD\n- [ ] ...\n",
      "nothing but headings and placeholders",
    ],
    [
      "labels that wait for a value",
      "**Owner:**\n**Date:** TBD\nStatus: TODO\n",
      "nothing but placeholders and frames of lists and tables",
    ],
    ["a label with a value", "**Owner:** Ada\n", null],
    [
      "every section n/a",
      "# Risks\n\nN/A\n\n# Costs\n\nNone.\n",
      "nothing but headings and placeholders",
    ],
    ["lorem ipsum", "Lorem ipsum dolor sit amet, consectetur\n", "nothing but placeholders"],
    [
      "a table with its head alone",
      "| Bug | File |\n|-----|------|\n",
      "nothing but frames of lists and tables",
    ],
    [
      "a table with empty rows",
      "| Bug | File |\n|-----|------|\n|     |      |\n",
      "nothing but frames of lists and tables",
    ],
    ["a table with a row", "| Bug | File |\n|---|---|\n| B1 | a.ts |\n", null],
    [
      "front matter alone",
      "---\ntitle: Report\nauthor: me\n---\n\n# Report\n",
      "nothing but headings",
    ],
    [
      "comments alone",
      "<!-- write here\nwhat you found -->\n",
      "nothing but blank lines and comments",
    ],
    ["a comment without an end is text", "<!-- what I found\n", null],
    ["empty list items", "-\n- [ ]\n1.\n", "nothing but frames of lists and tables"],
    ["fences around nothing", "```\n```\n", "nothing but frames of lists and tables"],
    ["code", "```ts\nconst a = 1;\n```\n", null],
    ["a heading inside a fence is content", "```md\n# Title\n```\n", null],
    [
      "one line over and over",
      times(40, () => "This is a finding."),
      "the same line again and again, 40 times in all",
    ],
    [
      "three lines over and over",
      times(60, (n) => ["one thing", "another thing", "a third"][n % 3] ?? ""),
      "the same 3 lines again and again, 60 times in all",
    ],
    ["a line that comes twice", "good\nbad\ngood\n", null],
    ["many lines that differ by a number", times(30, (n) => `- BUG-${n}: open`), null],
  ];
  test.each(rows)("%s", (_, text, expected) => expect(why(text)).toBe(expected));
});

describe("where a gate asks for many lines", () => {
  const asked = 120;
  test("blank lines with three of content between them are told", () =>
    expect(why(`# A\n${"\n".repeat(120)}one\ntwo\nthree\n`, "a.md", asked)).toBe(
      "3 different lines of content, where 120 lines are asked for",
    ));

  test("lines that differ only in a number are one line, counted", () =>
    expect(
      why(
        times(130, (n) => `Line ${n} of the exploration`),
        "a.md",
        asked,
      ),
    ).toBe("1 line of content, where 120 lines are asked for"));

  test("a tenth of them is enough", () => {
    const words = "a b c d e f g h i j k l".split(" ");
    expect(
      why(
        times(12, (n) => `about ${words[n] ?? ""} there is this`),
        "a.md",
        asked,
      ),
    ).toBeNull();

    expect(
      why(
        times(11, (n) => `about ${words[n] ?? ""} there is this`),
        "a.md",
        asked,
      ),
    ).toMatch(/^11 different lines/);
  });

  test("a few lines asked for are met by a few lines", () =>
    expect(why("one\ntwo\n", "a.md", 2)).toBeNull());
});

describe("what the agent was told", () => {
  const prompt = "# Your task\n\nDescribe every module of the project in a sentence.\nShort.\n";
  test("handed back line for line is no content", () =>
    expect(
      why(
        "# Modules\n\n- Describe every module of the project in a sentence.\n",
        "a.md",
        0,
        prompt,
      ),
    ).toBe("nothing but headings and what the agent was told"));

  test("with something of its own beside it, is", () =>
    expect(
      why(
        "Describe every module of the project in a sentence.\nThe parser reads lines.\n",
        "a.md",
        0,
        prompt,
      ),
    ).toBeNull());

  test("a short line may be the same by chance", () =>
    expect(why("Short.\n", "a.md", 0, prompt)).toBeNull());
});

describe("other files", () => {
  const rows: readonly (readonly [path: string, text: string, why: string | null])[] = [
    ["a.txt", "\n\n", "nothing but 2 blank lines"],
    ["a.txt", "# not a heading here\n", null],
    ["a.txt", "TODO\n", "nothing but placeholders"],
    ["README", "x\n".repeat(20), "the same line again and again, 20 times in all"],
    ["run.log", "ok\n".repeat(500), null],
    ["run.log", "\n", "nothing but 1 blank line"],
    ["a.json", "{}\n", "nothing but an empty object"],
    ["a.json", " [ ]\n", "nothing but an empty list"],
    ["a.json", '{ "bugs": [], "total": 0 }', null],
    ["a.json", "no json", null],
    ["src/a.ts", "export {};\n", null],
    ["src/a.ts", "\n", "nothing but 1 blank line"],
    [".hidden", "x\n", null],
  ];
  test.each(rows)("%s with %j", (path, text, expected) => expect(why(text, path)).toBe(expected));
});
