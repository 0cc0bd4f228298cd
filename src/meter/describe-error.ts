// describe-error: reads a provider's error, and says it in one short line without a key.

import type { IncomingMessage } from "node:http";
import { asRecord } from "./dialects.ts";
import { errorBytesMax, errorCharsMax } from "./limits.ts";
import { decompress } from "./decompress.ts";

/** A key shorter than this would match ordinary words, and is left in the text. */
const keyCharsMin = 6;

/**
 * The error's text, and its JSON; null if it is none. An error beyond the limit loses its end, with
 * the part of the key that is there.
 */
export async function collectError(
  incoming: IncomingMessage,
  key: string,
): Promise<{ readonly text: string; readonly value: unknown }> {
  const chunks: Buffer[] = [];
  let bytes = 0;

  try {
    for await (const chunk of decompress(incoming) ?? []) {
      bytes += (chunk as Buffer).length;
      if (bytes > errorBytesMax) break;
      chunks.push(chunk as Buffer);
    }
  } catch {
    // The part before it broke off is shown.
  }

  const text = Buffer.concat(chunks).toString("utf8");
  try {
    return { text, value: JSON.parse(text) as unknown };
  } catch {
    return { text: dropHalfKey(text, key), value: null };
  }
}

/**
 * The text without the beginning of the key at its end, where it may have been cut: `removeKey`
 * finds only a whole one.
 */
function dropHalfKey(text: string, key: string): string {
  for (let chars = key.length - 1; chars >= keyCharsMin; chars -= 1) {
    if (text.endsWith(key.slice(0, chars))) return text.slice(0, -chars);
  }

  return text;
}

/**
 * `rate_limit_error: Too many requests`, as far as the error says; else its HTTP status. The key is
 * removed before the line is cut.
 */
export function describeError(value: unknown, key: string, status: number | null = null): string {
  // Gemini may answer with a list of one.
  const first = asRecord(Array.isArray(value) ? value[0] : value);
  const error = Object.keys(asRecord(first["error"])).length > 0 ? asRecord(first["error"]) : first;
  const kind = [error["type"], error["code"], error["status"]].find(
    (part) => typeof part === "string" && part !== "error",
  );

  const message = [error["message"], first["error"], first["message"]].find(
    (part) => typeof part === "string",
  );
  const parts = [kind, message].filter((part) => typeof part === "string");
  const text = parts.length === 0 ? `HTTP ${status ?? "?"}` : parts.join(": ");

  return removeKey(text, key)
    .replaceAll(/[\u0000-\u001f\u007f]+/g, " ") // control characters
    .slice(0, errorCharsMax);
}

export function removeKey(text: string, key: string, replacement = "[key]"): string {
  return key.length < keyCharsMin ? text : text.replaceAll(key, () => replacement);
}
