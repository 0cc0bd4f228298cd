// roadmap-parts: the parts of a run that the roadmap playbook's functions may use.

import type { Entry } from "../../../contracts/event.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Verifier } from "../../../ports/verifier.ts";
import type { Workspace } from "../../../ports/workspace.ts";

export type RoadmapParts = {
  readonly verifier: Verifier;
  readonly workspace: Workspace;
  readonly paths: { readonly root: string; readonly folder: string };
  readonly readBlob: (hash: string) => Buffer | null;
  readonly entries: () => readonly Entry[];
};

export type StepInput = FunctionInput<RunView, CursorView>;
export type StepResult = Promise<FunctionResult>;
