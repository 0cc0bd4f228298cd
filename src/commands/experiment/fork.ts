// fork: starts a new run from a line of another run's journal: what was finished by then is taken
// over, the rest is done and paid anew.

import type { CommandResponse } from "../../contracts/command-response.ts";
import type { Draft, Entry } from "../../contracts/event.ts";
import {
  findForkPointBefore,
  findNewestForkPoint,
  findPaidOpens,
  foldUntil,
  whyNotForkable,
  extendToPaidTurn,
} from "../../core/fork.ts";
import type { RunView } from "../../core/state.ts";
import { omitUndefined } from "../../kit/omit-undefined.ts";
import { readSharedMark } from "../../fleet/shared-mark.ts";
import { findStoreAddress } from "../../fleet/address.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, refuse, respond, screenRows } from "../../project/respond.ts";
import { readEntries } from "../../project/runs/read-entries.ts";
import { loadRun, type LoadedRun } from "../../project/runs/loaded-run.ts";
import { runFolder } from "../../project/runs/project-paths.ts";
import { readRun } from "../../project/runs/read-run.ts";
import {
  formatChangeFlags,
  type ChangeFlags,
  buildChanges,
} from "../../runner/fork/build-changes.ts";
import { commitOpenTurn, makeFork } from "../../runner/fork/fork-run.ts";
import { requireOutsideRun } from "../../runner/require-may-grant.ts";
import { resumeRun } from "../../runner/resume-run.ts";
import { forkPage } from "../../views/experiment/fork-page.ts";
import { listForkChanges } from "../../views/facts/fork-origin.ts";
import { findMovedWarnings, requireBoundOwnRun } from "./replay.ts";

export type ForkInput = ChangeFlags & {
  readonly run?: string | undefined;
  readonly at?: number | undefined;
  readonly yes: boolean;
  readonly maxCycles?: number | undefined;
};

/** Shows what the new run would begin with, asks, and runs it. The other run stays as it is. */
export function fork(context: CommandContext, input: ForkInput): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const loaded = await loadRun(context, input.run);
    const { paths, run } = loaded;
    const binding = await requireBoundOwnRun(context, loaded);
    requireOutsideRun(context);
    refuseShared(context, loaded);

    const { entries, head } = await readEntries(paths, run);
    const point = await findForkPoint(loaded, entries, input);
    const { seq, state, committed } = point;
    const movedWarnings = await findMovedWarnings(loaded, stateAfterTurn(point));
    const changes = await buildChanges({
      context,
      paths,
      run: state,
      step: findStepUnderWay(state),
      flags: input,
      code: "fork_refused",
    });

    const changed = listForkChanges(changes);
    const page = forkPage({ run, at: seq, asked: input.at, state, changed });
    const consent = await readConsent(context, input, page);
    const runFields = { run_id: run, state: loaded.view.status };
    if (consent === "n") {
      return respond("ok", { ...runFields, message: `Not forked; ${run} stays as it is.` });
    }

    if (consent !== "y") {
      return respond("dry_run_required_before_execute", {
        ...runFields,
        page,
        rowsMax: screenRows,
        warnings: movedWarnings,
        message: `Not forked: it isn't confirmed. ${run} stays as it is.`,
        remediation: [`autopilot fork ${run} --at ${seq}${formatChangeFlags(input)} --yes`],
        data: { at: seq, changed },
      });
    }

    const nextEntry = entries.find((entry) => entry.seq === seq + 1); // each line carries the hash of the one before
    const forked = await makeFork(context, paths, {
      run,
      entries,
      at: seq,
      line: nextEntry?.prev ?? head,
      state,
      changes,
      committed,
      binding,
    });
    context.show(`${forked} goes on from ${run} after line ${seq}.`);

    const forkedRun = { paths, run: forked, ...(await readRun(paths, forked)) };
    const options = omitUndefined({ isExplicit: true, maxCycles: input.maxCycles });
    return resumeRun(context, forkedRun, options, movedWarnings);
  });
}

/**
 * A run in a shared store belongs to the holder of its lease: its lines are not copied out of it.
 * While a store is named, a fork would be made in it.
 */
function refuseShared(context: CommandContext, { paths, run }: LoadedRun): void {
  if (readSharedMark(runFolder(paths, run)) === null && findStoreAddress(context.env) === null) {
    return;
  }

  refuse("fork_refused", {
    run_id: run,
    message: "Runs in a shared store can't be forked.",
    remediation: ["autopilot replay works there", "start a run of its own: autopilot go …"],
  });
}

/**
 * After which line the run is forked, its state there, and the event that commits a paid turn that
 * was open there.
 */
type ForkPoint = {
  readonly seq: number;
  readonly state: RunView;
  readonly committed: Draft | null;
};

/**
 * The line to fork after; a paid turn that was open there is committed first, so that it is not
 * paid again.
 */
async function findForkPoint(
  { paths, run, view }: LoadedRun,
  entries: readonly Entry[],
  input: ForkInput,
): Promise<ForkPoint> {
  const { at: wantedSeq } = input;
  const lastSeq = entries.at(-1)?.seq ?? 0;

  const refuseFork = (message: string, seq: number): never => {
    const earlierPoint = findForkPointBefore(entries, seq);
    const remediation = [`autopilot log -v --run ${run} shows its lines`];
    if (earlierPoint !== null) {
      const changeFlags = formatChangeFlags(input);
      remediation.unshift(`autopilot fork ${run} --at ${earlierPoint}${changeFlags}`);
    }

    return refuse("fork_refused", { run_id: run, state: view.status, message, remediation });
  };

  if (wantedSeq !== undefined && wantedSeq > lastSeq) {
    return refuseFork(`${run} has ${lastSeq} lines, so there is no line ${wantedSeq}.`, lastSeq);
  }

  const seq = extendToPaidTurn(entries, wantedSeq ?? findNewestForkPoint(entries));
  const state = foldUntil(entries, seq);
  const obstacle = state === null ? "it had not started there" : whyNotForkable(state);
  if (state === null || obstacle !== null) {
    return refuseFork(`${run} can't be forked after line ${seq}: ${obstacle}.`, lastSeq);
  }

  if (findPaidOpens(state).length === 0) return { seq, state, committed: null };

  const committed =
    seq === lastSeq ? await commitOpenTurn(paths, run, state) : "the run went another way after it";
  if (typeof committed === "string") {
    return refuseFork(`A paid turn lay open after line ${seq}, and ${committed}.`, seq);
  }

  return { seq, state, committed };
}

/** The state once the paid turn that was open is committed. */
function stateAfterTurn({ state, committed }: ForkPoint): RunView {
  if (committed?.event !== "changes_applied") return state;
  const { commit, tree } = committed;
  return { ...state, tip: { commit, tree } };
}

/** The step whose prompt is changed if the flag names none: the only agent step under way. */
function findStepUnderWay(state: RunView): string | null {
  const agentSteps = Object.values(state.open).filter(({ kind }) => kind === "agent");
  return agentSteps.length === 1 ? (agentSteps[0]?.step ?? null) : null;
}

/** `y`, `n`, or null if nobody could be asked. */
async function readConsent(
  context: CommandContext,
  { yes }: ForkInput,
  page: readonly string[],
): Promise<string | null> {
  if (yes) return "y";
  if (!context.isTerminal) return null;

  for (const line of page) context.show(line);
  return context.ask("Begin this run?", ["y", "n"]);
}
