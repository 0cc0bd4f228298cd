// inside-run: whether a process was started by an agent of a run. Such a process may read, draft and pause; it grants nothing.
//
// The mark is a few environment variables (agents/process/mark.ts). MCP clients give their servers a reduced environment, so there the
// parent processes are inspected too. An agent that may do anything can strip both; docs/ISOLATION.md says at which levels.

import { readFileSync } from "node:fs";
import { hasMark } from "../agents/process/mark.ts";
import type { CommandContext } from "./command-context.ts";

const ancestorsMax = 64;

export const isInsideRun = ({ env }: Pick<CommandContext, "env">): boolean => hasMark(env);

/** The same, by the environment of every parent process, as far as the system shows it. */
export function isBelowRun(context: Pick<CommandContext, "env">, pid: number = process.ppid): boolean {
  if (isInsideRun(context)) return true;
  for (let index = pid, seen = 0; index > 1 && seen < ancestorsMax; seen += 1) {
    const above = processAt(index);
    if (above === null) return false;
    if (hasMark(above.env)) return true;
    index = above.parent;
  }
  return false;
}

/** Null if the system does not show it: another user's, gone meanwhile, or no /proc. */
function processAt(pid: number): { readonly env: Readonly<Record<string, string>>; readonly parent: number } | null {
  try {
    const words = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
    const env = Object.fromEntries(words.map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]));
    // The program's name is in parentheses and may hold any character; the parent is the second field after it.
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return { env, parent: Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) };
  } catch {
    return null;
  }
}
