// A disk that is really full: a small one in memory, filled up by something else while a run works
// on it.

import { cpSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { autopilot } from "../support/autopilot.ts";
import { fill, mayMount, smallDisk, whyNoDisk } from "./small-disk.ts";
import {
  acknowledgedIn,
  entriesOf,
  expectKept,
  expectWhole,
  newestRun,
  objectiveArgs,
  recover,
  said,
  smallRepository,
} from "./small-run.ts";
import { isLong, sampled } from "../support/sampled.ts";

const diskMegabytes = 12;
/** What is left free when the run begins: from nothing at all to nearly enough. */
const freeKilobytes = sampled(2, [0, 24, 160, 480, 1100, 1300, 1600, 2200]);

test.skipIf(!mayMount)(
  `on a disk that is full a run pauses with disk_full, and completes when there is room again${whyNoDisk}`,
  async () => {
    let refusals = 0;
    let pauses = 0;

    for (const kilobytes of freeKilobytes) {
      const folder = onSmallDisk();
      expect((await autopilot(folder, ["start", ...objectiveArgs(folder), "--json"])).code).toBe(0);
      const ballast = fill(dirname(folder), kilobytes);
      const reported = await autopilot(folder, ["go", "--yes", "--json"]);
      if (reported.json.reason_code !== "completion_verified") {
        expect(reported.json, said(reported)).toMatchObject({
          reason_code: "disk_full",
          result: "FAIL",
        });

        expect(reported.code).toBe(1);
        expect(reported.err).not.toMatch(/^\s+at .*:\d+:\d+\)?$/m);
        refusals++;
      }

      if (entriesOf(newestRun(folder)).at(-1)?.event === "run_paused") pauses++;
      const before = acknowledgedIn(folder);
      rmSync(ballast);
      await recover(folder);
      expectKept(before, newestRun(folder));
      await expectWhole(folder);
    }

    expect(refusals, "the disk was full at least in half of the tries").toBeGreaterThanOrEqual(
      freeKilobytes.length / 2,
    );

    if (isLong) expect(pauses, "and the pause itself found room in some").toBeGreaterThan(0);
    process.stdout.write(
      `full disk: ${refusals} of ${freeKilobytes.length} tries, ${pauses} of them with the pause written down\n`,
    );
  },
);

function onSmallDisk(): string {
  const folder = join(smallDisk(diskMegabytes), "repo");
  mkdirSync(folder);
  cpSync(smallRepository(), folder, { recursive: true });

  return folder;
}
