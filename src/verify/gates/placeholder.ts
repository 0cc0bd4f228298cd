// placeholder: whether an artifact has real content, or only looks as if it did. Pure: a text in, a reason out.
//
// A gate asks for a file, a number of lines, a heading. A hundred and twenty blank lines, or headings and nothing under them, satisfy that.
// The gate holds, as its author wrote it; this result is reported beside it.
//
// Invariants:
//   H1. Only text that cannot be meant as content is a placeholder: a short honest text is not.
//   H2. One line of content is enough, unless the gate asks for many lines.
//   H3. Everything costs time in proportion to the text.

import { linesOf } from "./gate-file.ts";
import { type ContentLines, markdownLines, plainLines } from "./placeholder-lines.ts";

export type Measured = {
  readonly path: string;
  /** How many lines its gate asks for; 0 if it asks for none. */
  readonly minLines: number;
  /** The lines of the agent's prompt, from `promptLines`. */
  readonly promptLines?: ReadonlySet<string>;
};

const repeatedMin = 10;
const share = 10;
const askedMin = 20;
const echoCharsMin = 20;

/** Why a text has no content, in a few words; null if it has. */
export function placeholderReason(text: string, { path, minLines, promptLines: prompted = new Set() }: Measured): string | null {
  const kind = kindOf(path);
  if (text.trim() === "") return blank(text);
  if (kind === "json") return placeholderJson(text);
  const found = kind === "markdown" ? markdownLines(text) : plainLines(text);
  const own = found.content.filter((line) => line.length < echoCharsMin || !prompted.has(line));
  if (own.length === 0) return nothingBut(found);
  return kind === "other" ? null : padded(own, minLines);
}

/** The lines of a prompt, to recognise them in an artifact. */
export function promptLines(prompt: string): ReadonlySet<string> {
  return new Set(markdownLines(prompt).content.filter((line) => line.length >= echoCharsMin));
}

function kindOf(path: string): "markdown" | "prose" | "json" | "other" {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const index = name.lastIndexOf(".");
  const ending = index <= 0 ? "" : name.slice(index + 1).toLowerCase();
  if (ending === "md" || ending === "markdown" || ending === "mdx") return "markdown";
  if (ending === "" || ending === "txt" || ending === "rst" || ending === "adoc") return "prose";
  return ending === "json" ? "json" : "other";
}

function blank(text: string): string {
  const lines = linesOf(text);
  return lines === 0 ? "nothing in it" : `nothing but ${lines} blank ${lines === 1 ? "line" : "lines"}`;
}

/** What is in the place of content, most frequent first. */
function nothingBut({ content, headings, frames, placeholders }: ContentLines): string {
  const parts = [
    [headings, "headings"],
    [placeholders, "placeholders"],
    [content.length, "what the agent was told"],
    [frames, "frames of lists and tables"],
  ] as const;
  const words = parts.filter(([count]) => count > 0).map(([, name]) => name);
  return `nothing but ${words.length === 0 ? "blank lines and comments" : words.join(" and ")}`;
}

/** H2: many lines, and they all say one thing. */
function padded(own: readonly string[], minLines: number): string | null {
  const distinct = new Set(own).size;
  if (own.length >= repeatedMin && distinct * share <= own.length)
    return `the same ${distinct === 1 ? "line" : `${distinct} lines`} again and again, ${own.length} times in all`;
  if (minLines < askedMin) return null;
  // Lines that differ only in a number count as one line.
  const forms = new Set(own.map((line) => line.replaceAll(/\d+/g, "0"))).size;
  if (forms * share >= minLines) return null;
  return `${forms} ${forms === 1 ? "line" : "different lines"} of content, where ${minLines} lines are asked for`;
}

/** An empty object or list. What isn't valid JSON is for the gates to judge. */
function placeholderJson(text: string): string | null {
  const bare = text.replaceAll(/\s+/g, "");
  const words: Readonly<Record<string, string>> = { "{}": "an empty object", "[]": "an empty list", null: "null", '""': "an empty text" };
  return Object.hasOwn(words, bare) ? `nothing but ${words[bare] ?? ""}` : null;
}
