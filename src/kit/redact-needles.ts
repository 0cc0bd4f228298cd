// redact-needles: lists the forms in which a secret may be written down: plain, reversed,
// hexadecimal, base64.
//
// Escaped forms (%41, \u0041, \", &amp;) are not listed here: a text is unescaped before it is
// searched (redact-views.ts), so that any mixture of them is found.
//
// Invariants:
//   K1. A base64 form has only those characters that the secret alone decides. There are three, by
//       where the secret begins in the encoded text.
//   K2. A long secret is searched in overlapping pieces, so that no needle is longer than its limit
//       and nothing between two pieces is missed.

import type { Needle } from "./redact-matcher.ts";

/** A value that must not be written anywhere, and the name that replaces it. */
export type Secret = { readonly name: string; readonly value: string };

/** Anything shorter cannot be distinguished from ordinary text. */
export const secretCharsMin = 8;
const secretCharsMax = 256 * 1024;
const pieceChars = 1024;
const overlapChars = 16;
/** A line of a secret with several lines is a secret of its own if it has so many characters. */
const lineCharsMin = 16;
const nameCharsMax = 64;

/** Every text that gives the secret away. */
export function listNeedles({ name, value }: Secret): readonly Needle[] {
  const limited = value.slice(0, secretCharsMax);
  const lines = limited.includes("\n")
    ? limited
        .split(/\r?\n/)
        .filter((line) => line.length >= lineCharsMin && !line.startsWith("-----"))
    : [];

  // A text is also searched without its line breaks, so the secret is searched without its own too.
  const joined = limited.replaceAll(/\r?\n[ \t]*/g, "");
  const texts = new Set([limited, joined, limited.trim(), ...lines].flatMap(splitIntoPieces));
  const safeName = toSafeName(name);
  const needles = new Map<string, Needle>();

  for (const text of texts) {
    for (const [form, written] of listForms(text)) {
      if (!needles.has(written)) needles.set(written, { text: written, name: safeName, form });
    }
  }

  return [...needles.values()];
}

/**
 * A name as it is in the text: no value could hide in it, and it cannot be mistaken for anything
 * else.
 */
const toSafeName = (name: string): string =>
  name.replaceAll(/[^A-Za-z0-9_.-]/g, "_").slice(0, nameCharsMax);

function splitIntoPieces(text: string): readonly string[] {
  if (text.length < secretCharsMin) return [];
  const pieces: string[] = [];

  for (
    let index = 0;
    index === 0 || index + overlapChars < text.length;
    index += pieceChars - overlapChars
  ) {
    pieces.push(text.slice(index, index + pieceChars));
  } // K2

  return pieces;
}

function listForms(text: string): readonly (readonly [Needle["form"], string])[] {
  const bytes = new TextEncoder().encode(text);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const base64 = [0, 1, 2].map((before) => encodeBase64(bytes, before));

  // Each as it is, and as it looks if a text is read byte by byte, or each byte was escaped by
  // itself.
  const plain = [
    text,
    ...(text.includes(" ") ? [text.replaceAll(" ", "+")] : []),
    Array.from(text).toReversed().join(""),
  ].flatMap((spelling) => [spelling, String.fromCharCode(...new TextEncoder().encode(spelling))]);
  return [
    ...plain.map((spelling) => ["plain", spelling] as const),
    ...[hex, hex.toUpperCase()].map((spelling) => ["hex", spelling] as const),
    ...base64
      .flatMap((spelling) => [spelling, spelling.replaceAll("+", "-").replaceAll("/", "_")])
      .map((spelling) => ["base64", spelling] as const),
  ];
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/**
 * The base64 of bytes that begin `offset` bytes after a multiple of three, without characters that
 * the bytes beside them share in (K1).
 */
function encodeBase64(bytes: Uint8Array, offset: number): string {
  let encoded = "";
  const bits = (offset + bytes.length) * 8;
  for (let bit = Math.ceil((offset * 8) / 6) * 6; bit + 6 <= bits; bit += 6) {
    const position = Math.floor(bit / 8) - offset;
    const pair = ((bytes[position] ?? 0) << 8) | (bytes[position + 1] ?? 0);
    encoded += digits[(pair >> (10 - (bit % 8))) & 63] ?? "";
  }

  return encoded;
}
