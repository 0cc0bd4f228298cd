// salvage-json: leniently parses an answer that isn't the requested JSON: single quotes, trailing
// commas, comments, bare keys, YAML. The caller (judge-return.ts) tries each result against the
// schema.

import { parse } from "yaml";

const textsMax = 5;
const textCharsMax = 32 * 1024;
const linesMax = 200;

/**
 * The objects and lists found, in the order in which to try them: fenced blocks from the last, then
 * braces, then lines of `key: value` at the end.
 */
export function findSalvageable(answer: string): readonly unknown[] {
  const tail = answer.slice(-textCharsMax * 2).replaceAll("\r\n", "\n");
  const texts = [
    ...findFencedBlocks(tail).toReversed(),
    ...findBraces(tail),
    ...findTrailingKeys(tail),
  ];
  return texts.slice(0, textsMax).flatMap(parseLeniently);
}

function findFencedBlocks(text: string): readonly string[] {
  return [
    ...text.matchAll(
      /^[ \t]*(?:`{3,}|~{3,})[^\n`]*\n([\s\S]*?)(?:^[ \t]*(?:`{3,}|~{3,})|(?![\s\S]))/gm,
    ),
  ].map(([, inside = ""]) => inside);
}

/** From the first brace that begins an object to the last closing one. */
function findBraces(text: string): readonly string[] {
  const start = text.search(/\{\s*["'\w]/);
  const end = text.lastIndexOf("}");
  return start >= 0 && end > start ? [text.slice(start, end + 1)] : [];
}

/** The last lines that are keys with values, or belong to one by their indentation. */
function findTrailingKeys(text: string): readonly string[] {
  const lines = text.trimEnd().split("\n").slice(-linesMax);
  const trailingLines: string[] = [];

  for (const line of lines.toReversed()) {
    if (!/^(?:[a-z]\w*:(?:\s|$)|[ \t]+\S|-\s)/.test(line)) break;
    trailingLines.unshift(line);
  }

  return trailingLines.length >= 2 ? [trailingLines.join("\n")] : [];
}

function parseLeniently(text: string): readonly unknown[] {
  if (text.length > textCharsMax) return [];
  for (const spelling of [withoutForeignSyntax(text), text]) {
    try {
      const value: unknown = parse(spelling, { maxAliasCount: 0, logLevel: "silent" });
      if (typeof value === "object" && value !== null) return [value];
    } catch {
      // The next spelling may parse.
    }
  }

  return [];
}

/** A text in quotes, which stays as it is ("src/*.ts"). */
const quoted = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/;
/** Comments as in JavaScript, at the start of a line or behind a comma, a brace or a bracket. */
const lineComment = /(?<=(?:^|[,{[])[ \t]*)\/\/[^\n]*/;
const blockComment = /(?<=^|[\s,{[])\/\*[\s\S]{0,1000}?\*\//;
/** Python's constants in the place of a value (`, None]`). */
const pythonConstant = /(?<=[:[,]\s*)(?:True|False|None)(?=\s*[,}\]])/;
const quotedOrForeign = new RegExp(
  [quoted, lineComment, blockComment, pythonConstant].map(({ source }) => source).join("|"),
  "gm",
);

/** Removes comments and translates `True`, `False` and `None`, except in quoted texts. */
const withoutForeignSyntax = (text: string): string =>
  text.replaceAll(quotedOrForeign, (match) => {
    if (/^["']/.test(match)) return match;
    if (match.startsWith("/")) return "";
    return match === "None" ? "null" : match.toLowerCase();
  });
