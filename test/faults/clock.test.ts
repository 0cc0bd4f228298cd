// The wall clock is somebody else's: it may jump, also backwards, between two openings of a run.

import { resolve } from "node:path";
import { expect } from "vitest";
import { verifyJournal } from "../../src/journal/read.ts";
import { autopilot, begin, until } from "../support/autopilot.ts";
import { aFew } from "../support/sampled.ts";
import {
  acknowledgedIn,
  entriesOf,
  expectKept,
  expectWhole,
  goArgs,
  newestRun,
  said,
  smallRepository,
} from "./small-run.ts";

const day = 86_400_000;
const shifted = (byMs: number): Record<string, string> => ({
  NODE_OPTIONS: `--require=${JSON.stringify(resolve(import.meta.dirname, "../fixtures/faults/shifted-clock.cjs"))}`,
  CLOCK_SHIFT_MS: String(byMs),
});

aFew(1).each([
  ["back by three days", 3 * day, 0],
  ["back by ten years", 3_650 * day, 0],
  ["forward by ten years", 0, 3_650 * day],
])(
  "a wall clock set %s between two openings breaks neither chain nor budget, and the run completes",
  async (_words, firstMs, secondMs) => {
    const folder = smallRepository();
    const first = begin(folder, goArgs(folder), { env: shifted(firstMs) });
    await until("the first cycle is at work", () =>
      entriesOf(newestRun(folder)).some(({ event }) => event === "session_opened"),
    );

    first.child.kill("SIGKILL");
    expect((await first.ended).signal).toBe("SIGKILL");

    const before = acknowledgedIn(folder);
    const reported = await autopilot(folder, ["resume", "--json"], { env: shifted(secondMs) });
    expect(reported.json, said(reported)).toMatchObject({
      result: "PASS",
      reason_code: "completion_verified",
    });

    expectKept(before, newestRun(folder));
    await expectWhole(folder);

    const entries = entriesOf(newestRun(folder));
    const years = new Set(entries.map((entry) => String(entry["ts"]).slice(0, 10)));
    expect(years.size, "the clock did jump").toBe(2);
    const active = entries.map((entry) => Number(entry["active_ms"]));
    expect(
      active.every((ms, n) => ms >= (active[n - 1] ?? 0)),
      "active time never falls",
    ).toBe(true);

    expect(active.at(-1), "nor does it jump with the wall clock").toBeLessThan(day);
    expect(verifyJournal(newestRun(folder)).ok).toBe(true);

    const status = await autopilot(folder, ["status", "--json"]);
    const { counters } = status.json["budget"] as {
      readonly counters: { readonly minutes: number };
    };
    expect(counters.minutes).toBeGreaterThanOrEqual(0);
    expect(counters.minutes).toBeLessThan(60);
  },
);
