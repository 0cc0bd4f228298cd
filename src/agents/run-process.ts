// run-process: starts an agent's process, runs its protocol with it, and ends its process tree.
//
// Invariants:
//   P1. Whatever happens, the process tree is ended before the result is given.

import { setTimeout as wait } from "node:timers/promises";
import { endTree } from "./process/end-tree.ts";
import { createTurnFilter } from "./process/process-mark.ts";
import { spawnAgent, type SpawnedAgent } from "./process/spawn-agent.ts";
import { watchResources } from "./process/watch-resources.ts";
import type { PreparedTurn } from "./prepared-turn.ts";

const resourcePollMs = 1_000;

/**
 * The result of a turn's conversation. `isAtRest`: the agent has answered and gets time to clean
 * up; one that was cut off gets none.
 */
export type WorkResult<T> = { readonly value: T; readonly isAtRest: boolean };
export type ProcessResult<T> =
  | { readonly value: T; readonly warnings: readonly string[] }
  | { readonly problem: string };

/**
 * Starts the agent, passes its process to `work`, and ends its process tree; or says why it could
 * not be started.
 */
export async function runProcess<T>(
  prepared: PreparedTurn,
  options: { readonly layer: string; readonly hasInput: boolean },
  work: (spawned: SpawnedAgent) => Promise<WorkResult<T>>,
): Promise<ProcessResult<T>> {
  const { argv, env, passEnv, mark, home, wrap, inherited } = prepared;
  const launch = {
    argv,
    cwd: options.layer,
    mark,
    home,
    wrap,
    passEnv,
    env,
    hasInput: options.hasInput,
  };
  const spawned = await spawnAgent(launch, inherited);
  if ("problem" in spawned) return { problem: `The agent cannot be started: ${spawned.problem}.` };
  const group = spawned.child.pid ?? 0;
  prepared.guardian.watch(group);
  const watch = watchTurnResources(prepared, group);
  let result: WorkResult<T> | null = null;
  let survivors = 0;

  try {
    result = await work({ ...spawned, exceeded: watch.exceeded });
  } finally {
    watch.stop();
    if (result?.isAtRest === true) await waitForExit(spawned, prepared.profile.stop.eofMs);
    survivors = await endTree(spawned.child, createTurnFilter(mark), {
      graceMs: prepared.limits.turnTermGraceMs,
    }); // P1

    prepared.guardian.forget(group);
  }

  return {
    value: result.value,
    warnings: survivors > 0 ? [`${survivors} of its processes could not be ended`] : [],
  };
}

/**
 * Watches the turn's resource usage, if there are limits; the promise resolves when it is too much.
 */
function watchTurnResources(
  { bounds, mark }: PreparedTurn,
  rootPid: number,
): { readonly exceeded: Promise<string>; readonly stop: () => void } {
  if (bounds === null) return { exceeded: new Promise(() => undefined), stop: () => undefined };
  let exceed: (sentence: string) => void = () => undefined;
  const exceeded = new Promise<string>((resolve) => (exceed = resolve));

  return {
    exceeded,
    ...watchResources({
      ...bounds,
      isMarked: createTurnFilter(mark),
      rootPid,
      intervalMs: resourcePollMs,
      onExceeded: exceed,
    }),
  };
}

/** Closes the agent's input and waits a moment for it to exit. */
async function waitForExit({ stdin, exited }: SpawnedAgent, eofMs: number): Promise<void> {
  stdin?.end();
  if (eofMs <= 0) return;
  const timer = new AbortController();
  await Promise.race([
    exited,
    wait(eofMs, undefined, { signal: timer.signal }).catch(() => undefined),
  ]);

  timer.abort();
}
