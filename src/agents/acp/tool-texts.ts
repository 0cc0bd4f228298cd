// tool-texts: what a tool was given and what it answered, as text a person can read. Agents use many shapes for both; unknown ones stay JSON.

import { listOf, type Loose, recordOf, textOf } from "./loose.ts";

/** Of more than this only the end is kept: that is where a command says what went wrong. */
const textCharsMax = 1024 * 1024;

const commandKeys = ["command", "cmd"];
const outputKeys = ["output", "stdout", "aggregated_output", "formatted_output", "text", "content", "message", "error"];

/** A command as it would be typed, otherwise the arguments as JSON; null if there are none. */
export function inputIn(raw: unknown): string | null {
  const command = commandIn(raw) ?? commandKeys.map((key) => commandIn(recordOf(raw)[key])).find((found) => found !== null);
  return command ?? jsonOf(raw);
}

function commandIn(value: unknown): string | null {
  if (typeof value === "string") return nonEmpty(value);
  if (!Array.isArray(value) || !value.every((word) => typeof word === "string")) return null;
  return nonEmpty(value.join(" "));
}

/** The text blocks of an update's content, otherwise its raw output; null if it says nothing. */
export function outputIn(update: Loose): string | null {
  const blocks = listOf(update["content"]).flatMap((part) => blockText(recordOf(part)) ?? []);
  return nonEmpty(blocks.join("\n")) ?? rawText(update["rawOutput"]);
}

function blockText(part: Loose): string | null {
  if (part["type"] === "diff") return `changes ${textOf(part["path"]) ?? "a file"}`;
  return textOf(recordOf(part["content"])["text"]) ?? textOf(part["text"]);
}

function rawText(raw: unknown): string | null {
  if (typeof raw === "string") return nonEmpty(raw);
  if (Array.isArray(raw)) return nonEmpty(raw.flatMap((part) => blockText(recordOf(part)) ?? []).join("\n")) ?? jsonOf(raw);
  const fields = recordOf(raw);
  for (const key of outputKeys) {
    const found = typeof fields[key] === "string" ? nonEmpty(fields[key]) : Array.isArray(fields[key]) ? rawText(fields[key]) : null;
    if (found !== null) return found;
  }
  return jsonOf(raw);
}

const nonEmpty = (text: string): string | null => (text.trim() === "" ? null : text.slice(-textCharsMax));

function jsonOf(value: unknown): string | null {
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0) return null;
  return nonEmpty(JSON.stringify(value));
}
