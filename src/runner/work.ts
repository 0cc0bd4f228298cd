// work: opens a run and drives it until it rests, waiting for providers or asking the person at the terminal.

import type { Answer } from "../contracts/answer.ts";
import { hasFailed } from "../core/selectors.ts";
import type { RunView } from "../core/state.ts";
import type { Asks } from "../contracts/asks.ts";
import { asksOf } from "../playbooks/contract/asks.ts";
import type { ProjectPaths } from "../project/runs/project-paths.ts";
import { narrate } from "./narrate.ts";
import { isDue } from "../views/next-actions.ts";
import { type OpenRun, withRun } from "./open-run.ts";
import { outcomeOf } from "./outcome-of.ts";
import type { CommandContext } from "../project/command-context.ts";

/** Whether a run that rests may go on in this invocation: its provider answers again, or the person at the terminal answers what it asks. */
async function goesOn(place: CommandContext, hand: OpenRun, leavesParked: boolean): Promise<boolean> {
  const run = hand.view();
  // Both are rarely needed, so they are loaded when they are.
  if (hasFailed(run)) return false; // an answer to something else is no `resume`
  if (isParked(run)) {
    const { goesOnWithOther, waitForProvider } = await import("./park.ts");
    return (await goesOnWithOther(place, hand)) || (!leavesParked && waitForProvider(place, hand));
  }
  const isAsked = run.status === "paused" && Object.keys(run.blocks).length > 0 && place.isTerminal && !place.interrupted.aborted;
  return isAsked && (await import("./answer-here.ts")).answerHere(place, hand);
}

const isParked = ({ status, parked }: RunView): boolean => status === "paused" && parked !== undefined;

/** Takes a run in hand, lets it begin, and works until it rests. */
export async function work(
  place: CommandContext,
  home: ProjectPaths,
  run: string,
  input: { readonly maxCycles?: number | undefined; readonly asks?: Asks | undefined; readonly leavesParked?: boolean | undefined },
  warnings: readonly string[],
  begin: (hand: OpenRun) => Promise<void>,
): Promise<Answer> {
  return withRun(place, home, run, async (hand) => {
    const asked = asksOf(hand.view().drafted.flow, input.asks ?? {}, place.isTerminal);
    await begin(hand);
    const overrides = { ...(input.maxCycles === undefined ? {} : { max_cycles: input.maxCycles }), ...asked };
    const drive = (): Promise<string> =>
      hand.drive({ watch: narrate(place), ...(Object.keys(overrides).length === 0 ? {} : { overrides }) });
    let why = await drive();
    while (await goesOn(place, hand, input.leavesParked === true)) why = await drive();
    const unreported = isDue(hand.view()) ? await (await import("./pull-request/open-when-due.ts")).openWhenDue(place, hand) : [];
    return outcomeOf(hand.view(), why, [...warnings, ...unreported]);
  });
}
