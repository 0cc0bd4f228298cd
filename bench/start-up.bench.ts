// What a command costs over Node itself: `--version` and `status --json`, each beside `node -e 0`
// in every round.

import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  interleave,
  isQuick,
  plainEnv,
  quantile,
  report,
  repository,
  withFolder,
} from "./measure.ts";

const rounds = isQuick ? 11 : 41;
const stub = join(repository, "dist/autopilot.cjs");

await withFolder((folder) => {
  const note = prepareRun(folder);
  return measureStarts(folder, note);
});

/**
 * A repository with a draft in it, so that `status` has something to read; if none can be made it
 * reads an empty folder.
 */
function prepareRun(folder: string): string | undefined {
  const git = (...args: string[]): void =>
    void spawnSync("git", ["-c", "user.name=bench", "-c", "user.email=bench@localhost", ...args], {
      cwd: folder,
      env: plainEnv,
      stdio: "ignore",
    });
  git("init", "-q");
  writeFileSync(join(folder, "a.txt"), "a\n");
  writeFileSync(join(folder, "script.yaml"), "turns: []\n");
  git("add", "-A");
  git("commit", "-qm", "start");

  const { status } = start(folder, [
    stub,
    "start",
    "--goal",
    "measure",
    "--agent",
    "scripted:script.yaml",
    "--isolation",
    "clone",
    "--json",
  ]);
  return status === 0 ? undefined : "no run could be drafted; status read an empty folder";
}

function start(folder: string, argv: readonly string[]): { status: number | null; ms: number } {
  const began = performance.now();
  const { status } = spawnSync(process.execPath, argv, {
    cwd: folder,
    env: plainEnv,
    stdio: "ignore",
  });

  return { status, ms: performance.now() - began };
}

async function measureStarts(folder: string, note: string | undefined): Promise<void> {
  const hasCli = existsSync(join(repository, "dist/cli.cjs"));
  const contenders = [
    { name: "bare", slice: () => start(folder, ["-e", "0"]).ms },
    { name: "version", slice: () => start(folder, [stub, "--version"]).ms },
    ...(hasCli
      ? [{ name: "status", slice: () => start(folder, [stub, "status", "--json"]).ms }]
      : []),
  ];
  const slices = await interleave(contenders, rounds);
  // A start is short and a neighbour only ever slows it, so the quick tenth tells more than the
  // middle.
  const quick = (name: string): number => quantile(slices[name] ?? [], 0.1);
  const over = (name: string): number => quick(name) - quick("bare");
  report("start_version", over("version"), `node -e 0 itself ${quick("bare").toFixed(1)} ms`);
  if (hasCli) report("start_status", over("status"), note);
}
