// The same at 100,000 files and 1.5 GB, beside 20,000 files of the same size each: a run must not
// cost what the repository is large.

import { join } from "node:path";
import { makeLargeRepository } from "./large-repository.ts";
import { isQuick, median, report, withFolder } from "./measure.ts";
import { openRuns, wholeTreeGitSeconds } from "./one-turn.ts";

if (!isQuick) {
  await withFolder(async (folder) => {
    const runs = openRuns(folder);
    const [huge, large] = [join(folder, "huge"), join(folder, "large")];
    makeLargeRepository(huge, { files: 100_000, bytes: 1_500_000_000 });
    makeLargeRepository(large, { files: 20_000, bytes: 200_000_000 });
    for (const root of [large, huge]) runs.run(root);
    const ratios: number[] = [];
    const computing: number[] = [];
    const peaks: number[] = [];
    const overGit: number[] = [];

    for (let round = 0; round < 3; round += 1) {
      const [less, more] = [runs.run(large), runs.run(huge)];
      ratios.push(more.seconds / less.seconds);
      overGit.push(
        (more.seconds - less.seconds) / (wholeTreeGitSeconds(huge) - wholeTreeGitSeconds(large)),
      );

      computing.push(more.computing / less.computing);
      peaks.push(more.peakMb);
    }

    report("huge_ratio", median(ratios), `in computing time ${median(computing).toFixed(2)}`);
    report(
      "huge_git",
      median(overGit),
      "two looks at the checkout, one list of the tree, one landing",
    );

    report("huge_memory", Math.max(...peaks));
  });
}
