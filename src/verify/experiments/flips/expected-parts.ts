// expected-parts: what a test expects, if it is an object of a class that the work wrote, with one of its parts changed: each argument of
// its constructor, each of its fields. An equality of the work's own may see the first and forget the others. Pure.

import { languageOf } from "../../protected/kinds.ts";
import { maskText } from "../../protected/masked.ts";
import { closingBracket, lineCounter } from "../source/test-cases.ts";
import { parseArguments, findAssertions, toFlip } from "./assertion-flips.ts";
import type { Flip } from "./literal-flips.ts";
import { createDraw, literals, otherLiteral } from "./near-values.ts";

/** Types that a source defines. */
export const typesDefinedIn = (text: string): readonly string[] =>
  [
    ...text.matchAll(
      /^[ \t]*(?:export\s+(?:default\s+)?|pub(?:\([^)]*\))?\s+|abstract\s+|final\s+|data\s+)*(?:class|struct|record|type)\s+([A-Z]\w*)/gm,
    ),
  ].map(([, name = ""]) => name);

const constructed = /^&?(?:new\s+)?(?:[\w$]+(?:\.|::))*?([A-Z]\w*)(?:(?:::|\.)\w+)?\s*([({])/;
/** What Go's tests compare with by a method, or keep under a name for it. */
const goExpected = /(?:\.Equal\(|\bwant\w*\s*(?::=|:|=)|\bDeepEqual\([^,\n]+,)\s*(?=&?(?:\w+\.)?[A-Z]\w*\{)/g;
const partsMax = 8;

/** For each expectation of such a class, a flip for each of its parts, in their order. */
export function partFlips(path: string, text: string, classes: ReadonlySet<string>, nonce: string): readonly (readonly Flip[])[] {
  const family = languageOf(path);
  if (family === null || classes.size === 0) return [];
  const code = maskText(text, family);
  const lineAt = lineCounter(text);
  const draw = createDraw(`${nonce} parts ${path}`);
  const compared = findAssertions(path, text, nonce).flatMap(({ values = [] }) => values.flatMap((span) => span?.from ?? []));
  const starts = [...compared, ...(family === "go" ? [...text.matchAll(goExpected)].map(({ 0: head, index }) => index + head.length) : [])];
  return [...new Set(starts)].flatMap((start) => {
    const [head, name = ""] = constructed.exec(text.slice(start, start + 200)) ?? [];
    if (head === undefined || !classes.has(name)) return [];
    const open = start + head.length - 1;
    const parts = closingBracket(code, open) === null ? [] : (parseArguments(code, open)?.args ?? []);
    const flips = parts.slice(0, partsMax).map((span) => {
      const argument = text.slice(span.from, span.to);
      const value = argument.replace(/^\w+\s*(?:=|:(?!:))\s*/, ""); // named, or a field
      const [found] = value.matchAll(literals);
      if (found === undefined || /^(?!String::from)[A-Za-z_][\w.:]*\(|=>|\blambda\b|[?*/%<>]|\|\||&&/.test(value.replaceAll(literals, "")))
        return null;
      const from = span.to - value.length + found.index;
      const put = { from, to: from + found[0].length, text: otherLiteral(found[0], draw, true), score: 4 };
      return toFlip(path, text, put, lineAt);
    });
    const usable = flips.flatMap((flip) => flip ?? []);
    return usable.length < 2 ? [] : [usable];
  });
}

export const describeUncomparedParts = (names: readonly string[], classes: readonly string[]): string =>
  `${names.slice(0, shownMax).join(", ")} pass as well with another part in the ${classes.slice(0, shownMax).join(", ")} they expect: not all of it is compared`;
const shownMax = 5;
