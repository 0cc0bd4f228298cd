// emptied-files: new test files of the work with nothing in them, to find out whether a check misses
// a broken test for what those files do, or for there being more files than before (a loop that
// only returns the last status). Pure, except for reading the files.

import type { Experiment } from "../../../contracts/evidence.ts";
import { findProtectionRow } from "../../protected/kinds.ts";
import { type Edit, filesReadMax, type Lab } from "../lab.ts";

/** Each new test file without content; none if one is in a language that has no such thing. */
export async function emptyNewTests(lab: Lab): Promise<readonly Edit[]> {
  const edits: Edit[] = [];
  for (const path of lab.changedPaths.slice(0, filesReadMax)) {
    if (findProtectionRow(path)?.kind !== "test") continue;
    if ((await lab.textAt("base", path)) !== null) continue;
    const text = await lab.textAt("work", path);
    if (text === null) continue;
    const empty = createEmpty(path, text);
    if (empty === null) return [];
    edits.push({ path, text: empty });
  }

  return edits;
}

export function createEmpty(path: string, text: string): string | null {
  if (/\.(?:[cm]?[jt]sx?|py|rb)$/.test(path)) return "";
  if (/\.(?:sh|bash)$/.test(path)) return ":\n";
  if (path.endsWith(".go")) return /^package \w+$/m.exec(text)?.[0] ?? null;
  if (!path.endsWith(".java")) return null;
  const name = /\bclass\s+(\w+)/.exec(text)?.[1];
  const head = /^package [\w.]+;$/m.exec(text)?.[0] ?? "";

  return name === undefined
    ? null
    : `${head}\npublic class ${name} {\n  public static void main(String[] args) {}\n}\n`;
}

export const reportAnyway = (positions: string): Experiment => ({
  outcome: "partly",
  detail: `since there are more test files, whatever they hold, it passes as well with another expectation in ${positions}`,
});
