// What a run of one trivial turn costs in a repository of 20,000 files and 200 MB, beside one of three files, and beside the same work with
// no promise at all.

import { join } from "node:path";
import { bytesBelow, lastTurnOwnMs, openRuns } from "./one-turn.ts";
import { makeLargeRepository } from "./large-repository.ts";
import { isQuick, median, report, withFolder } from "./measure.ts";

const rounds = isQuick ? 2 : 5;
const large = { files: 20_000, bytes: 200_000_000 };

await withFolder(async (folder) => {
  const root = join(folder, "large");
  const small = join(folder, "small");
  makeLargeRepository(root, large);
  makeLargeRepository(small, { files: 3, bytes: 300 });
  const runs = openRuns(folder);
  const cold = runs.loop(root).worktreeSeconds;
  runs.run(small); // its self-tests and base
  const first = runs.run(root).seconds;
  report("large_first", first / (1.5 * cold + 4), `${first.toFixed(1)} s, a worktree of it ${cold.toFixed(1)} s`);

  const spent = { small: [] as number[], large: [] as number[], loop: [] as number[], bare: [] as number[], turn: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    spent.small.push(runs.run(small).seconds);
    spent.large.push(runs.run(root).seconds);
    spent.loop.push(runs.loop(root).seconds);
    spent.bare.push(runs.loop(small).seconds);
    spent.turn.push(lastTurnOwnMs(runs.run(root, 2).runDir) / 1000);
  }
  const ratio = (over: readonly number[], under: readonly number[]): number => median(over.map((value, at) => value / (under[at] ?? 1)));
  report("large_again", median(spent.large), `in all, agent and checks included; the small one ${median(spent.small).toFixed(2)} s`);
  report("large_ratio", ratio(spent.large, spent.small));
  report("loop_ratio", ratio(spent.large, spent.loop), `the loop ${median(spent.loop).toFixed(2)} s`);
  report(
    "small_overhead",
    median(spent.small.map((value, at) => value - (spent.bare[at] ?? 0))),
    "over a worktree, a bare agent and a bare check",
  );
  report("turn_second", median(spent.turn));
  const last = runs.run(root);
  report("large_memory", last.peakMb);
  const checkout = bytesBelow(join(root, "packages"));
  report(
    "large_disk",
    bytesBelow(runs.cache) / checkout,
    `the cache after ${2 * rounds + 2} runs; a checkout has ${Math.round(checkout / 1e6)} MB`,
  );
  const left = ["layers", "checks", "worlds", "apart", "trash", "rules"].map((name) => bytesBelow(join(last.runDir, name)));
  report("run_left", left.reduce((sum, bytes) => sum + bytes, 0) / 1e6);
});
