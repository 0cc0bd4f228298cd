// tool-texts: a tool's input and output as readable text. Agents use many shapes for both; unknown ones stay JSON.

import { asArray, type JsonObject, asRecord, asString } from "./untrusted-json.ts";

/** Of more than this only the end is kept: that is where a command reports what went wrong. */
const textCharsMax = 1024 * 1024;

const commandKeys = ["command", "cmd"];
const outputKeys = ["output", "stdout", "aggregated_output", "formatted_output", "text", "content", "message", "error"];

/** A command as it would be typed, otherwise the arguments as JSON; null if there are none. */
export function describeInput(raw: unknown): string | null {
  const command = commandText(raw) ?? commandKeys.map((key) => commandText(asRecord(raw)[key])).find((text) => text !== null);
  return command ?? toJson(raw);
}

function commandText(value: unknown): string | null {
  if (typeof value === "string") return nonEmpty(value);
  if (!Array.isArray(value) || !value.every((word) => typeof word === "string")) return null;
  return nonEmpty(value.join(" "));
}

/** The text blocks of an update's content, otherwise its raw output; null if it says nothing. */
export function describeOutput(update: JsonObject): string | null {
  const blocks = asArray(update["content"]).flatMap((part) => blockText(asRecord(part)) ?? []);
  return nonEmpty(blocks.join("\n")) ?? rawText(update["rawOutput"]);
}

function blockText(part: JsonObject): string | null {
  if (part["type"] === "diff") return `changes ${asString(part["path"]) ?? "a file"}`;
  return asString(asRecord(part["content"])["text"]) ?? asString(part["text"]);
}

function rawText(raw: unknown): string | null {
  if (typeof raw === "string") return nonEmpty(raw);
  if (Array.isArray(raw)) return nonEmpty(raw.flatMap((part) => blockText(asRecord(part)) ?? []).join("\n")) ?? toJson(raw);
  const fields = asRecord(raw);
  for (const key of outputKeys) {
    const found = typeof fields[key] === "string" ? nonEmpty(fields[key]) : Array.isArray(fields[key]) ? rawText(fields[key]) : null;
    if (found !== null) return found;
  }
  return toJson(raw);
}

const nonEmpty = (text: string): string | null => (text.trim() === "" ? null : text.slice(-textCharsMax));

function toJson(value: unknown): string | null {
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0) return null;
  return nonEmpty(JSON.stringify(value));
}
