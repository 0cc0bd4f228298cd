// What a run of one trivial turn costs in a repository of 20,000 files and 200 MB, beside one of
// three files, and beside the same work with no promise at all.

import { execFileSync } from "node:child_process";
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
  report(
    "large_first",
    first / (1.5 * cold + 4),
    `${first.toFixed(1)} s, a worktree of it ${cold.toFixed(1)} s`,
  );

  const names = ["small", "large", "loop", "overhead", "turn", "computing"] as const;
  const spent = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<
    (typeof names)[number],
    number[]
  >;

  for (let round = 0; round < rounds; round += 1) {
    const [less, more, bare] = [runs.run(small), runs.run(root), runs.loop(small)];
    spent.small.push(less.seconds);
    spent.large.push(more.seconds);
    spent.computing.push(more.computing / less.computing);
    spent.overhead.push(
      less.seconds - bare.agentSeconds - less.checkStarts.length * bare.checkSeconds,
    );

    spent.loop.push(runs.loop(root).seconds);
    spent.turn.push(lastTurnOwnMs(runs.run(root, 2), bare.checkSeconds * 1000) / 1000);
  }

  const ratio = (over: readonly number[], under: readonly number[]): number =>
    median(over.map((value, at) => value / (under[at] ?? 1)));
  report(
    "large_again",
    median(spent.large),
    `in all, agent and checks included; the small one ${median(spent.small).toFixed(2)} s`,
  );

  report(
    "large_ratio",
    ratio(spent.large, spent.small),
    `in computing time ${median(spent.computing).toFixed(2)}`,
  );

  report(
    "loop_ratio",
    ratio(spent.large, spent.loop),
    `the loop ${median(spent.loop).toFixed(2)} s`,
  );

  report(
    "small_overhead",
    median(spent.overhead),
    "the whole run less a bare agent, and less a bare check as often as the check was run",
  );

  report("turn_second", median(spent.turn));
  const last = runs.run(root);
  report("large_memory", last.peakMb);
  const clone = join(folder, "clone");
  execFileSync("git", ["clone", "-q", "--depth", "20", `file://${root}`, clone]);
  const [cache, checkout] = [bytesBelow(runs.cache), bytesBelow(join(root, "packages"))];
  report(
    "large_disk",
    cache / bytesBelow(clone),
    `the cache after ${2 * rounds + 2} runs; its files alone ${Math.round(checkout / 1e6)} MB, of which it is ${(cache / checkout).toFixed(2)} times`,
  );

  const left = ["layers", "checks", "worlds", "apart", "trash", "rules"].map((name) =>
    bytesBelow(join(last.runDir, name)),
  );
  report("run_left", left.reduce((sum, bytes) => sum + bytes, 0) / 1e6);
});
