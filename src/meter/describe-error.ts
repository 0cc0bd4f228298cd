// describe-error: reads a provider's error, and says it in one short line without a key.

import type { IncomingMessage } from "node:http";
import { asRecord } from "./dialects.ts";
import { errorBytesMax, errorCharsMax } from "./limits.ts";
import { decompress } from "./decompress.ts";

/** A key shorter than this would match ordinary words. */
const keyCharsMin = 6;

export async function collectError(incoming: IncomingMessage): Promise<{ readonly text: string; readonly value: unknown }> {
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
    return { text, value: null };
  }
}

export function describeError(value: unknown, status: number | null = null): string {
  const first = asRecord(Array.isArray(value) ? value[0] : value);
  const error = Object.keys(asRecord(first["error"])).length > 0 ? asRecord(first["error"]) : first;
  const kind = [error["type"], error["code"], error["status"]].find((part) => typeof part === "string" && part !== "error");
  const message = [error["message"], first["error"], first["message"]].find((part) => typeof part === "string");
  const parts = [kind, message].filter((part) => typeof part === "string");
  const text = parts.length === 0 ? `HTTP ${status ?? "?"}` : parts.join(": ");
  return text.replaceAll(/[\u0000-\u001f\u007f]+/g, " ").slice(0, errorCharsMax);
}

export function removeKey(text: string, key: string, instead = "[key]"): string {
  return key.length < keyCharsMin ? text : text.replaceAll(key, instead);
}
