// source-locations: finds file positions such as `src/a.ts:12` in a text, and checks whether they exist.

import type { Workspace } from "../../../ports/workspace.ts";

export type SourceLocation = { readonly path: string; readonly line: number | null };

const textBytesMax = 1_048_576;
const locationsMax = 20;
const charactersMax = 20_000;

/** Paths with a file extension in a text, with their line number if there is one. */
export function findLocations(text: string): readonly SourceLocation[] {
  const locations = new Map<string, SourceLocation>();
  for (const match of text
    .slice(0, charactersMax)
    .matchAll(/(?<![\w./:-])((?:[\w@.+-]+\/)*[\w@.+-]*\w\.[A-Za-z]\w{0,9})(?::(\d{1,7}))?/g)) {
    const [whole, path = "", line] = match;
    if (/^\d/.test(path.split(".").at(-1) ?? "") || locations.size >= locationsMax) continue;
    if (!locations.has(whole)) locations.set(whole, { path: path.replace(/^\.\//, ""), line: line === undefined ? null : Number(line) });
  }
  return [...locations.values()];
}

/** Why none of the locations in a text exists; null if one does. */
export async function findMissingReason(workspace: Pick<Workspace, "textAt">, commit: string, text: string): Promise<string | null> {
  const locations = findLocations(text);
  if (locations.length === 0) return `${JSON.stringify(text.slice(0, 80))} names no file:line`;
  const reasons: string[] = [];
  for (const { path, line } of locations) {
    const content = await workspace.textAt(commit, path, textBytesMax);
    if (content === null) {
      reasons.push(`there is no file ${path}`);
      continue;
    }
    const lines = content.endsWith("\n") ? content.split("\n").length - 1 : content.split("\n").length;
    if (line === null || (line >= 1 && line <= lines)) return null;
    reasons.push(`${path} has ${lines} lines, not ${line}`);
  }
  return reasons.join(", ");
}
