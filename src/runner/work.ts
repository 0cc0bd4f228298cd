// work: opens a run and drives it until it rests, waiting for providers or asking the person at the terminal.

import type { Answer } from "../contracts/answer.ts";
import { hasFailed } from "../core/selectors.ts";
import type { RunView } from "../core/state.ts";
import type { Asks } from "../contracts/asks.ts";
import { invocationOptionsFrom } from "../playbooks/contract/asks.ts";
import { testsPatch } from "../project/runs/tests-patch.ts";
import type { ProjectPaths } from "../project/runs/project-paths.ts";
import { narrate } from "./narrate.ts";
import { isDue } from "../views/next-actions.ts";
import { type OpenRun, withRun } from "./open-run.ts";
import { runOutcome } from "./outcome-of.ts";
import type { CommandContext } from "../project/command-context.ts";

/**
 * Whether a resting run may continue in this invocation: its provider answers again, or the person at the terminal answers its question.
 */
async function goesOn(context: CommandContext, openRun: OpenRun, leavesParked: boolean): Promise<boolean> {
  const run = openRun.view();
  // Both are rarely needed, so they are loaded on demand.
  if (hasFailed(run)) return false; // an answer to something else is not a `resume`
  if (isParked(run)) {
    const { goesOnWithOther, waitForProvider } = await import("./park.ts");
    return (await goesOnWithOther(context, openRun)) || (!leavesParked && waitForProvider(context, openRun));
  }
  const isAsked = run.status === "paused" && Object.keys(run.blocks).length > 0 && context.isTerminal && !context.interrupted.aborted;
  return isAsked && (await import("./answer-here.ts")).answerHere(context, openRun);
}

const isParked = ({ status, parked }: RunView): boolean => status === "paused" && parked !== undefined;

/** Warnings to show before anything is paid for, less those a page has just shown. */
export type Warnings = { readonly all: readonly string[]; readonly seen?: readonly string[] };

/** Opens a run, starts it, and works until it rests. */
export async function work(
  context: CommandContext,
  paths: ProjectPaths,
  run: string,
  input: { readonly maxCycles?: number | undefined; readonly asks?: Asks | undefined; readonly leavesParked?: boolean | undefined },
  { all: warnings, seen = [] }: Warnings,
  begin: (openRun: OpenRun) => Promise<void>,
): Promise<Answer> {
  return withRun(context, paths, run, async (openRun) => {
    const asked = invocationOptionsFrom(openRun.view().drafted.flow, input.asks ?? {}, context.isTerminal);
    await begin(openRun);
    for (const warning of warnings) if (!seen.some((line) => line.includes(warning))) context.show(`! ${warning}`); // before a turn is paid for
    const overrides = { ...(input.maxCycles === undefined ? {} : { max_cycles: input.maxCycles }), ...asked };
    const drive = (): Promise<string> =>
      openRun.drive({ watch: narrate(context), ...(Object.keys(overrides).length === 0 ? {} : { overrides }) });
    let why = await drive();
    while (await goesOn(context, openRun, input.leavesParked === true)) why = await drive();
    const unreported = isDue(openRun.view()) ? await (await import("./pull-request/open-when-due.ts")).openWhenDue(context, openRun) : [];
    const run = openRun.view();
    const patches: Record<string, readonly string[]> = {};
    for (const block of Object.keys(run.blocks)) patches[block] = await testsPatch(paths, run, block);
    return runOutcome(run, why, [...warnings, ...unreported], patches);
  });
}
