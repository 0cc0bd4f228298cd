import type { Entry } from "../../contracts/event.ts";
import type { RunView, WalkView } from "../../core/state.ts";
import { checkGroups } from "../../engine/checks.ts";
import type { Registry } from "../../flows/lint-subject.ts";
import { returnSchemas, saysFieldsOf } from "../../flows/returns.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Functions } from "../../ports/functions.ts";
import type { Verifier } from "../../ports/verifier.ts";
import type { Workspace } from "../../ports/workspace.ts";
import type { Home } from "../home.ts";
import { baseline } from "./baseline.ts";
import { completion } from "./completion.ts";
import { land } from "./land.ts";
import { nextCriterion } from "./next-criterion.ts";
import { projectTests } from "./project-tests.ts";
import { tasksFile } from "./tasks-file.ts";

/** What the runner's own functions may ask: the run's parts, its journal and blobs, and the user's checkout. */
export type FunctionParts = {
  readonly verifier: Verifier;
  readonly workspace: Workspace;
  readonly home: Home;
  /** The run's own folder. */
  readonly folder: string;
  readonly view: () => RunView;
  readonly entries: () => readonly Entry[];
  readonly readBlob: (hash: string) => Buffer | null;
  readonly clock: Clock;
  readonly cancel: AbortSignal;
};

/** The runner's own functions, by the names that flows call them. */
export function registryOf(parts: FunctionParts): Functions<RunView, WalkView> {
  return {
    run: {
      baseline: baseline(parts.verifier),
      next_criterion: nextCriterion,
      completion,
      land: land(parts.workspace),
    },
    proof: { project_tests: projectTests(parts.verifier) },
    phases: {},
    tasks: { tasks_file: tasksFile(parts.workspace) },
  };
}

/** The same names without the doing: for lint, and for the journal's record of versions. */
export const registryVersions: Readonly<Record<string, number>> = {
  baseline: 1,
  next_criterion: 1,
  completion: 1,
  land: 1,
  project_tests: 1,
  tasks_file: 1,
};

export const lintRegistry: Registry = {
  run: ["baseline", "next_criterion", "completion", "land"],
  proof: ["project_tests"],
  readers: { phases: [], tasks: ["tasks_file"], from: ["tasks_file"] },
  schemas: Object.keys(returnSchemas),
  checks: [...checkGroups],
  effects: { baseline: "none", next_criterion: "none", completion: "none", land: "idempotent" },
  says: Object.fromEntries(Object.entries(returnSchemas).map(([name, schema]) => [name, saysFieldsOf(schema)])),
};
