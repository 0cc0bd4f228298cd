// play: plays one hostile action, either as a plain child of this process or as the product would
// have it: marked, isolated, ended.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { endTree } from "../../src/agents/process/end-tree.ts";
import { createTurnFilter } from "../../src/agents/process/process-mark.ts";
import { spawnAgent } from "../../src/agents/process/spawn-agent.ts";
import { turnLimits } from "../../src/agents/turn/turn-limits.ts";
import type { Isolation } from "../../src/workspace/isolation/confinement.ts";
import { readBorrowedObjects } from "../../src/workspace/layers/folder-records.ts";
import type { Action } from "./action.ts";
import { attempt, type Scene } from "./scene.ts";

const endWithinMs = 120_000;
const runId = "run-2026-01-02-030405";
let ordinal = 100;

/**
 * Without any care: a child like any other, and then somebody who looks at the layer without care.
 */
export async function playCareless(scene: Scene, action: Action): Promise<boolean> {
  await scene.reset();
  const stage = action.careless === undefined ? scene : await withLayer(scene, nextAttempt());

  const env = {
    ...process.env,
    HOME: scene.env["GIVEN_HOME"],
    ...stage.env,
    RUNNER: String(scene.runnerPid()),
  };
  await plainly(action.control ?? action.command, stage.layer, env);

  const careless = {
    ...process.env,
    ...stage.env,
    HOME: "/nonexistent",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
  };
  if (action.careless !== undefined) await plainly(action.careless, stage.layer, careless);
  return soonEscaped(action, stage);
}

/** What strikes late is waited for: it is expected to get out, and a busy machine is slow. */
async function soonEscaped(action: Action, stage: Scene): Promise<boolean> {
  for (
    let looks = 0;
    action.strikesAfterMs !== undefined && looks < 100 && !(await action.escaped(stage));
    looks += 1
  ) {
    await wait(200);
  }

  return action.escaped(stage);
}

/** As the product does it, at one level of isolation. */
export async function playIsolated(
  scene: Scene,
  isolation: Isolation,
  action: Action,
): Promise<boolean> {
  await scene.reset();
  const mine = action.careless === undefined ? attempt : nextAttempt();
  const stage = action.careless === undefined ? scene : await withLayer(scene, mine);
  await inBox(stage, isolation, action.command);

  if (action.careless !== undefined) {
    const { workspace } = scene.bench;
    await workspace.changesOf(mine).catch(() => null);
    await workspace.inspect(mine, null).catch(() => null);
    await workspace.apply(mine, "x").catch(() => null);
    await workspace.quarantine(mine).catch(() => null);
  }

  return soonEscaped(action, stage);
}

/**
 * Several in one box, one after the other, if none is expected to get out; answers those that did.
 */
export async function playTogether(
  scene: Scene,
  isolation: Isolation,
  actions: readonly Action[],
): Promise<readonly string[]> {
  await scene.reset();
  const lootOf = (place: number): string => `${scene.layer}/loot-${place}`;
  const steps = actions.map(
    ({ command }, place) => `( export LOOT='${lootOf(place)}'; ${command} ) >/dev/null 2>&1`,
  );
  await inBox(scene, isolation, [...steps, 'echo all > "$LAYER/ran"'].join("\n"));
  if (!existsSync(`${scene.layer}/ran`)) throw new Error("the actions did not all run");
  await wait(Math.max(0, ...actions.map(({ strikesAfterMs = 0 }) => strikesAfterMs)));
  const escapes: string[] = [];

  for (const [place, action] of actions.entries()) {
    if (await action.escaped({ ...scene, loot: lootOf(place) })) escapes.push(action.id);
  }

  return escapes;
}

/** Runs one command as an agent's turn is run; answers when nothing of it should be left. */
export async function inBox(scene: Scene, isolation: Isolation, command: string): Promise<string> {
  const { layer, env } = scene;
  const egress = scene.egress.egressAt(isolation);
  const mark = { run: runId, attempt, repository: scene.out, agentsId: scene.out };

  const spawned = await spawnAgent({
    argv: ["/bin/sh", "-c", command],
    cwd: layer,
    mark,
    passEnv: [],
    env: { ...env, RUNNER: String(scene.runnerPid()), EGRESS: String(egress.port) },
    home: null,
    wrap: (plain) =>
      isolation.wrap({
        ...plain,
        writable: [layer],
        readable: readBorrowedObjects(scene.bench.runDir, scene.attempt ?? attempt),
        writes: "apart",
        network: "egress",
        egress,
      }),
  });
  if ("problem" in spawned) throw new Error(spawned.problem);
  let said = "";
  spawned.child.stdout?.on("data", (chunk: Buffer) => (said += chunk.toString("utf8")));
  await Promise.race([spawned.exited, wait(endWithinMs, undefined, { ref: false })]);
  const left = await endTree(spawned.child, createTurnFilter(mark), {
    graceMs: turnLimits.turnTermGraceMs,
  });
  if (left > 0) throw new Error(`${left} processes could not be ended`);
  await isolation.collect(layer);

  return `${said}${spawned.stderrTail()}`;
}

async function withLayer(scene: Scene, name: string): Promise<Scene> {
  const layer = await scene.bench.workspace.openLayer(name, []);
  return {
    ...scene,
    attempt: name,
    layer,
    loot: `${layer}/loot`,
    env: { ...scene.env, LAYER: layer, LOOT: `${layer}/loot` },
  };
}

function nextAttempt(): string {
  ordinal += 1;
  return `1@1/execute#${ordinal}`;
}

function plainly(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", command], {
      cwd,
      env,
      stdio: "ignore",
      detached: true,
      timeout: endWithinMs,
    });
    child.once("error", reject);
    child.once("exit", () => resolve());
  });
}
