// replay-step: runs one attempt of a run again, from the line that began it, in a folder that is
// thrown away.
//
// Invariants:
//   R1. The run, its branch and the user's checkout are only read: branch, objects and journal of
//       the replay are in its own folder.
//   R2. It begins where the recorded attempt began: the same commit, prompt and limits, unless
//       overridden.
//   R3. However it ends, its agents end with it, and its folder is deleted: at once, or with the
//       next sweep of temporary folders.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Draft, Entry } from "../../contracts/event.ts";
import { decide } from "../../core/decide.ts";
import type { RunView } from "../../core/state.ts";
import { Cancel } from "../../engine/cancel.ts";
import { performAttempt } from "../../engine/perform.ts";
import type { Runtime } from "../../engine/runtime.ts";
import { Cancelled, type StepExecution } from "../../engine/step-execution.ts";
import { journalFile } from "../../journal/journal.ts";
import { invariant } from "../../kit/invariant.ts";
import { toActor, type CommandContext } from "../../project/command-context.ts";
import { type ProjectPaths, runFolder } from "../../project/runs/project-paths.ts";
import { createTemporaryFolder } from "../../workspace/temporary-folder.ts";
import { getRedaction } from "../../project/secrets/context-redaction.ts";
import { erase } from "../../workspace/folder.ts";
import { openFoldedJournal } from "../open-journal.ts";
import { openRuntime } from "../open-runtime.ts";
import type { RunChanges } from "./build-changes.ts";
import { copyRecords } from "./fork-run.ts";

export type ReplayRequest = {
  readonly run: string;
  /** The line that began the attempt, and its hash. */
  readonly seq: number;
  readonly line: string;
  readonly attempt: string;
  readonly changes: RunChanges;
  /** The runs that it was forked from: a copied line refers to their commits. */
  readonly origins: readonly string[];
};

/**
 * Replays the attempt and returns its journal lines, then those of the checks that follow it. Empty
 * if it was cancelled.
 */
export async function replayStep(
  context: CommandContext,
  paths: ProjectPaths,
  request: ReplayRequest,
): Promise<readonly Entry[]> {
  const folder = await createTemporaryFolder("replay");
  try {
    copyPrefix(runFolder(paths, request.run), folder, request.seq); // R2
    return await playAttempt(context, paths, folder, request);
  } finally {
    await erase(folder); // R3
  }
}

/** Copies the first lines of a journal: a prefix of a journal is a journal. */
function copyPrefix(from: string, to: string, lines: number): void {
  const bytes = readFileSync(join(from, journalFile));
  let end = 0;

  for (let line = 0; line < lines; line += 1) {
    end = bytes.indexOf(10, end) + 1;
    invariant(end > 0, `a journal has its line ${lines}`);
  }

  writeFileSync(join(to, journalFile), bytes.subarray(0, end), { mode: 0o600 });
  copyRecords(from, to);
}

async function playAttempt(
  context: CommandContext,
  paths: ProjectPaths,
  folder: string,
  request: ReplayRequest,
): Promise<readonly Entry[]> {
  const { journal, fold } = await openFoldedJournal(
    context,
    folder,
    getRedaction(context, paths.root).redactor,
  );

  const view = (): RunView => {
    invariant(fold.state.status !== "unborn", "a journal begins with its draft");
    return fold.state;
  };

  const replayedEntries: Entry[] = [];
  const append = async (events: readonly Draft[]): Promise<readonly Entry[]> => {
    const entries = await journal.append(
      events.map((event) => ({ actor: "system", reason_code: "ok", ...event })),
    );
    for (const entry of entries) {
      fold.apply(entry);
      replayedEntries.push(entry);
    }

    return entries;
  };

  const { blobs, ...changed } = request.changes;
  try {
    for (const text of blobs) await journal.putBlob(text);
    const taken = { tokens: 0, calls: 0, minutes: 0, usd: 0 };
    const largest = structuredClone(view().ledger.largest);

    const fork = {
      event: "run_forked",
      run: request.run,
      at: request.seq,
      line: request.line,
      taken,
      largest,
      ...changed,
    } as const;

    await append([{ ...fork, actor: toActor(context) }]);
    replayedEntries.length = 0; // the line above prepares the replay and is no part of it

    const { runtime, close } = await openRuntime({
      context,
      paths,
      folder,
      view,
      recorder: {
        append,
        putBlob: (bytes) => journal.putBlob(bytes),
        readBlob: (hash) => journal.readBlob(hash),
      },
      readBlob: (hash) => journal.readBlob(hash),
      watch: () => undefined,
      cancel: null,
      isOwner: () => true,
      isApart: true, // R1
      forkedLater: request.origins,
      beginChild: rejectChild,
      withChild: rejectChild,
    });

    try {
      await performWithChecks(context, request.attempt, { runtime, view, append });
      return replayedEntries;
    } catch (error) {
      if (error instanceof Cancelled) return [];
      throw error;
    } finally {
      await close();
    }
  } finally {
    await journal.close();
  }
}

type ReplayStage = {
  readonly runtime: Runtime;
  readonly view: () => RunView;
  readonly append: (events: readonly Draft[]) => Promise<readonly Entry[]>;
};

/**
 * Performs the attempt, then the checks that follow it at once: they are part of its result. Throws
 * `Cancelled` on an interrupt.
 */
async function performWithChecks(
  context: CommandContext,
  attempt: string,
  { runtime, view, append }: ReplayStage,
): Promise<void> {
  const cancel = new Cancel();
  const abort = (): void => cancel.abort("operator");
  if (context.interrupted.aborted) abort();
  else context.interrupted.addEventListener("abort", abort, { once: true });

  const record = async (...events: readonly Draft[]): Promise<void> => {
    if (cancel.isCancelled) throw new Cancelled();
    await append(events);
  };

  const execution: Omit<StepExecution, "attempt"> = {
    cancel,
    runtime,
    run: view,
    record,
    recordDone: record,
    recordAndQuarantine: record,
    waitForPlace: () => null,
    usageWhenCancelled: null,
  };

  try {
    await performAttempt({ ...execution, attempt });
    for (;;) {
      const next = decide(view());
      if (next.do === "record" && next.event.event === "step_skipped") {
        await append([next.event]);
      } else if (next.do === "attempt" && next.event.kind === "check") {
        await append([next.event]);
        await performAttempt({ ...execution, attempt: next.event.attempt });
      } else {
        return;
      }
    }
  } finally {
    context.interrupted.removeEventListener("abort", abort);
  }
}

const rejectChild = (): Promise<never> =>
  Promise.reject(new Error("a step that calls another flow is not replayed"));
