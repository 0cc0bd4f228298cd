import { describe, expect, test } from "vitest";
import { runStates, type RunStatus, runTransitions } from "../contracts/objective.ts";
import { hash, opened, runDrafted, started, Tape } from "../../test/simulation/support/tape.ts";
import { flowNamed } from "../../test/simulation/support/flows.ts";
import type { Draft } from "../contracts/event.ts";

const isTransition = (from: RunStatus, to: RunStatus): boolean =>
  runTransitions.some(([source, target]) => source === from && target === to);

describe("a run goes from one state to another in six ways", () => {
  const allowed = [
    "draft running",
    "running paused",
    "paused running",
    "running stopped",
    "paused stopped",
    "running completed",
  ];

  for (const from of runStates) {
    for (const to of runStates) {
      test(`${from} to ${to}`, () =>
        expect(isTransition(from, to)).toBe(allowed.includes(`${from} ${to}`)));
    }
  }
});

describe("the fold refuses every other change as corruption", () => {
  const events: Readonly<
    Record<string, (from: "draft" | "running" | "paused" | "stopped" | "completed") => Draft>
  > = {
    running: (from_state) =>
      from_state === "draft"
        ? { event: "run_started", ack: hash, from_state, to_state: "running" }
        : { event: "run_resumed", request: "r", from_state, to_state: "running" },
    paused: (from_state) => ({ event: "run_paused", from_state, to_state: "paused" }),
    stopped: (from_state) => ({ event: "run_stopped", from_state, to_state: "stopped" }),
  };

  const at = (status: string): Tape => {
    const tape = new Tape().append(runDrafted(flowNamed("notes")));
    if (status === "draft") return tape;
    tape.append(started, opened());

    if (status === "paused") {
      tape.append({ event: "run_paused", from_state: "running", to_state: "paused" });
    }

    if (status === "stopped") {
      tape.append({ event: "run_stopped", from_state: "running", to_state: "stopped" });
    }

    return tape;
  };

  for (const from of ["draft", "running", "paused", "stopped"] as const) {
    for (const [to, event] of Object.entries(events)) {
      test(`${from} to ${to}`, () => {
        const change = (): Tape => at(from).append(event(from));
        if (isTransition(from, to as "paused")) expect(change().run.status).toBe(to);
        else expect(change).toThrow("F1");
      });
    }
  }
});
