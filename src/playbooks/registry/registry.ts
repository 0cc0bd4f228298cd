// registry: every function that flows may call by name, with its version. Most playbook code loads
// on first use.

import type { Entry } from "../../contracts/event.ts";
import type { RunView, CursorView } from "../../core/state.ts";
import { checkGroups } from "../../engine/checks.ts";
import type { LintRegistry } from "../../flows/lint-subject.ts";
import { returnSchemas, listFactFields } from "../../flows/returns.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Functions } from "../../ports/functions.ts";
import type { Verifier } from "../../ports/verifier.ts";
import type { Workspace } from "../../ports/workspace.ts";
import type { ProjectPaths } from "../../project/runs/project-paths.ts";
import { playbookNames } from "./playbook-names.ts";
import { createBaselineStep } from "./baseline.ts";
import { completion } from "./completion.ts";
import { createLandStep } from "./land-step.ts";
import { createLazyFunctions, listVersions } from "../contract/lazy-functions.ts";
import { nextCriterion } from "./next-criterion.ts";
import { createProjectTestsProof } from "./project-tests.ts";
import { qualityFunctionNames } from "../quality/steps/quality-function-names.ts";
import { roadmapFunctionNames } from "../roadmap/steps/roadmap-function-names.ts";
import { createWrapUpStep } from "../roadmap/steps/roadmap-wrap-up.ts";
import { stagedFunctionNames } from "../staged/steps/staged-function-names.ts";
import { createTasksFileReader } from "./tasks-file.ts";

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
  const roadmap = createLazyFunctions(roadmapFunctionNames, async () =>
    (await import("../roadmap/steps/roadmap-functions.ts")).createRoadmapFunctions(parts),
  );

  const quality = createLazyFunctions(qualityFunctionNames, async () =>
    (await import("../quality/steps/quality-functions.ts")).createQualityFunctions(parts),
  );

  const staged = createLazyFunctions(stagedFunctionNames, async () =>
    (await import("../staged/steps/staged-functions.ts")).createStagedFunctions(parts),
  );

  return {
    run: {
      ...roadmap.run,
      ...quality.run,
      ...staged.run,
      baseline: createBaselineStep(parts.verifier),
      next_criterion: nextCriterion,
      completion,
      land: createLandStep(parts.workspace, {
        verifier: parts.verifier,
        isChild: parts.isChild === true,
        paths: parts.paths,
      }),
      wrap_up: createWrapUpStep(parts),
    },
    proof: {
      ...roadmap.proof,
      ...quality.proof,
      ...staged.proof,
      project_tests: createProjectTestsProof(parts.verifier),
    },
    phases: { ...roadmap.phases },
    tasks: {
      ...roadmap.tasks,
      ...staged.tasks,
      tasks_file: createTasksFileReader(parts.workspace),
    },
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
  ...listVersions(roadmapFunctionNames),
  ...listVersions(qualityFunctionNames),
  ...listVersions(stagedFunctionNames),
};

/** The named proofs; a `check` step may name them too. */
const proofNames: readonly string[] = [
  "project_tests",
  ...roadmapFunctionNames.proof,
  ...qualityFunctionNames.proof,
  ...stagedFunctionNames.proof,
];

/** What lint knows of the functions, without loading them. */
export const lintRegistry: LintRegistry = {
  run: [
    "baseline",
    "next_criterion",
    "completion",
    "land",
    "wrap_up",
    ...Object.keys(roadmapFunctionNames.run),
    ...Object.keys(qualityFunctionNames.run),
    ...Object.keys(stagedFunctionNames.run),
  ],
  proof: proofNames,
  playbooks: playbookNames,
  readers: {
    phases: [...roadmapFunctionNames.phases],
    tasks: ["tasks_file", ...roadmapFunctionNames.tasks, ...stagedFunctionNames.tasks],
    from: ["tasks_file"],
  },
  schemas: Object.keys(returnSchemas),
  checks: [...checkGroups, ...proofNames],
  effectsByFunction: {
    baseline: "none",
    next_criterion: "none",
    completion: "none",
    land: "idempotent",
    wrap_up: "idempotent",
    ...roadmapFunctionNames.run,
    ...qualityFunctionNames.run,
    ...stagedFunctionNames.run,
  },
  factFieldsBySchema: Object.fromEntries(
    Object.entries(returnSchemas).map(([name, schema]) => [name, listFactFields(schema)]),
  ),
};
