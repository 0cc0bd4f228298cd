// lazy-functions: loads the functions of a playbook when a flow first calls one, so that runs of
// other flows do not wait for their parsers.

import type { RunView, CursorView } from "../../core/state.ts";
import { invariant } from "../../kit/invariant.ts";
import type { Effect, Functions } from "../../ports/functions.ts";

/** Known before the functions are loaded: their names and effects. */
export type FunctionNames = {
  readonly run: Readonly<Record<string, Effect>>;
  readonly proof: readonly string[];
  readonly phases: readonly string[];
  readonly tasks: readonly string[];
  readonly version: number;
};

type FlowFunctions = Functions<RunView, CursorView>;

/** Functions that load their code when the first of them is called. */
export function createLazyFunctions(
  names: FunctionNames,
  load: () => Promise<FlowFunctions>,
): FlowFunctions {
  let loading: Promise<FlowFunctions> | null = null;
  const loadOnce = (): Promise<FlowFunctions> => (loading ??= load());

  const loadFunction = async <Group extends keyof FlowFunctions>(
    group: Group,
    name: string,
  ): Promise<FlowFunctions[Group][string]> => {
    const loadedFunction = (await loadOnce())[group][name];
    invariant(loadedFunction !== undefined, `a function is loaded under its name: ${name}`);
    return loadedFunction as FlowFunctions[Group][string];
  };

  return {
    run: Object.fromEntries(
      Object.entries(names.run).map(([name, effect]) => [
        name,
        {
          version: names.version,
          effect,
          perform: async (input) => (await loadFunction("run", name)).perform(input),
          isDone: async (attempt) =>
            (await (await loadFunction("run", name)).isDone?.(attempt)) ?? false,
        } satisfies FlowFunctions["run"][string],
      ]),
    ),
    proof: Object.fromEntries(
      names.proof.map((name) => [
        name,
        {
          version: names.version,
          prove: async (input) => (await loadFunction("proof", name)).prove(input),
        } satisfies FlowFunctions["proof"][string],
      ]),
    ),
    phases: Object.fromEntries(
      names.phases.map((name) => [
        name,
        (async (state) =>
          (await loadFunction("phases", name))(state)) satisfies FlowFunctions["phases"][string],
      ]),
    ),
    tasks: Object.fromEntries(
      names.tasks.map((name) => [
        name,
        (async (state, cursor) =>
          (await loadFunction("tasks", name))(
            state,
            cursor,
          )) satisfies FlowFunctions["tasks"][string],
      ]),
    ),
  };
}

/** The versions as the journal records them. */
export const listVersions = (names: FunctionNames): Readonly<Record<string, number>> =>
  Object.fromEntries(
    [...Object.keys(names.run), ...names.proof, ...names.phases, ...names.tasks].map((name) => [
      name,
      names.version,
    ]),
  );
