// front-matter: a snapshot: YAML between two lines of dashes, then Markdown. The YAML is JSON a field, which every YAML reader takes.
//
// Invariants:
//   F1. The last field is the SHA-256 of everything else, so that a reader can tell whether it was edited.
//   F2. Nothing in a page moves a terminal's cursor or turns the reading direction: such characters are written as escapes.

import { visible } from "../../kit/visible.ts";

/** `digest` hashes a text: this folder has no crypto of its own. */
export function snapshotOf(fields: Readonly<Record<string, unknown>>, body: readonly string[], digest: (text: string) => string): string {
  const head = Object.entries(fields).map(([key, value]) => `${key}: ${valueOf(value)}`);
  const rest = `${body.join("\n").split("\n").map(visible).join("\n").trimEnd()}\n`; // F2
  return `---\n${head.join("\n")}\n${digestKey}: ${digest(`${head.join("\n")}\n${rest}`)}\n---\n\n${rest}`; // F1
}

export const digestKey = "content_sha256";
const shape = /^---\n([\s\S]*?)\ncontent_sha256: ([0-9a-f]{64})\n---\n\n([\s\S]*)$/;

/** Whether a file is as `snapshotOf` made it. */
export function isUntouched(text: string, digest: (text: string) => string): boolean {
  const match = shape.exec(text);
  return match !== null && digest(`${match[1] ?? ""}\n${match[3] ?? ""}`) === match[2];
}

/** JSON is YAML, two characters aside that JSON leaves alone and YAML takes for line ends. */
const valueOf = (value: unknown): string =>
  JSON.stringify(value ?? null)
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029")
    .replaceAll("\u0085", "\\u0085")
    .replaceAll("\u007f", "\\u007f");
