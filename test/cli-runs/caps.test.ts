// Caps of a flow: one phase that uses up its own is halted and opens the breaker, a run that uses
// up its own is ended; a person raises them.

import { describe, expect, test } from "vitest";
import { autopilot, eventsOf, goScripted } from "../support/autopilot.ts";
import { scratchCheckedOnce as scratch, write } from "../support/scratch-repository.ts";

const flow = (limits: string): string => `flow: rounds
version: 1
about: Works in rounds until the file is there.
limits: ${limits}
counts:
  again: { at_most: 9, per: phase, spent: { end: failed, because: outcome } }
phases:
  - id: make
    steps:
      - { id: work, agent: executor, prompt: work.md }
      - { id: prove, check: ["test -f src/b.txt"], otherwise: [{ go: work, count: again }] }
after:
  - id: land
    steps: [{ id: merge, run: land }]
`;

function place(limits: string): string {
  const folder = scratch({ files: { "src/a.txt": "a\n" } });
  write(folder, {
    ".autopilot/flows/rounds/flow.yaml": flow(limits),
    ".autopilot/flows/rounds/prompts/work.md": "Work on: {goal}\n",
  });

  return folder;
}
const used = { usage: { input: 2000, output: 0 } };
const busy = { do: [{ run: "date +%N >> src/notes.txt" }, used] };
const done = { do: [{ write: { path: "src/b.txt", text: "b\n" } }, used] };
const turns = [busy, busy, done];
const args = ["--flow", "rounds"];

describe.concurrent("caps", () => {
  test("a phase that used up its tokens is halted and the breaker opens; more of them, and it goes on without waiting", async () => {
    const folder = place("{ run: { tokens: 1000000 }, phase: { tokens: 5000 } }");
    const { json } = await goScripted(folder, turns, args);
    expect(json).toMatchObject({
      result: "FAIL",
      reason_code: "phase_cap_reached",
      state: "paused",
    });

    expect(json.message).toContain("Tokens of this phase");
    expect(eventsOf(folder, "turn_ended")).toHaveLength(2);
    expect(eventsOf(folder, "circuit_breaker_opened")).toMatchObject([
      { because: "phase_cap", reason_code: "phase_cap_reached" },
    ]);

    const stubborn = await autopilot(folder, ["resume", "--json"]);
    expect(stubborn.json).toMatchObject({
      result: "FAIL",
      reason_code: "phase_cap_reached",
      state: "paused",
    });

    expect(stubborn.json.remediation.join(" ")).toContain("budget raise phase.tokens");
    expect(eventsOf(folder, "turn_ended")).toHaveLength(2);

    const raised = await autopilot(folder, ["budget", "raise", "phase.tokens=+3k", "--json"]);
    expect(raised.json).toMatchObject({ result: "PASS", reason_code: "limit_raised" });
    expect(eventsOf(folder, "limit_raised")).toMatchObject([
      { scope: "phase", dimension: "tokens", to: 8000 },
    ]);

    const resumed = await autopilot(folder, ["resume", "--json"]);
    expect(resumed.json).toMatchObject({ state: "completed" });
    expect(eventsOf(folder, "circuit_breaker_closed")).toHaveLength(1);
  });

  test("a run that used up its cap is ended under a reason of its own, and a person may still give it more", async () => {
    const folder = place("{ run: { tokens: 5000 } }");
    const { json } = await goScripted(folder, turns, args);
    expect(json).toMatchObject({ result: "FAIL", reason_code: "run_cap_reached", state: "paused" });
    expect(eventsOf(folder, "turn_ended")).toHaveLength(2);
    expect(eventsOf(folder, "circuit_breaker_opened")).toEqual([]);
    await autopilot(folder, ["budget", "raise", "tokens=+3k", "--json"]);
    expect((await autopilot(folder, ["resume", "--json"])).json).toMatchObject({
      state: "completed",
    });
  });

  test("a budget that was given for the run keeps its own reason, whatever the flow allows", async () => {
    const folder = place("{ run: { tokens: 1000000 } }");
    const { json } = await goScripted(folder, turns, [...args, "--max-budget", "tokens=5000"]);
    expect(json).toMatchObject({
      result: "FAIL",
      reason_code: "budget_threshold_reached",
      state: "paused",
    });
  });

  test("what a phase may use is raised only where it is limited, and never lowered", async () => {
    const folder = place("{ run: { tokens: 1000000 }, phase: { tokens: 5000 } }");
    await goScripted(folder, turns, args);

    for (const [word, why] of [
      ["phase.tokens=100", /stands at 5000/],
      ["phase.usd=+5", /no such limit to raise/],
      ["phase.retries=+5", /is not a limit/],
      ["phase.breath=5", /is not a limit/],
    ] as const) {
      const { code, json } = await autopilot(folder, ["budget", "raise", word, "--json"]);
      expect({ code, reason: json.reason_code }).toEqual({
        code: 1,
        reason: "objective_schema_invalid",
      });

      expect(json.message).toMatch(why);
    }

    expect(eventsOf(folder, "limit_raised")).toEqual([]);
  });
});
