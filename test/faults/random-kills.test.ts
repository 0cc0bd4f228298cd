// Everything a run has started is killed at once at random moments, again and again, until the run
// is through.

import { basename } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { autopilot, begin } from "../support/autopilot.ts";
import { chanceOf } from "../simulation/chance.ts";
import { git } from "../support/scratch-repository.ts";
import { killTree } from "./process-tree.ts";
import {
  acknowledgedIn,
  expectKept,
  expectSame,
  goArgs,
  keptIfWrong,
  newestRun,
  recover,
  said,
  smallRepository,
  type Story,
  storyOf,
  wayOn,
} from "./small-run.ts";

const killsMax = process.env["AUTOPILOT_FAULTS"] === "all" ? 300 : 2;
const livesMax = 80;
const seed = Number(process.env["AUTOPILOT_SEED"] ?? Date.now() % 1_000_000);

test.skipIf(process.platform !== "linux")(
  `killed with everything it started at random moments, ${killsMax} times over, a run loses nothing acknowledged and ends verified, landed once (linux only: processes are found by /proc)`,
  { timeout: 3_600_000 },
  async () => {
    const chance = chanceOf(seed);
    const { story, tookMs } = await undisturbed();
    const tally = { kills: 0, runs: 0, processes: 0 };
    while (tally.kills < killsMax) {
      tally.runs++;
      const folder = smallRepository();
      await keptIfWrong(folder, async () => {
        const before = await liveAndDie(folder);
        await recover(folder);
        await expectSame(folder, story, before);
      });
    }

    expect(tally.kills).toBeGreaterThanOrEqual(killsMax);
    process.stdout.write(
      `random kills: seed ${seed}, ${tally.kills} kills of ${tally.processes} processes in ${tally.runs} runs\n`,
    );

    async function liveAndDie(folder: string): Promise<ReturnType<typeof acknowledgedIn>> {
      for (let lives = 0; lives < livesMax && tally.kills < killsMax; lives++) {
        const status = await autopilot(folder, ["status", "--json"]);
        expect(status.code, said(status)).toBe(0);
        if (status.json.state === "completed") break;
        const before = acknowledgedIn(folder);
        const life = begin(folder, wayOn(folder, String(status.json.state)));
        const isOver = await Promise.race([
          life.ended.then(() => true),
          wait(tookMs * (0.02 + 0.005 * chance.below(100)), false),
        ]);
        if (!isOver) {
          const processes = killTree(life.child.pid ?? 0, basename(newestRun(folder)), folder);
          // A life may end by itself at the very moment of the kill: that kill has not fired, and
          // does not count.
          if ((await life.ended).signal === "SIGKILL") {
            tally.kills++;
            tally.processes += processes;
          }
        }

        expectKept(before, newestRun(folder));
      }

      return acknowledgedIn(folder);
    }
  },
);

async function undisturbed(): Promise<{ readonly story: Story; readonly tookMs: number }> {
  const folder = smallRepository();
  const began = performance.now();
  expect((await autopilot(folder, goArgs(folder))).json).toMatchObject({
    reason_code: "completion_verified",
  });

  expect(git(folder, "rev-list", "--count", "main")).toBe("3");
  return { story: storyOf(folder), tookMs: performance.now() - began };
}
