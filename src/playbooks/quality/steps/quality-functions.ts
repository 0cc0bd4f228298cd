// quality-functions: the functions that the quality flow calls by name (quality-function-names.ts),
// bound to one run.

import type { Entry } from "../../../contracts/event.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import type { Functions } from "../../../ports/functions.ts";
import type { Verifier } from "../../../ports/verifier.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { createBugsShownProof } from "./bugs-shown.ts";
import { createDocsNoteStep } from "./docs-note.ts";
import { createDocsPresentStep } from "./docs-present.ts";
import { createPhaseFoundStep } from "./phase-found.ts";
import { createPhaseTallyStep } from "./phase-tally.ts";
import { createRedLogsStep } from "./red-logs.ts";
import { createRunAgreesStep } from "./run-agrees.ts";
import { createTerminalGateStep, createTerminalGateProof } from "./terminal-gate.ts";

export type QualityParts = {
  readonly verifier: Verifier;
  readonly workspace: Workspace;
  readonly entries: () => readonly Entry[];
  readonly readBlob: (hash: string) => Buffer | null;
};

export function createQualityFunctions(parts: QualityParts): Functions<RunView, CursorView> {
  return {
    run: {
      docs_present: createDocsPresentStep(parts.workspace),
      docs_note: createDocsNoteStep(parts.workspace),
      phase_found: createPhaseFoundStep(parts),
      phase_tally: createPhaseTallyStep(parts),
      terminal_gate: createTerminalGateStep(parts),
      red_logs: createRedLogsStep(parts),
      run_agrees: createRunAgreesStep(parts.workspace),
    },
    proof: {
      terminal_gate: createTerminalGateProof(parts),
      bugs_shown: createBugsShownProof(parts),
    },
    phases: {},
    tasks: {},
  };
}
