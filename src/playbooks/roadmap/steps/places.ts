// places: where in the project a sentence points: `src/a.ts:12`, and whether that is there.

import type { Workspace } from "../../../ports/workspace.ts";

export type NamedPlace = { readonly path: string; readonly line: number | null };

const textBytesMax = 1_048_576;
const placesMax = 20;
const charactersMax = 20_000;

/** Paths with an ending that a text names, with their line where one is reported. */
export function findPlaces(text: string): readonly NamedPlace[] {
  const found = new Map<string, NamedPlace>();
  for (const match of text
    .slice(0, charactersMax)
    .matchAll(/(?<![\w./:-])((?:[\w@.+-]+\/)*[\w@.+-]*\w\.[A-Za-z]\w{0,9})(?::(\d{1,7}))?/g)) {
    const [whole, path = "", line] = match;
    if (/^\d/.test(path.split(".").at(-1) ?? "") || found.size >= placesMax) continue;
    if (!found.has(whole)) found.set(whole, { path: path.replace(/^\.\//, ""), line: line === undefined ? null : Number(line) });
  }
  return [...found.values()];
}

/** Why none of the places a text names is there; null if one is. */
export async function whyNotThere(workspace: Pick<Workspace, "textAt">, commit: string, text: string): Promise<string | null> {
  const places = findPlaces(text);
  if (places.length === 0) return `${JSON.stringify(text.slice(0, 80))} names no file:line`;
  const whys: string[] = [];
  for (const { path, line } of places) {
    const content = await workspace.textAt(commit, path, textBytesMax);
    if (content === null) {
      whys.push(`there is no file ${path}`);
      continue;
    }
    const lines = content.endsWith("\n") ? content.split("\n").length - 1 : content.split("\n").length;
    if (line === null || (line >= 1 && line <= lines)) return null;
    whys.push(`${path} has ${lines} lines, not ${line}`);
  }
  return whys.join(", ");
}
