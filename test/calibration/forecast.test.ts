// What a run will use, forecast from the journals of earlier runs, and shown before the next one
// begins.

import { expect, test } from "vitest";
import { autopilot, goScripted, goArgs } from "../support/autopilot.ts";
import { git, scratchCheckedOnce as scratch } from "../support/scratch-repository.ts";

const turn = (name: string, tokens: number) => [
  {
    do: [
      { write: { path: `src/${name}.txt`, text: "b\n" } },
      { usage: { input: tokens, output: 0 } },
      { say: "done <promise>DONE</promise>" },
    ],
  },
];

test("after three runs of a flow the next is forecast from them, and the record says how that went", async () => {
  const folder = scratch();
  const early = await autopilot(folder, ["estimate", "--flow", "objective", "--json"]);
  expect(early.json).toMatchObject({ result: "WARN", forecast: null, record: null, runs: 0 });
  expect(
    early.json["constants"],
    "the flow's own figures and its limits speak meanwhile",
  ).toMatchObject({
    limits: { tokens: 180_000, minutes: 30 },
  });

  for (const [at, tokens] of [1000, 1200, 1400, 1300].entries()) {
    const { json } = await goScripted(folder, turn(`f${at}`, tokens), [
      "--done-criteria",
      `f${at} :: test -f src/f${at}.txt`,
    ]);
    expect(json.state).toBe("completed");
  }

  const { json, out } = await autopilot(folder, ["estimate", "--flow", "objective", "--json"]);
  expect(json["forecast"]).toMatchObject({ samples: 4, success: 0.8333333333333334 });
  expect(json["record"]).toMatchObject({ forecasts: 1, within_p90: 1, within_p50: 0 });
  expect(out).not.toContain("NaN");
  const page = (await autopilot(folder, ["estimate", "--flow", "objective"])).out;
  expect(page).toMatch(/tokens: [\d,]+ likely, at most [\d,]+ in 9 of 10/);
  expect(page).toContain("Record: 100 % of 1 past case stayed within the 9-of-10 figure");
  const args = goArgs(folder, turn("next", 1), [
    "--done-criteria",
    "x :: test -f src/x.txt",
  ]).filter((word) => word !== "--yes" && word !== "--json");
  expect((await autopilot(folder, args)).out).toContain(
    "4 earlier objective runs with the same agent; 83 % succeed",
  );

  expect(
    (await autopilot(folder, ["estimate", "--flow", "nothing", "--json"])).json.reason_code,
  ).toBe("usage");

  expect(git(folder, "status", "--porcelain")).toBe("");
});

test("the trend names what changed between runs, on one screen", async () => {
  const folder = scratch();
  expect((await autopilot(folder, ["runs", "--trend", "--json"])).json).toMatchObject({
    reason_code: "run_missing",
  });

  for (const [at, tokens] of [1000, 1700].entries()) {
    await goScripted(folder, turn(`f${at}`, tokens), [
      "--done-criteria",
      `f${at} :: test -f src/f${at}.txt`,
    ]);
  }

  const { json } = await autopilot(folder, ["runs", "--trend", "--json"]);
  expect(json).toMatchObject({
    flow: "objective",
    trend: {
      latest: {
        tokens: 700,
        changed: [expect.stringMatching(/^agent scripted \w+, was scripted \w+$/) as string],
      },
      historical: { total_runs: 2, success_rate: 1, tokens: { min: 1000, max: 1700, avg: 1350 } },
    },
  });

  const { out } = await autopilot(folder, ["runs", "--trend"]);
  expect(out).toMatch(/✓ +run-\S+ +verified +1\.7k .*agent scripted/);
  expect(out.split("\n").length).toBeLessThanOrEqual(34);
  expect(
    (await autopilot(folder, ["runs", "--flow", "objektive", "--json"])).json.message,
  ).toContain("objective");
});
