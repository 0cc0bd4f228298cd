// What is hollow and what is not, from both sides: beside each text that holds nothing stands a
// small honest one that does.

import { expect, test } from "vitest";
import { explainPlaceholder, parsePromptLines } from "./placeholder.ts";

const why = (text: string, path = "docs/report.md", minLines = 0, prompt = ""): string | null =>
  explainPlaceholder(text, { path, minLines, promptLines: parsePromptLines(prompt) });

test("a megabyte of anything is measured in one pass: of comments without an end, of marks, of bars", () => {
  for (const piece of ["<!--", "|", "- ", "#", "`", "**a:", "---\n", "\n"]) {
    const text = piece.repeat(Math.floor(1_048_576 / piece.length));
    expect(typeof why(text) === "string" || why(text) === null).toBe(true);
  }
});
