// drive-run: works on the run of a portfolio's task in this process, until the run rests.

import { type Drive, pathsOfCopy } from "../../portfolio/worker/task-runs.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { readRunOrNull } from "../../project/runs/read-run.ts";
import { go } from "../go.ts";
import { resume } from "../resume.ts";

/**
 * Starts or resumes the run. Whatever kills the pool kills it too; its journal has what was done.
 * Returns the failure if nothing was.
 */
export const driveRun: Drive = async (context, copy, run) => {
  const copyContext: CommandContext = {
    ...context,
    cwd: copy,
    isTerminal: false,
    callerNotifies: true,
    ask: () => Promise.resolve(null),
  };

  const flags = { words: [], yes: true, run, leavesParked: true, isCopy: true } as const;
  const before = await readRunOrNull(pathsOfCopy(copy), run);
  const status = before?.view.status ?? "draft";
  if (status === "completed" || status === "stopped") return null;
  const response =
    status === "draft"
      ? await go(copyContext, flags)
      : await resume(copyContext, { ...flags, now: true });

  const after = await readRunOrNull(pathsOfCopy(copy), run);
  const hasNothingNew = after?.view.seq === before?.view.seq;
  return response.result === "FAIL" && hasNothingNew
    ? { code: response.reason_code, message: response.message }
    : null;
};
