// rust-places: where the tests of a Rust file stand, and where the bodies of its functions begin.
// Pure. The code is without comments and strings (mask-text.ts).

import { maskText } from "../../protected/mask-text.ts";
import { findClosingBracket, type Span } from "./brackets.ts";

const testModule = /#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+\w+\s*\{/g;
const testAttribute = /#\[\s*(?:\w+::)*(?:test|rstest|test_case)\b/;

/** The modules of tests in a source file. */
export const findRustTestModules = (code: string): readonly Span[] =>
  findRustBlocks(code, testModule);

/** The modules of tests of a source file, or all of a file of tests. */
export function findRustTests(code: string): readonly Span[] {
  const modules = findRustTestModules(code);
  if (modules.length > 0) return modules;
  return testAttribute.test(code) ? [{ from: 0, to: code.length }] : [];
}

/** A source file without its modules of tests. */
export function withoutRustTests(text: string): string {
  const modules = findRustTestModules(maskText(text, "rust"));
  return modules.reduceRight((code, { from, to }) => code.slice(0, from) + code.slice(to), text);
}

/** The blocks that these heads open; each ends with its bracket. */
export const findRustBlocks = (code: string, head: RegExp): readonly Span[] =>
  [...code.matchAll(head)].map(({ 0: text, index }) => ({
    from: index,
    to: findClosingBracket(code, index + text.length - 1) ?? code.length,
  }));

/** The position behind the bracket that opens a function's body; null if it has none. */
export function findRustBody(code: string, from: number): number | null {
  let depth = 0;
  for (let index = from; index < code.length; index += 1) {
    const letter = code[index] ?? "";
    if (letter === "(" || letter === "[") depth += 1;
    if (letter === ")" || letter === "]") depth -= 1;
    if (depth === 0 && letter === ";") return null;
    if (depth === 0 && letter === "{") return index + 1;
  }

  return null;
}

export const isInside = (spans: readonly Span[], at: number): boolean =>
  spans.some(({ from, to }) => from <= at && at < to);
