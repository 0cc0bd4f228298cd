// quality-functions: the functions that the quality flow calls by name, bound to one run.

import type { Entry } from "../../../contracts/event.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import type { Functions } from "../../../ports/functions.ts";
import type { Verifier } from "../../../ports/verifier.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { bugsShown } from "./bugs-shown.ts";
import { docsNote } from "./docs-note.ts";
import { docsPresent } from "./docs-present.ts";
import { phaseFound } from "./phase-found.ts";
import { phaseTally } from "./phase-tally.ts";
import { redLogs } from "./red-logs.ts";
import { runAgrees } from "./run-agrees.ts";
import { terminalGate, terminalProof } from "./terminal-gate.ts";

export type QualityParts = {
  readonly verifier: Verifier;
  readonly workspace: Workspace;
  readonly entries: () => readonly Entry[];
  readonly readBlob: (hash: string) => Buffer | null;
};

export function qualityFunctions(parts: QualityParts): Functions<RunView, CursorView> {
  return {
    run: {
      docs_present: docsPresent(parts.workspace),
      docs_note: docsNote(parts.workspace),
      phase_found: phaseFound(parts),
      phase_tally: phaseTally(parts),
      terminal_gate: terminalGate(parts),
      red_logs: redLogs(parts),
      run_agrees: runAgrees(parts.workspace),
    },
    proof: { terminal_gate: terminalProof(parts), bugs_shown: bugsShown(parts) },
    phases: {},
    tasks: {},
  };
}
