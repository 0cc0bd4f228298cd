// Kill -9 in the middle of a staged project: nothing that was paid for is bought again, and the
// state file tells the truth afterwards.

import { describe, expect, test } from "vitest";
import {
  autopilot,
  eventsOf,
  gateBeside,
  journal,
  processesOf,
  until,
} from "../support/autopilot.ts";
import { git, scratch } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";
import {
  beginStaged,
  commit,
  draft,
  greenfield,
  plan,
  problem,
  rows,
  stateOf,
  tasksOf,
  type Turn,
} from "./project.ts";

/** The turn does its work, and does not end before the gate is open. */
const held = (turn: Turn, gate: { readonly waits: object }): Turn => ({
  ...turn,
  do: [...turn.do, gate.waits],
});

describe.concurrent("kill -9", () => {
  longTest(
    "while a batch is built: the batches that were committed stay, only what was in flight is done again",
    "test/staged/interrupted.test.ts › while a document is written: the step is in progress, and is taken up at its sub-step",
    async () => {
      const folder = scratch();
      commit(folder, { ...problem, ...draft, ...plan, ...tasksOf(rows) });
      const gate = gateBeside(folder);
      const turns = greenfield.map((turn) =>
        JSON.stringify(turn.when).includes('"task":"03') ? held(turn, gate) : turn,
      );

      const { child, ended } = beginStaged(folder, "greenfield", turns);
      await until("the second batch", () =>
        eventsOf(folder, "session_opened").some(({ attempt }) =>
          String(attempt).includes("/03_orders"),
        ),
      );

      child.kill("SIGKILL");
      await ended;
      gate.open();
      const paid = eventsOf(folder, "turn_ended").length;
      expect(stateOf(folder).current).toMatchObject({
        step: 6,
        name: "Implement",
        status: "in_progress",
      });

      const { json, err } = await autopilot(folder, ["go", "--json"]);
      expect(err).toContain("Flow greenfield, step 6 of 10: Implement (in progress");
      expect(json).toMatchObject({ state: "completed" });
      const turnsOf = (task: string): number =>
        eventsOf(folder, "turn_ended").filter(({ attempt }) =>
          String(attempt).includes(`/${task}@`),
        ).length;

      expect(rows.map(({ id }) => turnsOf(id))).toEqual([1, 1, 1]);
      expect(paid).toBeGreaterThan(0);
      const batches = git(folder, "log", "--format=%s")
        .split("\n")
        .filter((subject) => subject.startsWith("Batch "));
      expect(batches.toSorted()).toEqual([
        "Batch 01 of step 6: 01_layout",
        "Batch 02 of step 6: 02_store, 03_orders",
      ]);

      expect(stateOf(folder).current).toMatchObject({ step: "done" });
      expect(processesOf(String(json.run_id), folder)).toEqual([]);
    },
  );

  test("while a document is written: the step is in progress, and is taken up at its sub-step", async () => {
    const folder = scratch();
    commit(folder, { ...problem, ...draft });
    const gate = gateBeside(folder);
    const turns = greenfield.map((turn) =>
      JSON.stringify(turn.when) === '{"phase":"3","step":"do"}' ? held(turn, gate) : turn,
    );

    const { child, ended } = beginStaged(folder, "greenfield", turns, [
      "--option",
      "research=decided",
    ]);

    await until("the Plan turn", () => stateOf(folder).current?.sub_step === "1 — do" || null);
    child.kill("SIGKILL");
    await ended;
    gate.open();
    expect(stateOf(folder).current).toMatchObject({
      step: 3,
      status: "in_progress",
      sub_step: "1 — do",
      retry_count: 0,
    });

    const { json } = await autopilot(folder, ["resume", "--json"]);
    expect(json).toMatchObject({ reason_code: "session_boundary" });
    expect(stateOf(folder)).toMatchObject({ current: { step: 6 }, retry_log: [] }); // a crash isn't a failure of the step
    expect(
      journal(folder).filter(
        ({ event, attempt }) => event === "turn_ended" && attempt === "3@1/do#1",
      ),
    ).toHaveLength(1);
  });
});
