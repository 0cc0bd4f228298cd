// Bounds that are enforced: no turn begins that could not be afforded, and what an agent does not
// tell is not free.

import { describe, expect, test } from "vitest";
import { autopilot, eventsOf, goScripted, type Reported, scripted } from "../support/autopilot.ts";
import { scratchCheckedOnce as scratch } from "../support/scratch-repository.ts";
import { aFew, longTest } from "../support/sampled.ts";

const promise = { say: "<promise>DONE</promise>" };
const makeB = { write: { path: "src/b.txt", text: "b\n" } };
const bExists = ["--done-criteria", "b is there :: test -f src/b.txt"];
const used = (input: number, output = 0) => ({ usage: { input, output } });
/** Turns that move the run on without finishing it, so that only the budget ends them. */
const busy = (...actions: readonly object[]) => ({
  do: [{ run: "date +%N >> src/notes.txt" }, ...actions],
  repeat: 0,
});
type Budget = {
  limits: Record<string, number>;
  counters: Record<string, number>;
  ratios: Record<string, number>;
  warnings: string[];
  estimated: number;
};
const budgetOf = async (folder: string): Promise<Budget> =>
  (await autopilot(folder, ["status", "--json"])).json["budget"] as Budget;

describe.concurrent("budget", () => {
  test("5,000 tokens and turns of 2,000: a third turn never begins; raised and resumed, it goes on", async () => {
    const folder = scratch({ files: { "src/a.txt": "a\n" } });
    const turns = [
      { ...busy(used(1500, 500)), repeat: 2 },
      { do: [makeB, used(1500, 500), promise] },
    ];

    const { code, json } = await goScripted(folder, turns, [
      ...bExists,
      "--max-budget",
      "tokens=5000",
    ]);
    expect(json).toMatchObject({
      result: "FAIL",
      reason_code: "budget_threshold_reached",
      state: "paused",
    });

    expect(code).toBe(1);
    expect(json.remediation.join(" ")).toContain("budget raise");
    expect(eventsOf(folder, "turn_ended")).toHaveLength(2);
    expect(await budgetOf(folder)).toMatchObject({
      limits: { tokens: 5000 },
      counters: { tokens: 4000, calls: 2 },
      estimated: 0,
    });

    const stubborn = await autopilot(folder, ["resume", "--json"]);
    expect(stubborn.json).toMatchObject({
      result: "FAIL",
      reason_code: "budget_threshold_reached",
      state: "paused",
    });

    expect(eventsOf(folder, "turn_ended")).toHaveLength(2);

    const raised = await autopilot(folder, [
      "budget",
      "raise",
      "tokens=+3k",
      "--reason",
      "one more",
      "--json",
    ]);
    expect(raised.json).toMatchObject({ result: "PASS", reason_code: "limit_raised" });
    expect(eventsOf(folder, "limit_raised")).toMatchObject([
      {
        dimension: "tokens",
        to: 8000,
        detail: "one more",
        actor: expect.stringMatching(/^operator:/) as string,
      },
    ]);

    const resumed = await autopilot(folder, ["resume", "--json"]);
    expect(resumed.json).toMatchObject({
      result: "PASS",
      reason_code: "completion_verified",
      state: "completed",
    });

    expect((await budgetOf(folder)).counters["tokens"]).toBe(6000);
  });

  test("301,000 of 10,000 tokens and a promise: kept and paused; raised and resumed, it is proved without another turn", async () => {
    const folder = scratch({ files: { "src/a.txt": "a\n" } });
    const turns = [{ do: [makeB, used(300_000, 1_000), promise] }];
    const { json } = await goScripted(folder, turns, [...bExists, "--max-budget", "tokens=10000"]);
    expect(json).toMatchObject({
      result: "FAIL",
      reason_code: "budget_threshold_reached",
      state: "paused",
    });

    expect(eventsOf(folder, "changes_applied")).toHaveLength(1);
    expect(eventsOf(folder, "step_interrupted")).toMatchObject([{ by: "budget" }]);
    const [hint = ""] = json.remediation;
    expect(hint).toMatch(/^autopilot budget raise tokens=\+\d+k && autopilot resume$/);

    const stubborn = await autopilot(folder, ["resume", "--json"]);
    expect(stubborn.json).toMatchObject({
      reason_code: "budget_threshold_reached",
      state: "paused",
    });

    await autopilot(folder, ["budget", "raise", hint.split(" ")[3] ?? "", "--json"]);
    const resumed = await autopilot(folder, ["resume", "--json"]);
    expect(resumed.json).toMatchObject({
      result: "PASS",
      reason_code: "completion_verified",
      state: "completed",
    });

    expect(eventsOf(folder, "turn_ended")).toHaveLength(1);
  });

  longTest(
    "a limit is raised, never lowered, and only to a number",
    "test/cli-lifecycle/looking.test.ts › budget shows limits and use; raise adds or sets, is journaled with actor and reason, and never lowers",
    async () => {
      const folder = scratch({ files: { "src/a.txt": "a\n" } });
      await goScripted(folder, [busy(used(4000))], [...bExists, "--max-budget", "tokens=5000"]);

      for (const args of [["tokens=100"], ["tokens=-5"], ["tokens=lots"], ["breath=5"]]) {
        const { code, json } = await autopilot(folder, ["budget", "raise", ...args, "--json"]);
        expect({ code, reason: json.reason_code }).toEqual({
          code: 1,
          reason: "objective_schema_invalid",
        });
      }

      expect((await budgetOf(folder)).limits["tokens"]).toBe(5000);
    },
  );

  test("unknown usage is charged at the estimate and marked so, never at zero", async () => {
    const folder = scratch({ files: { "src/a.txt": "a\n" } });
    const { json } = await goScripted(folder, [busy()], [...bExists, "--max-budget", "tokens=70k"]);
    expect(json).toMatchObject({ reason_code: "budget_threshold_reached", state: "paused" });
    const turns = eventsOf(folder, "turn_ended");
    expect(turns.map(({ usage }) => usage)).toMatchObject([
      { tokens: 30_000, source: "estimated" },
      { tokens: 30_000, source: "estimated" },
    ]);

    const budget = await budgetOf(folder);
    expect(budget).toMatchObject({ counters: { tokens: 60_000 }, estimated: 60_000 });
    expect(budget.warnings.join(" ")).toContain("estimated");
  });

  aFew(1).each([
    ["negative", { input: -5000, output: 10 }],
    ["zero", { input: 0, output: 0 }],
    ["absurd", { input: 1e300, output: 1 }],
  ])("%s usage is not believed", async (_what, usage) => {
    const folder = scratch({ files: { "src/a.txt": "a\n" } });
    await goScripted(folder, [busy({ usage })], [...bExists, "--max-cycles", "1"]);
    expect(eventsOf(folder, "turn_ended")).toMatchObject([
      { usage: { tokens: 30_000, source: "estimated" } },
    ]);
  });

  test("the calls limit ends a run of cheap turns", async () => {
    const folder = scratch({ files: { "src/a.txt": "a\n" } });
    const { json } = await goScripted(
      folder,
      [busy(used(10))],
      [...bExists, "--max-budget", "calls=2"],
    );
    expect(json).toMatchObject({ reason_code: "budget_threshold_reached", state: "paused" });
    expect(eventsOf(folder, "turn_ended")).toHaveLength(2);
  });

  test("the minutes limit cuts a turn that hangs, pauses, and its attempt is set aside", async () => {
    const turns = [{ do: [makeB, { ignore_term: true }, { hang: true }] }];
    const play = async (
      minutes: number,
    ): Promise<{ readonly folder: string; readonly json: Reported }> => {
      const folder = scratch({ files: { "src/a.txt": "a\n" } });
      const { json } = await goScripted(folder, turns, [
        ...bExists,
        "--max-budget",
        `minutes=${minutes}`,
      ]);

      const isAtWork = eventsOf(folder, "step_interrupted").length > 0; // a slow machine is given more time to begin
      return isAtWork || minutes > 5 ? { folder, json } : play(minutes * 4);
    };

    const { folder, json } = await play(0.1);
    expect(json).toMatchObject({
      result: "FAIL",
      reason_code: "budget_threshold_reached",
      state: "paused",
    });

    expect(eventsOf(folder, "step_interrupted")).toMatchObject([{ by: "budget" }]);
    expect(eventsOf(folder, "changes_applied")).toEqual([]);
    await autopilot(folder, ["budget", "raise", "minutes=10", "--json"]);
  });

  test("past the soft ratio status warns, and the run goes on", async () => {
    const folder = scratch({ files: { "src/a.txt": "a\n" } });
    const { json } = await goScripted(
      folder,
      [busy(used(4500))],
      [...bExists, "--max-budget", "tokens=10000", "--max-cycles", "2"],
    );
    expect(json).toMatchObject({ reason_code: "cycle_cap_reached", state: "running" });
    const budget = await budgetOf(folder);
    expect(budget.ratios["tokens"]).toBeCloseTo(0.9);
    expect(budget.warnings.join(" ")).toMatch(/tokens/);
  });

  test("profiles set the published format's limits", async () => {
    for (const [profile, limits] of [
      ["conservative", { tokens: 80_000, minutes: 15, calls: 80 }],
      ["extended", { tokens: 360_000, minutes: 60, calls: 360 }],
    ] as const) {
      const folder = scratch();
      const { json } = await autopilot(folder, [
        "start",
        "make b",
        "--max-budget",
        profile,
        "--agent",
        "scripted:../script.json",
        "--isolation",
        "clone",
        "--json",
      ]);
      expect(json.reason_code).toBe("script_invalid"); // nothing is written before everything is valid
      const draft = ["start", "make b", "--max-budget", profile, "--isolation", "clone", "--json"];
      await autopilot(folder, [...draft, ...scripted(folder, [{ do: [makeB, promise] }])]);
      expect((await budgetOf(folder)).limits).toEqual(limits);
    }
  });
});
