// placeholder: whether an artifact has content of its own, or only looks as if it did. Pure: a text in, a reason out.
//
// A gate asks for a file, a number of lines, a heading. A hundred and twenty blank lines, or headings and nothing under them, are all
// of that. The gate holds, as its author wrote it; what is said here is reported beside it.
//
// Invariants:
//   H1. Only what nobody could mean as content is hollow: a short honest text is not.
//   H2. One line of content is enough, unless the gate asks for many lines.
//   H3. Everything costs time in proportion to the text.

import { linesOf } from "./gate-file.ts";
import { type ContentLines, markdownLines, plainLines } from "./placeholder-lines.ts";

export type Measured = {
  readonly path: string;
  /** How many lines its gate asks for; 0 where it asks for none. */
  readonly minLines: number;
  /** The lines of what the agent was told, as `promptLines` makes them. */
  readonly promptLines?: ReadonlySet<string>;
};

const repeatedMin = 10;
const share = 10;
const askedMin = 20;
const echoCharsMin = 20;

/** Why there is nothing in a text, in a few words; null if there is something. */
export function placeholderReason(text: string, { path, minLines, promptLines: prompted = new Set() }: Measured): string | null {
  const kind = kindOf(path);
  if (text.trim() === "") return blank(text);
  if (kind === "json") return placeholderJson(text);
  const found = kind === "markdown" ? markdownLines(text) : plainLines(text);
  const own = found.content.filter((line) => line.length < echoCharsMin || !prompted.has(line));
  if (own.length === 0) return nothingBut(found);
  return kind === "other" ? null : padded(own, minLines);
}

/** The lines of a prompt, to be recognised where an artifact only repeats them. */
export function promptLines(prompt: string): ReadonlySet<string> {
  return new Set(markdownLines(prompt).content.filter((line) => line.length >= echoCharsMin));
}

function kindOf(path: string): "markdown" | "prose" | "json" | "other" {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const at = name.lastIndexOf(".");
  const ending = at <= 0 ? "" : name.slice(at + 1).toLowerCase();
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

/** H2: many lines are there, and they say one thing. */
function padded(own: readonly string[], minLines: number): string | null {
  const distinct = new Set(own).size;
  if (own.length >= repeatedMin && distinct * share <= own.length)
    return `the same ${distinct === 1 ? "line" : `${distinct} lines`} again and again, ${own.length} times in all`;
  if (minLines < askedMin) return null;
  // Lines that differ only in a number are one line, counted.
  const forms = new Set(own.map((line) => line.replaceAll(/\d+/g, "0"))).size;
  if (forms * share >= minLines) return null;
  return `${forms} ${forms === 1 ? "line" : "different lines"} of content, where ${minLines} lines are asked for`;
}

/** An object or a list with nothing in it. What cannot be read as JSON is a matter for gates, not for this. */
function placeholderJson(text: string): string | null {
  const bare = text.replaceAll(/\s+/g, "");
  const words: Readonly<Record<string, string>> = { "{}": "an empty object", "[]": "an empty list", null: "null", '""': "an empty text" };
  return Object.hasOwn(words, bare) ? `nothing but ${words[bare] ?? ""}` : null;
}
