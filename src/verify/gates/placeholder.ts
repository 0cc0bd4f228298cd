// placeholder: tells whether an artifact has real content, or only looks as if it did. Pure: a text
// in, a reason out.
//
// A gate asks for a file, a number of lines, a heading. A hundred and twenty blank lines, or
// headings and nothing under them, satisfy that. The gate then holds, as its author wrote it, and
// what is found here is reported beside it.
//
// Invariants:
//   H1. Only text that cannot be meant as content is a placeholder: a short honest text is not
//       (placeholder-lines.ts says which lines are).
//   H2. One line of content is enough, unless the gate asks for many lines.
//   H3. The time it takes is linear in the size of the text.

import { countLines } from "./gate-file.ts";
import {
  type ContentLines,
  classifyMarkdownLines,
  classifyPlainLines,
} from "./placeholder-lines.ts";

export type ArtifactContext = {
  readonly path: string;
  /** How many lines its gate asks for; 0 if it asks for none. */
  readonly minLines: number;
  /** The lines of the agent's prompt, from `parsePromptLines`. */
  readonly promptLines?: ReadonlySet<string>;
};

/** A text with fewer lines of content is not judged by repetition. */
const repeatedLinesMin = 10;
/** A text repeats itself if each of its lines occurs at least so often, on average. */
const repetitionsMin = 10;
/** A gate that asks for fewer lines is not about quantity. */
const minLinesChecked = 20;
/** A shorter line of an artifact may equal one of the prompt by chance. */
const echoCharsMin = 20;

/** Why a text has no content, in a few words; null if it has. */
export function explainPlaceholder(
  text: string,
  { path, minLines, promptLines: echoes = new Set() }: ArtifactContext,
): string | null {
  const kind = documentKind(path);
  if (text.trim() === "") return describeBlank(text);
  if (kind === "json") return describeEmptyJson(text);
  const lines = kind === "markdown" ? classifyMarkdownLines(text) : classifyPlainLines(text);
  const contentLines = lines.contentLines.filter(
    (line) => line.length < echoCharsMin || !echoes.has(line),
  );
  if (contentLines.length === 0) return describeFrames(lines);

  return kind === "other" ? null : describeRepetition(contentLines, minLines);
}

/** The lines of a prompt, to recognise them in an artifact. */
export function parsePromptLines(prompt: string): ReadonlySet<string> {
  return new Set(
    classifyMarkdownLines(prompt).contentLines.filter((line) => line.length >= echoCharsMin),
  );
}

function documentKind(path: string): "markdown" | "prose" | "json" | "other" {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const index = name.lastIndexOf(".");
  const extension = index <= 0 ? "" : name.slice(index + 1).toLowerCase();
  if (extension === "md" || extension === "markdown" || extension === "mdx") return "markdown";
  if (extension === "" || extension === "txt" || extension === "rst" || extension === "adoc") {
    return "prose";
  }

  return extension === "json" ? "json" : "other";
}

function describeBlank(text: string): string {
  const lines = countLines(text);
  return lines === 0
    ? "nothing in it"
    : `nothing but ${lines} blank ${lines === 1 ? "line" : "lines"}`;
}

/** What is there instead of content. */
function describeFrames({
  contentLines,
  headingCount,
  frameCount,
  placeholderCount,
}: ContentLines): string {
  const parts = [
    [headingCount, "headings"],
    [placeholderCount, "placeholders"],
    [contentLines.length, "what the agent was told"],
    [frameCount, "frames of lists and tables"],
  ] as const;
  const names = parts.filter(([count]) => count > 0).map(([, name]) => name);
  return `nothing but ${names.length === 0 ? "blank lines and comments" : names.join(" and ")}`;
}

/** Why many lines are hardly content: they repeat a few, or differ only in numbers (H2). */
function describeRepetition(contentLines: readonly string[], minLines: number): string | null {
  const distinct = new Set(contentLines).size;
  const isRepetitive =
    contentLines.length >= repeatedLinesMin && distinct * repetitionsMin <= contentLines.length;
  const noun = distinct === 1 ? "line" : `${distinct} lines`;
  if (isRepetitive) return `the same ${noun} again and again, ${contentLines.length} times in all`;
  if (minLines < minLinesChecked) return null;
  // Lines that differ only in a number count as one line.
  const forms = new Set(contentLines.map((line) => line.replaceAll(/\d+/g, "0"))).size;
  if (forms * repetitionsMin >= minLines) return null;

  return `${forms} ${forms === 1 ? "line" : "different lines"} of content, where ${minLines} lines are asked for`;
}

/** An empty object, list or text, or null. What isn't valid JSON is for the gates to judge. */
function describeEmptyJson(text: string): string | null {
  const compact = text.replaceAll(/\s+/g, "");
  const words: Readonly<Record<string, string>> = {
    "{}": "an empty object",
    "[]": "an empty list",
    null: "null",
    '""': "an empty text",
  };
  return Object.hasOwn(words, compact) ? `nothing but ${words[compact] ?? ""}` : null;
}
