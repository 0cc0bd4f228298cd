// inside-run: finds out whether a process was started by an agent of a run. Such a process may
// read, draft and pause; it can't grant anything.
//
// The mark is a few environment variables (agents/process/process-mark.ts). MCP clients give their
// servers a reduced environment, so there the parent processes are inspected too. An agent that may
// do anything can strip both; docs/ISOLATION.md says at which levels.

import { readFileSync } from "node:fs";
import { hasMark } from "../agents/process/process-mark.ts";
import type { CommandContext } from "./command-context.ts";

const ancestorsMax = 64;

export const isInsideRun = ({ env }: Pick<CommandContext, "env">): boolean => hasMark(env);

/**
 * Whether this process or one of its parents was started by an agent of a run, as far as the system
 * shows their environments.
 */
export function isBelowRun(
  context: Pick<CommandContext, "env">,
  pid: number = process.ppid,
): boolean {
  if (isInsideRun(context)) return true;
  for (let ancestorPid = pid, seen = 0; ancestorPid > 1 && seen < ancestorsMax; seen += 1) {
    const ancestor = readProcess(ancestorPid);
    if (ancestor === null) return false;
    if (hasMark(ancestor.env)) return true;
    ancestorPid = ancestor.parent;
  }

  return false;
}

/**
 * Reads a process's environment and parent; null if the system does not show it: another user's,
 * gone meanwhile, or no /proc.
 */
function readProcess(
  pid: number,
): { readonly env: Readonly<Record<string, string>>; readonly parent: number } | null {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
    const env = Object.fromEntries(
      variables.map((variable) => [
        variable.slice(0, variable.indexOf("=")),
        variable.slice(variable.indexOf("=") + 1),
      ]),
    );

    // The program's name is in parentheses and may hold any character; the parent is the second
    // field after it.
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return { env, parent: Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) };
  } catch {
    return null;
  }
}
