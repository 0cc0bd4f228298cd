import type { Answer } from "../contracts/answer.ts";
import { type GoInput, hasGoal } from "./go-input.ts";
import { draftIsCurrent, makeDraft, type Drafted } from "./draft.ts";
import { findHome, homeOf, namedRun, type Home } from "./home.ts";
import { outcomeOf } from "./outcome-of.ts";
import { withRun, type Hand } from "./open-run.ts";
import type { Place } from "./place.ts";
import { previewOf } from "./preview.ts";
import { narrate } from "./narrate.ts";
import { readRun } from "./read-run.ts";
import { answered, refuse, reply } from "./reply.ts";
import { mayTakeUp } from "./take-up.ts";
import type { Standing } from "./standing.ts";
import { invalidGoal } from "./nothing-to-do.ts";

export type GoFlags = GoInput & {
  readonly yes: boolean;
  readonly maxCycles?: number | undefined;
  readonly now?: boolean | undefined;
  readonly adoptConfig?: boolean | undefined;
};

/** Starts or takes up a run, and works until it rests: done, paused, or out of cycles. */
export function go(place: Place, input: GoFlags): Promise<Answer> {
  return answered(async () => {
    if (hasGoal(input)) return goNew(place, input);
    const home = findHome(place.cwd);
    const run = namedRun(home, input.run);
    if (home === null || run === null) return invalidGoal(place, input);
    const standing: Standing = { home, run, ...(await readRun(home, run)) };
    switch (standing.view.status) {
      case "draft":
        return goDraft(place, home, run, input, []);
      case "running":
      case "paused":
        return takeUp(place, standing, input);
      default:
        return invalidGoal(place, input);
    }
  });
}

async function goNew(place: Place, input: GoFlags): Promise<Answer> {
  const home = homeOf(place.cwd);
  const drafted = await makeDraft(place, home, input);
  return goDraft(place, home, drafted.run, input, drafted.warnings, drafted);
}

/** A draft runs only when its preview is acknowledged: beforehand, by --yes, by the user's policy, or here and now. */
async function goDraft(place: Place, home: Home, run: string, input: GoFlags, warnings: readonly string[], fresh?: Drafted): Promise<Answer> {
  const { view } = await readRun(home, run);
  if (fresh === undefined && !(await draftIsCurrent(place, home, view))) {
    refuse("ack_stale", { run_id: run, state: "draft", message: "Config, flow or scope changed since this draft was made.", remediation: ["say the goal again: autopilot start …"] });
  }
  const preview = await previewOf(place, home, view);
  const isAcknowledged = view.acknowledged || input.yes || preview.dryRun === "auto";
  if (!isAcknowledged) {
    const consent = place.isTerminal ? await asked(place, preview.page) : null;
    if (consent !== "y") {
      return reply("dry_run_required_before_execute", {
        run_id: run,
        state: "draft",
        page: preview.page,
        message: "The preview has not been acknowledged, so nothing was executed.",
        warnings: [...warnings, ...preview.warnings],
        remediation: [`autopilot ack ${view.drafted.ack.slice(0, 12)} && autopilot go`, "autopilot go --yes"],
        data: { inferred_defaults: fresh?.inferredDefaults ?? [], preview: preview.data, ack: view.drafted.ack },
      });
    }
  }
  return work(place, home, run, input, [...warnings, ...preview.warnings], async (hand) => {
    const { ack } = hand.view().drafted;
    const actor = `operator:${place.user}`;
    if (!hand.view().acknowledged) await hand.append({ event: "preview_acknowledged", ack, actor, reason_code: "ack_recorded" });
    await hand.append({ event: "run_started", ack, actor, reason_code: "run_started", from_state: "draft", to_state: "running" });
  });
}

async function asked(place: Place, page: readonly string[]): Promise<string | null> {
  for (const line of page) place.show(line);
  return place.ask("Start this run?", ["y", "n"]);
}

/** Takes up a run that rests: paused by somebody or something, out of cycles, or left behind by a crash. */
export async function takeUp(place: Place, standing: Standing, input: Pick<GoFlags, "now" | "adoptConfig" | "maxCycles">): Promise<Answer> {
  const { home, run } = standing;
  const warnings = await mayTakeUp(place, standing, input);
  return work(place, home, run, input, warnings, async (hand) => {
    if (hand.view().status !== "paused") return;
    await hand.append({
      event: "run_resumed",
      request: `resume:${hand.view().seq}`,
      actor: `operator:${place.user}`,
      reason_code: "operator_resumed",
      from_state: "paused",
      to_state: "running",
      ...(input.now === true ? { now: true } : {}),
    });
  });
}

async function work(place: Place, home: Home, run: string, input: Pick<GoFlags, "maxCycles">, warnings: readonly string[], begin: (hand: Hand) => Promise<void>): Promise<Answer> {
  return withRun(place, home, run, async (hand) => {
    await begin(hand);
    const overrides = input.maxCycles === undefined ? {} : { overrides: { max_cycles: input.maxCycles } };
    const why = await hand.drive({ watch: narrate(place), ...overrides });
    return outcomeOf(hand.view(), why, warnings);
  });
}
