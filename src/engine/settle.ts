// settle: inspects an attempt that a crash left open and applies the recovery table to it.

import type { CrashState } from "../contracts/crash-state.ts";
import type { Draft, EventOf } from "../contracts/event.ts";
import { type Gate, kindOf, type Step } from "../contracts/flow.ts";
import type { AttemptId } from "../contracts/ids.ts";
import { chargeOf } from "../core/budget.ts";
import { stepOf, stepsOf } from "../core/selectors.ts";
import { remedyFor } from "../core/recovery.ts";
import type { OpenView, RunView, CursorView } from "../core/state.ts";
import { invariant } from "../kit/invariant.ts";
import { unreachable } from "../kit/never.ts";
import { judgesAt, runsCommand } from "./oracles.ts";
import { placedGate } from "./prove.ts";
import type { Runtime } from "./runtime.ts";

const crashesMax = 3;

type Settled = {
  readonly event: Omit<EventOf<"attempt_settled">, "actor" | "reason_code">;
  readonly closing: Draft | null;
  /** Half-done work to be taken out of the way, once what it cost is written down. */
  readonly isSetAside: boolean;
};

/** Finds out what can be known of an attempt that a crash left open, and follows the recovery table. */
export async function settle(world: Runtime, run: RunView, attempt: AttemptId): Promise<Settled> {
  await world.agents.sweep(run.drafted.run_id); // a pipe cannot be taken over: what still lives is ended first
  const open = run.open[attempt];
  invariant(open !== undefined, `E1: ${attempt} is open`);
  const walk = run.walks[open.walk];
  invariant(walk !== undefined, `F2: ${open.walk} is a walk of the run`);
  const step = stepOf(run, walk, open.step);
  const doubt = await inspect(world, run, walk, open, step);
  const { remedy, why } = remedyFor(doubt);
  const wasPaid = doubt.kind === "agent" && doubt.stage === "started" && doubt.layer !== "absent";
  const usage = wasPaid && remedy !== "ask" ? chargeOf(null, open.need, 0) : undefined;
  const event = { event: "attempt_settled", attempt, doubt, remedy, why, ...(usage === undefined ? {} : { usage }) } as const;
  return {
    event,
    closing: remedy === "close" ? await closed(world, attempt, walk) : null,
    isSetAside: remedy === "repeat" && doubt.kind === "agent",
  };
}

async function inspect(world: Runtime, run: RunView, walk: CursorView, open: OpenView, step: Step): Promise<CrashState> {
  const kind = kindOf(step);
  const stage = open.stage === "turned" || open.stage === "applied" ? open.stage : "started";
  const unknown = { stage, layer: "absent", done: false, proof: false, often: open.crashes >= crashesMax } as const;
  switch (kind) {
    case "agent": {
      const { layer, commit } = await world.workspace.inspect(open.attempt, open.turn?.layer ?? null);
      const found = stage === "started" && layer === "intact" ? "dirty" : layer;
      const isProved = stage === "started" && found === "dirty" && (await isDoneByArtifacts(world, run, walk, step, open.attempt));
      return { ...unknown, kind, layer: found, done: commit !== null, proof: isProved };
    }
    case "run":
      return { ...unknown, kind, done: (await world.functions.run[step.run ?? ""]?.isDone?.(open.attempt)) ?? false };
    case "check":
    case "tasks":
    case "flow":
      return { ...unknown, kind };
    case "human":
      throw new Error("a human step has no attempt");
    default:
      return unreachable(kind);
  }
}

/**
 * Whether the half-known attempt's artifacts prove its work done: fresh, for what holds with its layer did not hold without it,
 * and only where nobody needs what the agent would have said.
 */
async function isDoneByArtifacts(world: Runtime, run: RunView, walk: CursorView, step: Step, attempt: AttemptId): Promise<boolean> {
  const gates = (step.proof ?? []).filter((proof): proof is Gate => typeof proof !== "string");
  const needsNames = gates.length !== (step.proof ?? []).length;
  const needsWords = step.returns !== undefined && step.returns_optional !== true;
  if (gates.length === 0 || needsNames || needsWords || readsSays(stepsOf(run, walk), step.id)) return false;
  const commit = await world.workspace.preview(attempt);
  if (commit === null) return false;
  const { paths } = await world.workspace.changesOf(attempt);
  const holdsOn = async (tried: string, changed: readonly string[]): Promise<boolean> => {
    // Who changed what judges it is not closed by it.
    if (gates.some(runsCommand) && (await judgesAt(world, run, tried)).refused.length > 0) return false;
    const order = {
      attempt,
      gates: gates.map((gate) => placedGate(run.drafted.flow, gate, walk.phase, walk.task ?? "")),
      commit: tried,
      changed,
      cancel: new AbortController().signal,
      onLiveEvent: world.onLiveEvent,
    };
    const { holds, hollow = [] } = await world.verifier.prove(order);
    return holds && hollow.length === 0; // Headings without their texts may be what a cut turn had not come to yet.
  };
  const unproved = walk.unproved?.[step.id] ?? [];
  return (await holdsOn(commit, [...paths, ...unproved])) && !(await holdsOn(run.tip.commit, unproved));
}

/** Whether a row or a condition of the list reads what this step's agent says. */
function readsSays(steps: readonly Step[], id: string): boolean {
  const facts = steps.flatMap((one) => [
    one.only_if ?? {},
    ...(one.unless ?? []),
    ...[...(one.then ?? []), ...(one.otherwise ?? [])].map(({ when }) => when ?? {}),
  ]);
  return facts.some((when) => Object.keys(when).some((name) => name.startsWith(`${id}.says.`)));
}

/** The work is there and proved, only the turn was never written down: it is charged at its estimate and said nothing. */
async function closed(world: Runtime, attempt: AttemptId, walk: CursorView): Promise<Draft> {
  const { tree } = await world.workspace.changesOf(attempt);
  return {
    event: "turn_ended",
    attempt,
    agent: "unknown",
    stop: `closed by its artifacts in ${walk.path}`,
    says: {},
    said: "",
    promised: false,
    announced_more: false,
    confidence: null,
    usage: { tokens: 0, calls: 0, minutes: 0, source: "estimated" },
    layer: tree,
  };
}
