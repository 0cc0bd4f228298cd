import { describe, expect, test } from "vitest";
import { runStates } from "../contracts/objective.ts";
import { hash, opened, runDrafted, started, Tape } from "../../test/simulation/support/tape.ts";
import { flowNamed } from "../../test/simulation/support/flows.ts";
import type { Draft } from "../contracts/event.ts";
import { statesAllowing, isTransition, findCommandRefusal } from "./transitions.ts";

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

describe("and commands are possible where their transition is", () => {
  const cases = {
    go: ["draft", "paused", "running"],
    resume: ["paused"],
    pause: ["running"],
    stop: ["running", "paused"],
    ack: ["draft"],
    raise: ["running", "paused"],
    answer: ["running", "paused"],
  } as const;
  for (const [command, from] of Object.entries(cases) as [
    keyof typeof cases,
    readonly string[],
  ][]) {
    test(command, () => {
      expect([...statesAllowing(command)].toSorted()).toEqual([...from].toSorted());
      for (const status of runStates) {
        const refusal = findCommandRefusal(command, status);
        expect(refusal === null).toBe(from.includes(status));

        if (refusal !== null) {
          expect(refusal).toEqual({
            reason_code: "invalid_state_transition",
            allowed_from: statesAllowing(command),
          });
        }
      }
    });
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
