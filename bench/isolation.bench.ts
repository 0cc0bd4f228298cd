// What a box costs: the start of a command that does nothing in the strongest level that holds
// here, over the same command bare.

import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "../src/workspace/isolation/confinement.ts";
import { createBwrapIsolation } from "../src/workspace/isolation/bwrap.ts";
import { createOverlayIsolation } from "../src/workspace/isolation/overlay.ts";
import { interleave, isQuick, quantile, report, withFolder } from "./measure.ts";

const rounds = isQuick ? 15 : 60;

await withFolder(async (folder) => {
  const layer = join(folder, "layer");
  mkdirSync(join(folder, "home"));
  mkdirSync(layer);
  writeFileSync(join(layer, "file"), "here\n");
  const place = { hidden: [folder], runDir: folder };

  const command: Command = {
    argv: ["/bin/true"],
    cwd: layer,
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
    writable: [layer],
    network: "off",
    writes: "apart",
  };
  const isolation = [createOverlayIsolation(place), createBwrapIsolation(place)].find(
    (candidate) => start(candidate.wrap(command)) !== null,
  );
  if (isolation === undefined) throw new Error("no box can be made here (bubblewrap is needed)");
  const bare = (): number =>
    start({ argv: command.argv, env: command.env, cwd: layer }) ?? Number.NaN;

  const boxed = (): number => {
    const began = performance.now();
    start(isolation.wrap(command));
    return performance.now() - began;
  };

  const slices = await interleave(
    [
      { name: "bare", slice: bare },
      { name: "boxed", slice: boxed },
    ],
    rounds,
  );

  await isolation.collect(layer);
  // A start is short and a neighbour only ever slows it, so the quick tenth tells more than the
  // middle.
  const quick = (name: string): number => quantile(slices[name] ?? [], 0.1);
  report(
    "isolation_start",
    quick("boxed") - quick("bare"),
    `${isolation.level}; the command itself ${quick("bare").toFixed(1)} ms`,
  );
});

/** Milliseconds; null if it did not start. */
function start(wrapped: {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}): number | null {
  const [program = "", ...args] = wrapped.argv;
  const began = performance.now();

  const { status } = spawnSync(program, args, {
    cwd: wrapped.cwd,
    env: wrapped.env,
    stdio: "ignore",
  });
  return status === 0 ? performance.now() - began : null;
}
