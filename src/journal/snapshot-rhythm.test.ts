import { describe, expect, test } from "vitest";
import { openSnapshotRhythm } from "./snapshot-rhythm.ts";

/** How often a snapshot is asked for by each number of events, and then by the end. */
async function countTaken(appended: readonly number[], isTaken = true): Promise<number> {
  let asked = 0;
  const rhythm = openSnapshotRhythm(() => {
    asked += 1;
    return Promise.resolve(isTaken);
  });

  for (const events of appended) await rhythm.beforeAppend(events);
  await rhythm.atEnd();
  return asked;
}

describe("a snapshot is taken", () => {
  test.each([
    { what: "never of a short run", appended: [499], times: 0 },
    { what: "at the end of 500 events", appended: [499, 1], times: 1 },
    { what: "before the line after 10 000 events", appended: [10_000, 1], times: 1 },
    { what: "both, of a long run", appended: [10_000, 500], times: 2 },
    { what: "every 10 000 events", appended: [10_000, 10_000, 10_000, 1], times: 3 },
  ])("$what", async ({ appended, times }) => {
    expect(await countTaken(appended)).toBe(times);
  });

  test("again after 100 events if it was refused, not at each of them", async () => {
    expect(await countTaken([10_000, ...Array<number>(101).fill(1)], false)).toBe(3);
  });
});
