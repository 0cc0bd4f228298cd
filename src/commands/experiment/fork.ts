// fork: starts a new run from a journal line of another: finished work is taken over, new work is paid.

import type { CommandResponse } from "../../contracts/command-response.ts";
import type { Draft, Entry } from "../../contracts/event.ts";
import { findForkPointBefore, findNewestForkPoint, findPaidOpens, foldUntil, whyNotForkable, extendToPaidTurn } from "../../core/fork.ts";
import type { RunView } from "../../core/state.ts";
import { sharedMark } from "../../fleet/shared-mark.ts";
import { storeAddress } from "../../fleet/address.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, refuse, respond, screenRows } from "../../project/respond.ts";
import { readEntries } from "../../project/runs/read-entries.ts";
import { loadRun, type LoadedRun } from "../../project/runs/loaded-run.ts";
import { runFolder } from "../../project/runs/project-paths.ts";
import { readRun } from "../../project/runs/read-run.ts";
import { formatChangeFlags, type ChangeFlags, buildChanges } from "../../runner/fork/changes.ts";
import { commitOpenTurn, makeFork } from "../../runner/fork/fork-run.ts";
import { requireOutsideRun } from "../../runner/require-may-grant.ts";
import { resumeRun } from "../../runner/resume-run.ts";
import { forkPage } from "../../views/experiment/fork-page.ts";
import { listForkChanges } from "../../views/facts/origin.ts";
import { findMovedWarnings, requireMine } from "./replay.ts";

export type ForkInput = ChangeFlags & {
  readonly run?: string | undefined;
  readonly at?: number | undefined;
  readonly yes: boolean;
  readonly maxCycles?: number | undefined;
};

export function fork(context: CommandContext, input: ForkInput): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const loaded = await loadRun(context, input.run);
    const { paths, run } = loaded;
    const bound = await requireMine(context, loaded);
    requireOutsideRun(context);
    refuseShared(context, loaded);
    const { entries, head } = await readEntries(paths, run);
    const { at, state, committed } = await findForkPoint(loaded, entries, input);
    const movedWarnings = await findMovedWarnings(loaded, committed === null ? state : { ...state, tip: tipAfter(committed, state) });
    const changes = await buildChanges({ context, paths, run: state, step: stepUnderWay(state), given: input, code: "fork_refused" });
    const page = forkPage({ run, at, asked: input.at, state, changed: listForkChanges(changes) });
    const preview = { run_id: run, state: loaded.view.status, page, rowsMax: screenRows, warnings: movedWarnings };
    const asked = !input.yes && context.isTerminal ? await askToFork(context, page) : null;
    const consent = input.yes ? "y" : asked;
    if (consent === "n") return respond("ok", { run_id: run, state: loaded.view.status, message: `Not forked; ${run} stays as it is.` });
    if (consent !== "y")
      return respond("dry_run_required_before_execute", {
        ...preview,
        message: `Not forked: it isn't confirmed. ${run} stays as it is.`,
        remediation: [`autopilot fork ${run} --at ${at}${formatChangeFlags(input)} --yes`],
        data: { at, changed: listForkChanges(changes) },
      });
    const line = entries.find((entry) => entry.seq === at + 1)?.prev ?? head;
    const forked = await makeFork(context, paths, { run, entries, at, line, state, changes, committed, bound });
    context.show(`${forked} goes on from ${run} after line ${at}.`);
    return resumeRun(
      context,
      { paths, run: forked, ...(await readRun(paths, forked)) },
      { isExplicit: true, ...(input.maxCycles === undefined ? {} : { maxCycles: input.maxCycles }) },
      movedWarnings,
    );
  });
}

/** A run in a shared store belongs to the holder of its lease: its lines are not copied out of it. */
function refuseShared(context: CommandContext, { paths, run }: LoadedRun): void {
  if (sharedMark(runFolder(paths, run)) === null && storeAddress(context.env) === null) return;
  refuse("fork_refused", {
    run_id: run,
    message: "Runs in a shared store can't be forked.",
    remediation: ["autopilot replay works there", "start a run of its own: autopilot go …"],
  });
}

type ForkPoint = { readonly at: number; readonly state: RunView; readonly committed: Draft | null };

/** The line to fork after; a paid turn that was open there is committed first, so that it is not paid again. */
async function findForkPoint({ paths, run, view }: LoadedRun, entries: readonly Entry[], input: ForkInput): Promise<ForkPoint> {
  const { at: asked } = input;
  const last = entries.at(-1)?.seq ?? 0;
  const refuseFork = (message: string, at: number): never => {
    const before = findForkPointBefore(entries, at);
    return refuse("fork_refused", {
      run_id: run,
      state: view.status,
      message,
      remediation: [
        ...(before === null ? [] : [`autopilot fork ${run} --at ${before}${formatChangeFlags(input)}`]),
        `autopilot log -v --run ${run} shows its lines`,
      ],
    });
  };
  if (asked !== undefined && asked > last) return refuseFork(`${run} has ${last} lines, so there is no line ${asked}.`, last);
  const at = extendToPaidTurn(entries, asked ?? findNewestForkPoint(entries));
  const state = foldUntil(entries, at);
  const why = state === null ? "it had not started there" : whyNotForkable(state);
  if (state === null || why !== null) return refuseFork(`${run} can't be forked after line ${at}: ${why}.`, last);
  if (findPaidOpens(state).length === 0) return { at, state, committed: null };
  const committed = at === last ? await commitOpenTurn(paths, run, state) : "the run went another way after it";
  return typeof committed === "string"
    ? refuseFork(`A paid turn lay open after line ${at}, and ${committed}.`, at)
    : { at, state, committed };
}

const tipAfter = (committed: Draft, { tip }: RunView): RunView["tip"] =>
  committed.event === "changes_applied" ? { commit: committed.commit, tree: committed.tree } : tip;

/** The step whose prompt is meant if none is named: the agent step under way. */
function stepUnderWay(state: RunView): string | null {
  const open = Object.values(state.open).filter(({ kind }) => kind === "agent");
  return open.length === 1 ? (open[0]?.step ?? null) : null;
}

async function askToFork(context: CommandContext, page: readonly string[]): Promise<string | null> {
  for (const line of page) context.show(line);
  return context.ask("Begin this run?", ["y", "n"]);
}
