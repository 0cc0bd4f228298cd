// open-cycle: opens a cycle with its log and trees, under the one lock of a repository's cycles,
// and writes its audit page at the end.
//
// Invariants:
//   O1. One cycle at a time in a repository: two would measure each other's levers.
//   O2. A new cycle begins with an empty folder: baselines, results or links that a repository
//       brought along under its name count for nothing.

import { join } from "node:path";
import { nodeDisk } from "../../journal/disk.ts";
import { JournalFailure } from "../../journal/journal-failure.ts";
import { type Lock, takeLock } from "../../journal/lock.ts";
import { writeWholeFile } from "../../playbooks/contract/whole-file.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { requireRepository } from "../../project/runs/require-repository.ts";
import { ensureOwnFolder, type ProjectPaths } from "../../project/runs/project-paths.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import { getRedaction } from "../../project/secrets/context-redaction.ts";
import { refuse } from "../../project/respond.ts";
import { addIgnoreLines } from "../../workspace/owned-paths.ts";
import { renderAudit } from "../cycle/audit.ts";
import { auditFile, cyclesFolder } from "../cycle/plan.ts";
import { type CycleLog, openLog, requireNewCycle } from "./log-file.ts";
import { openTrees, type Trees } from "./trees.ts";
import { eraseSync } from "../../workspace/folder.ts";

export type OpenCycle = {
  readonly log: CycleLog;
  readonly trees: Trees;
  /**
   * The cycle's disposable folder: baselines, copies and results of benchmarks, its git directory.
   */
  readonly folder: string;
  readonly redact: (text: string) => string;
};

/** An open cycle, the command that drives it, and how many benchmarks run at once. */
export type DrivenCycle = OpenCycle & {
  readonly context: CommandContext;
  readonly jobs: number;
};

/** Below `.autopilot`; each cycle has its disposable folder here. */
export const calibrationsFolder = "calibrations";

/**
 * Opens a cycle for `work` alone, and closes it whatever happens. `prepare` runs under the lock,
 * before the log is opened.
 */
export async function withCycle<Value>(
  context: CommandContext,
  paths: ProjectPaths,
  request: {
    readonly name: string;
    readonly isNew: boolean;
    readonly prepare?: (trees: Trees) => Promise<void>;
  },
  work: (open: OpenCycle) => Promise<Value>,
): Promise<Value> {
  const repository = await requireRepository(paths.root);
  const allCycles = ensureOwnFolder(paths, calibrationsFolder);
  const lock = await lockCycles(allCycles);

  try {
    await addIgnoreLines(repository.commonDir);
    if (request.isNew) {
      requireNewCycle(paths.root, request.name); // an existing cycle keeps its folder
      eraseSync(join(allCycles, request.name)); // O2
    }

    const folder = ensureOwnFolder(paths, calibrationsFolder, request.name);
    const trees = await openTrees(repository, request.name, join(folder, "git"));
    await request.prepare?.(trees);
    const { redactor } = getRedaction(context, paths.root);
    const redact = (text: string): string => redactor.text(text);

    const log = openLog(paths.root, request.name, {
      isNew: request.isNew,
      now: () => systemClock.now(),
      redact,
    });

    try {
      return await work({ log, trees, folder, redact });
    } finally {
      log.close();
      if (log.cycle.name !== "") {
        await writeWholeFile(
          paths.root,
          `${cyclesFolder}/${request.name}/${auditFile}`,
          renderAudit(log.cycle),
        );
      }
    }
  } finally {
    lock.release();
  }
}

/** Refuses if another process works on a cycle here. O1 */
async function lockCycles(folder: string): Promise<Lock> {
  try {
    return await takeLock(nodeDisk, folder);
  } catch (error) {
    if (!(error instanceof JournalFailure) || error.trouble.kind !== "run_locked") throw error;
    const { pid } = error.trouble;
    const processText = pid === null ? "" : ` (process ${pid})`;

    return refuse("calibration_busy", {
      message: `A calibration cycle is at work here${processText}; two would measure each other's levers.`,
      remediation: ["autopilot calibrate status"],
    });
  }
}
