// The runner of a quality run is killed before one line of its journal after the other, and taken
// up again: the log comes to the same end.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { autopilot, eventsOf, journal, processesOf, scripted } from "../support/autopilot.ts";
import { git } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";
import { newestRun } from "../faults/small-run.ts";
import { callsOf } from "../faults/call-families.ts";
import { sampled, twoAtATime, whyNoStrace, withFault } from "../faults/under-strace.ts";
import { audit, history, inShort, left, log, logText, shop, turns } from "./audit.ts";
import { faultsIn, faultsInProgress } from "./seed-reader.ts";

/**
 * How many places: a sample in an everyday run of the suite, every one with AUTOPILOT_FAULTS=all.
 */
const placesMax = process.env["AUTOPILOT_FAULTS"] === "all" ? Number.POSITIVE_INFINITY : 2;
const ended = [
  "_index",
  "run_start",
  ...[1, 2, 3, 4, 5, 6].flatMap((phase) => [`start ${phase}`, `end ${phase}`]),
  "run_end success",
];

describe.skipIf(whyNoStrace !== "")(
  `kill -9 at the boundaries of a quality run${whyNoStrace}`,
  () => {
    longTest(
      "killed before any line of its journal, it ends with the same log, each phase started and ended once, in order",
      "test/quality/again.test.ts › killed with the work of a phase done: its phase_end is added and the next phase begins; the turn is not bought again",
      async () => {
        const undisturbed = shop();
        expect((await audit(undisturbed)).json).toMatchObject({
          result: "WARN",
          state: "completed",
        });

        const lines = journal(undisturbed).length;
        let fired = 0;
        const places = sampled(
          Array.from({ length: lines - 4 }, (_, n) => n + 2),
          placesMax,
        );
        await twoAtATime(
          places,
          (place) => `before write ${place} to the journal`,
          async (place) => {
            const folder = await killedBefore(place);
            if (folder === null) return;
            fired++;
            await recovered(folder);
            const shown = inShort(log(folder));
            expect(shown.filter((line) => !line.startsWith("error"))).toEqual(ended);
            expect(shown.filter((line) => line.endsWith("final"))).toEqual([]);
            expect(faultsIn(logText(folder), 2)).toEqual([]);
            expect(
              faultsInProgress(readFileSync(join(folder, "quality/PROGRESS.md"), "utf8")),
            ).toEqual([]);

            expect(history(folder)).toEqual([]);
            expect(git(folder, "rev-parse", "HEAD:quality")).toBe(
              git(undisturbed, "rev-parse", "HEAD:quality"),
            );

            expect(eventsOf(folder, "turn_ended").length).toBeLessThanOrEqual(
              Object.keys(left).length,
            );

            expect(processesOf(String(journal(folder)[0]?.["run_id"]), folder)).toEqual([]);
          },
        );

        expect(fired).toBeGreaterThanOrEqual(Math.min(placesMax, places.length) - 1); // the last places may be behind the end of a run with fewer writes
      },
      2 * 3_600_000,
    );
  },
);

/**
 * The journal's writes are counted by its path, which is known once there is a draft. Null if the
 * run came to its end first.
 */
async function killedBefore(at: number): Promise<string | null> {
  const folder = shop();
  const drafted = await autopilot(folder, [
    "start",
    "--flow",
    "quality",
    "--json",
    "--isolation",
    "clone",
    ...scripted(folder, turns()),
  ]);
  expect(drafted.code, drafted.out).toBe(0);
  const path = join(newestRun(folder), "journal.jsonl");

  for (const thread of ["main", "files"] as const) {
    const killed = await withFault(folder, ["go", "--yes", "--json"], {
      thread,
      calls: callsOf("write"),
      path,
      at,
      does: "signal=KILL",
    });
    if (killed.fired > 0) return folder;
    if (killed.json.state === "completed") return null;
  }

  return null;
}

async function recovered(folder: string): Promise<void> {
  for (let tries = 0; tries < 4; tries++) {
    const { json } = await autopilot(folder, ["status", "--json"]);
    if (json.state === "completed") return;
    await autopilot(
      folder,
      json.state === "draft" ? ["go", "--yes", "--json"] : ["resume", "--json"],
    );
  }

  throw new Error(
    `the run did not complete: ${(await autopilot(folder, ["status", "--json"])).out.slice(0, 400)}`,
  );
}
