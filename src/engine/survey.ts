import type { Gate } from "../contracts/flow.ts";
import { stepsOfPhase } from "../core/reading.ts";
import type { RunView } from "../core/state.ts";
import { placedGate } from "./prove.ts";
import type { World } from "./world.ts";

/** Looks at the artifacts once an opening: which finished phases have lost their proof, which unbegun ones already have it. */
export async function survey(world: World, run: RunView): Promise<{ gone: string[]; proved: string[] }> {
  const { recheck, enter } = run.drafted.flow;
  const finished = run.phases.filter(({ status }) => status === "completed");
  const unbegun = run.phases.filter(({ group, visit }) => group === "phases" && visit === 0);
  const lost =
    recheck === "all" ? await Promise.all(finished.map(async ({ id }) => ((await isProved(world, run, id)) === false ? id : null))) : [];
  const held =
    enter === "first_unproved"
      ? await Promise.all(unbegun.map(async ({ id }) => ((await isProved(world, run, id)) === true ? id : null)))
      : [];
  return { gone: lost.filter((id) => id !== null), proved: held.filter((id) => id !== null) };
}

/** Null where a phase's agents leave nothing that could be looked at. Freshness cannot be asked of what is only found. */
async function isProved(world: World, run: RunView, phase: string): Promise<boolean | null> {
  const gates = stepsOfPhase(run.drafted.flow, phase)
    .filter(({ agent }) => agent !== undefined)
    .flatMap(({ proof }) => proof ?? [])
    .filter((proof): proof is Gate => typeof proof !== "string")
    .map(({ fresh: _fresh, ...gate }) => placedGate(gate, phase));
  if (gates.length === 0) return null;
  const cancel = new AbortController().signal;
  const result = await world.verifier.prove({
    attempt: `${phase}@0/survey#1`,
    gates,
    commit: run.tip.commit,
    changed: [],
    cancel,
    onSignal: world.onSignal,
  });
  return result.holds;
}
