// tool-texts: turns a tool's input and output into readable text. Agents use many shapes for both;
// unknown ones stay JSON.

import { asArray, type JsonObject, asRecord, asString } from "./untrusted-json.ts";

/** Of a longer text only the end is kept: that is where a command reports what went wrong. */
const textCharsMax = 1024 * 1024;

const commandKeys = ["command", "cmd"];
const outputKeys = [
  "output",
  "stdout",
  "aggregated_output",
  "formatted_output",
  "text",
  "content",
  "message",
  "error",
];

/** A command as it would be typed, otherwise the arguments as JSON; null if there are none. */
export function describeInput(raw: unknown): string | null {
  const command =
    readCommandText(raw) ??
    commandKeys.map((key) => readCommandText(asRecord(raw)[key])).find((text) => text !== null);
  return command ?? toJson(raw);
}

function readCommandText(value: unknown): string | null {
  if (typeof value === "string") return toNonEmpty(value);
  if (!Array.isArray(value) || !value.every((word) => typeof word === "string")) return null;
  return toNonEmpty(value.join(" "));
}

/** The text blocks of an update's content, otherwise its raw output; null if it says nothing. */
export function describeOutput(update: JsonObject): string | null {
  const blocks = asArray(update["content"]).flatMap((part) => readBlockText(asRecord(part)) ?? []);
  return toNonEmpty(blocks.join("\n")) ?? readRawText(update["rawOutput"]);
}

function readBlockText(part: JsonObject): string | null {
  if (part["type"] === "diff") return `changes ${asString(part["path"]) ?? "a file"}`;
  return asString(asRecord(part["content"])["text"]) ?? asString(part["text"]);
}

function readRawText(raw: unknown): string | null {
  if (typeof raw === "string") return toNonEmpty(raw);
  if (Array.isArray(raw)) {
    return (
      toNonEmpty(raw.flatMap((part) => readBlockText(asRecord(part)) ?? []).join("\n")) ??
      toJson(raw)
    );
  }

  const fields = asRecord(raw);
  for (const key of outputKeys) {
    const field = fields[key];
    const text = typeof field === "string" || Array.isArray(field) ? readRawText(field) : null;
    if (text !== null) return text;
  }

  return toJson(raw);
}

const toNonEmpty = (text: string): string | null =>
  text.trim() === "" ? null : text.slice(-textCharsMax);

function toJson(value: unknown): string | null {
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0) return null;
  return toNonEmpty(JSON.stringify(value));
}
