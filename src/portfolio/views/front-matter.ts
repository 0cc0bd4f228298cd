// front-matter: renders a snapshot: YAML between two lines of dashes, then Markdown. Each field's
// value is JSON, which is valid YAML.
//
// Invariants:
//   F1. The last field is the SHA-256 of everything else, so that a reader can tell whether it was
//       edited.
//   F2. No character of a page moves a terminal's cursor or changes the reading direction: such
//       characters are written as escapes.

import { visible } from "../../kit/visible.ts";

/** `digest` hashes a text: this folder has no crypto of its own. */
export function renderSnapshot(
  fields: Readonly<Record<string, unknown>>,
  body: readonly string[],
  digest: (text: string) => string,
): string {
  const head = Object.entries(fields).map(([key, value]) => `${key}: ${toYamlValue(value)}`);
  const bodyText = `${body.join("\n").split("\n").map(visible).join("\n").trimEnd()}\n`; // F2
  return `---\n${head.join("\n")}\n${digestKey}: ${digest(`${head.join("\n")}\n${bodyText}`)}\n---\n\n${bodyText}`; // F1
}

export const digestKey = "content_sha256";
const snapshotPattern = /^---\n([\s\S]*?)\ncontent_sha256: ([0-9a-f]{64})\n---\n\n([\s\S]*)$/;

/** Whether a file is as `renderSnapshot` made it. */
export function isUntouched(text: string, digest: (text: string) => string): boolean {
  const match = snapshotPattern.exec(text);
  return match !== null && digest(`${match[1] ?? ""}\n${match[3] ?? ""}`) === match[2];
}

/**
 * JSON is valid YAML but for a few characters that YAML takes for line ends or forbids. They are
 * written as JSON's escapes, and so is whatever `visible` would show as an escape (F2): the value
 * stays the same.
 */
function toYamlValue(value: unknown): string {
  const json = JSON.stringify(value ?? null);
  if (visible(json) === json) return json;
  return Array.from(json, (letter) =>
    visible(letter) === letter ? letter : escapeJson(letter),
  ).join("");
}

/** A surrogate pair becomes two escapes. */
const escapeJson = (letter: string): string =>
  Array.from(
    { length: letter.length },
    (_, index) => `\\u${letter.charCodeAt(index).toString(16).padStart(4, "0")}`,
  ).join("");
