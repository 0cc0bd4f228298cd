// registry: every function that flows may call by name, with its version. Most playbook code loads on first use.

import type { Entry } from "../../contracts/event.ts";
import type { RunView, CursorView } from "../../core/state.ts";
import { checkGroups } from "../../engine/checks.ts";
import type { Registry } from "../../flows/lint-subject.ts";
import { returnSchemas, factFields } from "../../flows/returns.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Functions } from "../../ports/functions.ts";
import type { Verifier } from "../../ports/verifier.ts";
import type { Workspace } from "../../ports/workspace.ts";
import type { ProjectPaths } from "../../project/runs/project-paths.ts";
import { playbookNames } from "./playbook-names.ts";
import { baseline } from "./baseline.ts";
import { completion } from "./completion.ts";
import { land } from "./land.ts";
import { lazyFunctions, versionsOf } from "../contract/lazy-functions.ts";
import { nextCriterion } from "./next-criterion.ts";
import { projectTests } from "./project-tests.ts";
import { qualityNames } from "../quality/steps/names.ts";
import { roadmapNames } from "../roadmap/steps/names.ts";
import { wrapUp } from "../roadmap/steps/roadmap-wrap-up.ts";
import { stagedNames } from "../staged/steps/names.ts";
import { tasksFile } from "./tasks-file.ts";

export type FunctionParts = {
  readonly verifier: Verifier;
  readonly workspace: Workspace;
  readonly paths: ProjectPaths;
  /** The run's own folder. */
  readonly folder: string;
  readonly view: () => RunView;
  readonly entries: () => readonly Entry[];
  readonly readBlob: (hash: string) => Buffer | null;
  readonly clock: Clock;
  readonly cancel: AbortSignal;
  /** A child run lands nothing: its parent takes its work. */
  readonly isChild?: boolean;
};

/** The runner's own functions, by the names that flows call them. */
export function createFunctions(parts: FunctionParts): Functions<RunView, CursorView> {
  const roadmap = lazyFunctions(roadmapNames, async () => (await import("../roadmap/steps/roadmap-functions.ts")).roadmapFunctions(parts));
  const quality = lazyFunctions(qualityNames, async () => (await import("../quality/steps/quality-functions.ts")).qualityFunctions(parts));
  const staged = lazyFunctions(stagedNames, async () => (await import("../staged/steps/staged-functions.ts")).stagedFunctions(parts));
  return {
    run: {
      ...roadmap.run,
      ...quality.run,
      ...staged.run,
      baseline: baseline(parts.verifier),
      next_criterion: nextCriterion,
      completion,
      land: land(parts.workspace, { verifier: parts.verifier, isChild: parts.isChild === true, paths: parts.paths }),
      wrap_up: wrapUp(parts),
    },
    proof: { ...roadmap.proof, ...quality.proof, ...staged.proof, project_tests: projectTests(parts.verifier) },
    phases: { ...roadmap.phases },
    tasks: { ...roadmap.tasks, ...staged.tasks, tasks_file: tasksFile(parts.workspace) },
  };
}

/** Version of each function, for lint and for the journal. */
export const registryVersions: Readonly<Record<string, number>> = {
  baseline: 1,
  next_criterion: 1,
  completion: 1,
  land: 1,
  wrap_up: 1,
  project_tests: 1,
  tasks_file: 1,
  ...versionsOf(roadmapNames),
  ...versionsOf(qualityNames),
  ...versionsOf(stagedNames),
};

/** The named proofs; a `check` step may name them too. */
const proofNames: readonly string[] = ["project_tests", ...roadmapNames.proof, ...qualityNames.proof, ...stagedNames.proof];

export const lintRegistry: Registry = {
  run: [
    "baseline",
    "next_criterion",
    "completion",
    "land",
    "wrap_up",
    ...Object.keys(roadmapNames.run),
    ...Object.keys(qualityNames.run),
    ...Object.keys(stagedNames.run),
  ],
  proof: proofNames,
  playbooks: playbookNames,
  readers: { phases: [...roadmapNames.phases], tasks: ["tasks_file", ...roadmapNames.tasks, ...stagedNames.tasks], from: ["tasks_file"] },
  schemas: Object.keys(returnSchemas),
  checks: [...checkGroups, ...proofNames],
  effects: {
    baseline: "none",
    next_criterion: "none",
    completion: "none",
    land: "idempotent",
    wrap_up: "idempotent",
    ...roadmapNames.run,
    ...qualityNames.run,
    ...stagedNames.run,
  },
  says: Object.fromEntries(Object.entries(returnSchemas).map(([name, schema]) => [name, factFields(schema)])),
};
