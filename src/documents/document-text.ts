// document-text: decodes a document's bytes as text, or reports why it can't: too large, binary or not UTF-8.

import type { Finding, Position } from "../kit/finding.ts";

/** A 500-phase roadmap takes a bit more than a megabyte; ten aren't a roadmap. */
export const documentTextBytesMax = 4_194_304;

/** A document's bytes as text, or the one finding that says why they are none. */
export function documentText(file: string, bytes: Uint8Array): { readonly text: string } | { readonly findings: readonly Finding[] } {
  const refuse = (place: Position, rule: string, message: string): { readonly findings: readonly Finding[] } => ({
    findings: [{ file, ...place, path: "", rule, message, severity: "error" }],
  });
  const size = bytes.byteLength;
  if (size > documentTextBytesMax)
    return refuse({ line: 1, column: 1 }, "too_large", `found ${size} bytes, expected at most ${documentTextBytesMax}`);
  const loose = new TextDecoder("utf-8").decode(bytes);
  const nul = loose.indexOf("\0");
  if (nul >= 0) return refuse(placeIn(loose, nul), "not_text", "found a NUL character, expected a text file");
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return refuse(placeIn(loose, loose.indexOf("\ufffd")), "not_utf8", "found bytes that are not UTF-8, expected a text file");
  }
}

function placeIn(text: string, offset: number): Position {
  const before = text.slice(0, offset).split(/\r\n|\n|\r/);
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
