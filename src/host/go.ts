import type { Answer } from "../contracts/answer.ts";
import { describedBy, type GoInput, hasGoal } from "./go-input.ts";
import { makeDraft } from "./draft.ts";
import { whyStale } from "./draft-in-force.ts";
import { findHome, homeOf, listRuns, namedRun, type Home } from "./home.ts";
import { outcomeOf } from "./outcome-of.ts";
import { withRun, type Hand } from "./open-run.ts";
import type { Place } from "./place.ts";
import { previewOf } from "./preview.ts";
import { narrate } from "./narrate.ts";
import { policyChange } from "./policy.ts";
import { readRun } from "./read-run.ts";
import { answered, refuse, reply } from "./reply.ts";
import { mayTakeUp } from "./take-up.ts";
import { mustBe, type Standing } from "./standing.ts";
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
    const standing = home === null ? null : await standingHere(home, input.run);
    if (home === null || standing === null) return invalidGoal(place, input);
    const { run, view } = standing;
    const described = describedBy(input);
    switch (view.status) {
      case "draft":
        if (described.length > 0) refuseWithoutGoal(run, described);
        return goDraft(place, home, run, input, await whyStale(place, home, view));
      case "running":
      case "paused":
        return takeUp(place, standing, input, described.length === 0 ? [] : [`${run} goes on as it was begun; not taken: ${described.join(", ")}.`]);
      default:
        if (input.run !== undefined) mustBe(standing, "go", "draft", "running", "paused");
        return invalidGoal(place, input);
    }
  });
}

/** The run that is named, else the current one while it is open, else the newest that is. */
async function standingHere(home: Home, named: string | undefined): Promise<Standing | null> {
  const run = namedRun(home, named);
  if (run === null) return null;
  const standing = { home, run, ...(await readRun(home, run)) };
  if (named !== undefined || !isClosed(standing)) return standing;
  for (const other of listRuns(home).toReversed()) {
    const found = { home, run: other, ...(await readRun(home, other)) };
    if (found.view.status === "running" || found.view.status === "paused") return found;
  }
  return standing;
}

const isClosed = ({ view }: Standing): boolean => view.status === "completed" || view.status === "stopped";

function refuseWithoutGoal(run: string, described: readonly string[]): never {
  return refuse("objective_schema_invalid", {
    run_id: run,
    state: "draft",
    message: `${described.join(", ")} would change the objective of ${run}: say the goal with it.`,
    remediation: [`autopilot start "…" ${described[0]} … drafts it anew`, "autopilot go starts the draft as it is"],
    data: { missing_fields: ["goal"] },
  });
}

async function goNew(place: Place, input: GoFlags): Promise<Answer> {
  const home = homeOf(place.cwd);
  const { run, warnings } = await makeDraft(place, home, input);
  return goDraft(place, home, run, input, null, warnings);
}

/** A draft runs only when its preview is acknowledged: beforehand, by --yes, by the user's policy, or here and now. */
async function goDraft(place: Place, home: Home, run: string, input: GoFlags, stale: string | null, warnings: readonly string[] = []): Promise<Answer> {
  const { view } = await readRun(home, run);
  if (stale !== null) refuse("ack_stale", { run_id: run, state: "draft", message: stale, remediation: ["say the goal again: autopilot start …"] });
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
        data: { inferred_defaults: preview.data.inferred_defaults, preview: preview.data, ack: view.drafted.ack },
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
export async function takeUp(place: Place, standing: Standing, input: Pick<GoFlags, "now" | "adoptConfig" | "maxCycles">, told: readonly string[] = []): Promise<Answer> {
  const { home, run } = standing;
  const warnings = [...told, ...(await mayTakeUp(place, standing, input))];
  return work(place, home, run, input, warnings, async (hand) => {
    const change = await policyChange(place, home, hand.view(), input.adoptConfig === true, hand.putBlob);
    if (change !== null) await hand.append(change);
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
