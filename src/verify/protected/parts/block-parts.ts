// block-parts: extracts the blocks in braces and the lines that configure tests, from files that
// are programs: build.gradle, vite.config.ts.

import { maskText } from "../mask-text.ts";
import type { Language } from "../rows/protection-row.ts";
import { type ProtectedParts, squeezeSpace } from "./protected-parts.ts";

/** A file with more blocks about tests than this is protected as a whole. */
const blocksMax = 50;

/** `blockOpening`: matches up to the brace that opens a block, `test {`. */
export function extractBlockParts(
  text: string,
  language: Language,
  blockOpening: RegExp,
  testLine: RegExp,
): ProtectedParts {
  const code = maskText(text, language, "comments");
  const openings = [...code.matchAll(blockOpening)];
  const blocks =
    openings.length > blocksMax
      ? [code]
      : openings.map(({ 0: opening, index }) => cutBlock(code, index, opening.length - 1));
  const lines = code.split("\n").filter((line) => testLine.test(line));
  const parts = [...blocks, ...lines];

  if (parts.length === 0) return {};
  return { "what configures the tests": parts.map(squeezeSpace).join("\n") };
}

/** The text from `start` to the brace that closes the one `braceOffset` characters later. */
function cutBlock(text: string, start: number, braceOffset: number): string {
  let depth = 0;
  for (let position = start + braceOffset; position < text.length; position++) {
    if (text[position] === "{") depth++;
    if (text[position] === "}") depth--;
    if (depth === 0) return text.slice(start, position + 1);
  }

  return text.slice(start);
}
