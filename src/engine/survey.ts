// survey: checks artifacts when a run opens: which phases lost their proof, and which already have
// it.

import type { Gate, Proof, Step } from "../contracts/flow.ts";
import { createCursor } from "../core/reducers.ts";
import { phaseRule, stepsOfPhase } from "../core/selectors.ts";
import type { FlowView, RunView } from "../core/state.ts";
import { invariant } from "../kit/invariant.ts";
import { withoutFreshness, withoutCommands } from "./survey-gates.ts";
import { runsCommand } from "./judging-commands.ts";
import { inspectProtectedFiles, fromBaseField } from "./protected-files.ts";
import { fillGate } from "./prove.ts";
import type { Runtime } from "./runtime.ts";

export type SurveyResult = {
  gone: string[];
  proved: string[];
  lost?: { walk: string; step: string }[];
};

/**
 * Checks the artifacts once per opening: which finished phases have lost their proof, which
 * unstarted ones already have it, and of the phases under way the first step that had passed and
 * does not hold any more.
 */
export async function surveyArtifacts(runtime: Runtime, run: RunView): Promise<SurveyResult> {
  const { recheck, enter } = run.drafted.flow;
  const finished = run.phases.filter(({ status }) => status === "completed");
  const unstarted = run.phases.filter(({ group, visit }) => group === "phases" && visit === 0);

  const lostPhases =
    recheck === "all"
      ? await Promise.all(
          finished.map(async ({ id }) =>
            (await isProved(runtime, run, id, passedGates(run, id))) === false ? id : null,
          ),
        )
      : [];

  // `enter` is about where a run begins: once a phase was begun, those after it are run in any
  // case.
  const isFirst = run.phases.every(({ group, visit }) => group !== "phases" || visit === 0);
  const foundDone =
    enter === "first_unproved" && isFirst
      ? await Promise.all(unstarted.map(({ id }) => isAlreadyDone(runtime, run, id)))
      : [];

  const isOptional = (id: string): boolean => phaseRule(run.drafted.flow, id).optional === true;
  const proved = unstarted.filter(
    ({ id }, index) =>
      foundDone[index] === true || (isOptional(id) && foundDone.includes(true, index + 1)),
  );

  const lostSteps =
    recheck === "all" || recheck === "phase" ? await findLostSteps(runtime, run) : [];
  return {
    gone: lostPhases.filter((id) => id !== null),
    proved: proved.map(({ id }) => id),
    ...(lostSteps.length === 0 ? {} : { lost: lostSteps }),
  };
}

async function findLostSteps(
  runtime: Runtime,
  run: RunView,
): Promise<{ walk: string; step: string }[]> {
  const lostSteps: { walk: string; step: string }[] = [];
  for (const { id } of run.phases.filter(({ status }) => status === "open")) {
    if ((await isProved(runtime, run, id, passedGates(run, id))) !== false) continue;
    for (const step of passedSteps(run, id)) {
      if ((await isProved(runtime, run, id, stepGates([step]))) !== false) continue;
      lostSteps.push({ walk: id, step: step.id });
      break;
    }
  }

  return lostSteps;
}

const stepGates = (steps: readonly Step[]): readonly Gate[] =>
  steps
    .filter(({ agent }) => agent !== undefined)
    .flatMap(({ proof }) => proof ?? [])
    .filter((proof): proof is Gate => typeof proof !== "string")
    .map(withoutFreshness);

/** Gates of the steps that a finished phase completed; a skipped step has none. */
const passedGates = (run: RunView, phase: string): readonly Gate[] =>
  stepGates(passedSteps(run, phase));

function passedSteps(run: RunView, phase: string): readonly Step[] {
  const last = run.cursors[phase]?.last ?? {};
  return stepsOfPhase(run.drafted.flow, phase).filter(({ id }) => last[id]?.kind === "passed");
}

/**
 * The rules by which a phase that was never run counts as already done. Completing a phase by
 * running it requires more.
 */
export function listProofsOfDone(flow: FlowView, phase: string): readonly Proof[] {
  const { proof } = phaseRule(flow, phase);
  const proofs =
    proof === undefined ? stepGates(stepsOfPhase(flow, phase)) : (proof as readonly Proof[]);
  return proofs.flatMap((item) =>
    typeof item === "string" ? item : (withoutCommands(withoutFreshness(item)) ?? []),
  );
}

async function isAlreadyDone(runtime: Runtime, run: RunView, phase: string): Promise<boolean> {
  const proofs = listProofsOfDone(run.drafted.flow, phase);
  const gates = proofs.filter((proof) => typeof proof !== "string");
  if (
    proofs.length === 0 ||
    (gates.length > 0 && (await isProved(runtime, run, phase, gates)) !== true)
  ) {
    return false;
  }

  for (const name of proofs.filter((proof) => typeof proof === "string")) {
    const registered = runtime.functions.proof[name];
    invariant(registered !== undefined, `a proof is in the registry: ${name}`);

    const result = await registered.prove({
      attempt: surveyAttempt(phase),
      state: run,
      cursor: createCursor({ path: phase, kind: "phase", phase, visit: 0 }),
      commit: run.tip.commit,
      changed: [],
      previous: null,
      sees: {},
      cancel: new AbortController().signal,
      onLiveEvent: runtime.onLiveEvent,
    });
    if (!result.ok) return false;
  }

  return true;
}

/** A survey is no attempt of the flow, but what it runs is recorded under one. */
const surveyAttempt = (phase: string): string => `${phase}@0/survey#1`;

/**
 * Null if a phase's agents leave nothing to inspect. Freshness does not apply to files that were
 * only found.
 */
async function isProved(
  runtime: Runtime,
  run: RunView,
  phase: string,
  gates: readonly Gate[],
): Promise<boolean | null> {
  if (gates.length === 0) return null;
  const { commit } = run.tip;
  const refused = gates.some(runsCommand)
    ? (await inspectProtectedFiles(runtime, run, commit)).refused
    : [];

  const result = await runtime.verifier.prove({
    attempt: surveyAttempt(phase),
    gates: gates.map((gate) => fillGate(run.drafted.flow, gate, phase)),
    commit,
    changed: [],
    ...fromBaseField(run, refused),
    cancel: new AbortController().signal,
    onLiveEvent: runtime.onLiveEvent,
  });
  return result.holds;
}
