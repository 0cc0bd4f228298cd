// lazy-functions: functions that are loaded when a flow first calls one of them, so that a run of another flow does not wait for their parsers.

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

type All = Functions<RunView, CursorView>;

export function lazyFunctions(names: FunctionNames, load: () => Promise<All>): All {
  let loading: Promise<All> | null = null;
  const loaded = (): Promise<All> => (loading ??= load());
  const found = async <Group extends keyof All>(group: Group, name: string): Promise<All[Group][string]> => {
    const loadedFunction = (await loaded())[group][name];
    invariant(loadedFunction !== undefined, `a function is loaded under its name: ${name}`);
    return loadedFunction as All[Group][string];
  };
  return {
    run: Object.fromEntries(
      Object.entries(names.run).map(([name, effect]) => [
        name,
        {
          version: names.version,
          effect,
          perform: async (input) => (await found("run", name)).perform(input),
          isDone: async (attempt) => (await (await found("run", name)).isDone?.(attempt)) ?? false,
        } satisfies All["run"][string],
      ]),
    ),
    proof: Object.fromEntries(
      names.proof.map((name) => [
        name,
        { version: names.version, prove: async (input) => (await found("proof", name)).prove(input) } satisfies All["proof"][string],
      ]),
    ),
    phases: Object.fromEntries(
      names.phases.map((name) => [name, (async (state) => (await found("phases", name))(state)) satisfies All["phases"][string]]),
    ),
    tasks: Object.fromEntries(
      names.tasks.map((name) => [
        name,
        (async (state, cursor) => (await found("tasks", name))(state, cursor)) satisfies All["tasks"][string],
      ]),
    ),
  };
}

/** The versions as the journal records them. */
export const versionsOf = (names: FunctionNames): Readonly<Record<string, number>> =>
  Object.fromEntries([...Object.keys(names.run), ...names.proof, ...names.phases, ...names.tasks].map((name) => [name, names.version]));
