// The table of runs says what each run proved.

import { expect, test } from "vitest";
import { type RunRow, runsPage } from "./runs-page.ts";

const row: RunRow = {
  run_id: "run-2026-01-01-120000",
  state: "completed",
  live: false,
  current: true,
  foreign: false,
  flow: "objective",
  goal: "add f",
  verdict: "verified",
  tokens: 900,
  usd: 0,
  updated_at: "2026-01-01T12:00:00.000Z",
  disk_bytes: 2_000,
};

test("each run with its verdict, and a tick only for what was proved", () => {
  const runs = [
    row,
    { ...row, verdict: "unverified" },
    { ...row, verdict: "verified_with_gaps" },
    { ...row, state: "paused", verdict: null },
  ];
  const page = runsPage(runs, "2026-01-01T12:05:00.000Z", false).slice(0, 5);
  expect(page[0]).toMatch(/RUN +STATE +VERDICT +AGE/);
  expect(
    page.slice(1).map((line) => [line[0], /(?:completed|paused) +(with gaps|\S+)/.exec(line)?.[1]]),
  ).toEqual([
    ["!", "-"],
    ["!", "with gaps"],
    ["!", "unverified"],
    ["✓", "verified"],
  ]);
});
