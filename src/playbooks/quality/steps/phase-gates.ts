// phase-gates: finds the artifact gates of a phase's agent steps in the run's own flow. The shipped
// flow declares them in flows/catalog/quality/flow.yaml.

import type { Gate } from "../../../contracts/flow.ts";
import { stepsOfPhase } from "../../../core/selectors.ts";
import type { RunView } from "../../../core/state.ts";

export const listGatesOfPhase = (state: RunView, phase: string): readonly Gate[] =>
  stepsOfPhase(state.drafted.flow, phase)
    .filter(({ agent }) => agent !== undefined)
    .flatMap(({ proof }) => proof ?? [])
    .filter((proof): proof is Gate => typeof proof !== "string"); // a string names a proof function
