// boxed: runs a shell script in a layer under one level of isolation, and says what came of it.

import { execFile, spawnSync } from "node:child_process";
import type { IsolationLevel } from "../../src/contracts/isolation-levels.ts";
import type { Command, Isolation } from "../../src/workspace/isolation/confinement.ts";
import { chooseIsolation } from "../../src/workspace/isolation/isolation.ts";
import { baseEnvironment } from "./base-environment.ts";
import type { Bench } from "./bench-repository.ts";

export const placeOf = ({ root, runDir }: Bench): { hidden: string[]; runDir: string } => ({
  hidden: [root],
  runDir,
});

export async function openLevel(level: IsolationLevel, bench: Bench): Promise<Isolation> {
  const choice = await chooseIsolation(level, placeOf(bench));
  if ("failure" in choice) throw new Error(choice.failure.detail);
  return choice.isolation;
}

export type Outcome = { readonly code: number | null; readonly out: string; readonly err: string };

export function commandOf(layer: string, script: string, more: Partial<Command> = {}): Command {
  return {
    argv: ["/bin/sh", "-c", script],
    cwd: layer,
    env: baseEnvironment(process.env),
    writable: [layer],
    network: "off",
    writes: "apart",
    ...more,
  };
}

export function run(
  isolation: Isolation,
  layer: string,
  script: string,
  more: Partial<Command> = {},
): Outcome {
  const { argv, env, cwd } = isolation.wrap(commandOf(layer, script, more));
  const [program = "", ...args] = argv;

  const { status, stdout, stderr } = spawnSync(program, args, {
    env,
    cwd,
    encoding: "utf8",
    timeout: 60_000,
  });

  return { code: status, out: stdout, err: stderr };
}

/** The same without keeping this process from answering. */
export function start(
  isolation: Isolation,
  layer: string,
  script: string,
  more: Partial<Command> = {},
): Promise<Outcome> {
  const { argv, env, cwd } = isolation.wrap(commandOf(layer, script, more));
  const [program = "", ...args] = argv;
  return new Promise((resolve) => {
    const child = execFile(program, args, { env, cwd, timeout: 60_000 }, (_error, out, err) =>
      resolve({ code: child.exitCode, out, err }),
    );
  });
}

/** Whether the two boxes can be had here: Linux with bubblewrap and namespaces. */
export const hasBoxes =
  process.platform === "linux" &&
  spawnSync(
    "bwrap",
    ["--ro-bind", "/", "/", "--unshare-user", "--unshare-pid", "--unshare-net", "true"],
    { stdio: "ignore" },
  ).status === 0;
export const boxLevels = ["overlay", "bwrap"] as const;
