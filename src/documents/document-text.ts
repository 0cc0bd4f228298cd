// document-text: decodes a document's bytes as text, or reports why it can't: too large, binary or
// not UTF-8.

import type { Finding, Position } from "../kit/finding.ts";

/** A roadmap of 500 phases has about one megabyte. */
export const documentTextBytesMax = 4_194_304;

/** Decodes strictly; a byte order mark is left out. */
export function decodeDocument(
  file: string,
  bytes: Uint8Array,
  bytesMax = documentTextBytesMax,
): { readonly text: string } | { readonly findings: readonly Finding[] } {
  const refuse = (
    place: Position,
    rule: string,
    message: string,
  ): { readonly findings: readonly Finding[] } => ({
    findings: [{ file, ...place, path: "", rule, message, severity: "error" }],
  });

  const size = bytes.byteLength;
  if (size > bytesMax) {
    return refuse(
      { line: 1, column: 1 },
      "too_large",
      `found ${size} bytes, expected at most ${bytesMax}`,
    );
  }

  const lenientText = new TextDecoder("utf-8").decode(bytes);
  const nulIndex = lenientText.indexOf("\0");
  if (nulIndex >= 0) {
    return refuse(
      positionIn(lenientText, nulIndex),
      "not_text",
      "found a NUL character, expected a text file",
    );
  }

  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    const before = new TextDecoder("utf-8").decode(bytes.subarray(0, findInvalidByte(bytes)));
    return refuse(
      positionIn(before, before.length),
      "not_utf8",
      "found bytes that are not UTF-8, expected a text file",
    );
  }
}

/** The index of the first byte that is not UTF-8: decoding and encoding changes only such bytes. */
function findInvalidByte(bytes: Uint8Array): number {
  const encodedAgain = new TextEncoder().encode(
    new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes),
  );
  return bytes.findIndex((byte, index) => byte !== encodedAgain[index]);
}

function positionIn(text: string, offset: number): Position {
  const before = text.slice(0, offset).split(/\r\n|\n|\r/);
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
