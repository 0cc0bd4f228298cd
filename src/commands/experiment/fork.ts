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
import { listForkChanges } from "../../views/facts/origin.ts";
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
    const { seq, state, committed } = await findForkPoint(loaded, entries, input);
    const movedWarnings = await findMovedWarnings(
      loaded,
      committed === null ? state : { ...state, tip: tipAfter(committed, state) },
    );

    const changes = await buildChanges({
      context,
      paths,
      run: state,
      step: findStepUnderWay(state),
      flags: input,
      code: "fork_refused",
    });

    const page = forkPage({
      run,
      at: seq,
      asked: input.at,
      state,
      changed: listForkChanges(changes),
    });

    const preview = {
      run_id: run,
      state: loaded.view.status,
      page,
      rowsMax: screenRows,
      warnings: movedWarnings,
    };

    const reply = !input.yes && context.isTerminal ? await askToFork(context, page) : null;
    const consent = input.yes ? "y" : reply;
    if (consent === "n") {
      return respond("ok", {
        run_id: run,
        state: loaded.view.status,
        message: `Not forked; ${run} stays as it is.`,
      });
    }

    if (consent !== "y") {
      return respond("dry_run_required_before_execute", {
        ...preview,
        message: `Not forked: it isn't confirmed. ${run} stays as it is.`,
        remediation: [`autopilot fork ${run} --at ${seq}${formatChangeFlags(input)} --yes`],
        data: { at: seq, changed: listForkChanges(changes) },
      });
    }

    const lineHash = entries.find((entry) => entry.seq === seq + 1)?.prev ?? head; // each line carries the hash of the one before
    const forked = await makeFork(context, paths, {
      run,
      entries,
      at: seq,
      line: lineHash,
      state,
      changes,
      committed,
      binding,
    });

    context.show(`${forked} goes on from ${run} after line ${seq}.`);
    return resumeRun(
      context,
      { paths, run: forked, ...(await readRun(paths, forked)) },
      {
        isExplicit: true,
        ...(input.maxCycles === undefined ? {} : { maxCycles: input.maxCycles }),
      },
      movedWarnings,
    );
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
    return refuse("fork_refused", {
      run_id: run,
      state: view.status,
      message,
      remediation: [
        ...(earlierPoint === null
          ? []
          : [`autopilot fork ${run} --at ${earlierPoint}${formatChangeFlags(input)}`]),
        `autopilot log -v --run ${run} shows its lines`,
      ],
    });
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
  return typeof committed === "string"
    ? refuseFork(`A paid turn lay open after line ${seq}, and ${committed}.`, seq)
    : { seq, state, committed };
}

const tipAfter = (committed: Draft, { tip }: RunView): RunView["tip"] =>
  committed.event === "changes_applied" ? { commit: committed.commit, tree: committed.tree } : tip;

/** The step whose prompt is changed if the flag names none: the only agent step under way. */
function findStepUnderWay(state: RunView): string | null {
  const agentSteps = Object.values(state.open).filter(({ kind }) => kind === "agent");
  return agentSteps.length === 1 ? (agentSteps[0]?.step ?? null) : null;
}

async function askToFork(context: CommandContext, page: readonly string[]): Promise<string | null> {
  for (const line of page) context.show(line);
  return context.ask("Begin this run?", ["y", "n"]);
}
