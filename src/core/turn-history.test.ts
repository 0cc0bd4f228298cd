import { expect, test } from "vitest";
import type { Draft } from "../contracts/event.ts";
import type { Flow } from "../contracts/flow.ts";
import { begun, opened, type Tape, turnEnded, usage } from "../../test/simulation/support/tape.ts";
import { buildTurnHistory } from "./turn-history.ts";

const flow: Flow = {
  flow: "tried",
  version: 1,
  phases: [
    {
      id: "1",
      steps: [
        {
          id: "all",
          tasks: {
            read: "plan",
            parallel: 3,
            each: [{ id: "do", agent: "worker", prompt: "w.md" }],
          },
        },
      ],
    },
  ],
};
const path = (task: string): string => `1@1/all#1/${task}`;
const attempt = (task: string): string => `${path(task)}@1/do#1`;
const began = (task: string): Draft => ({
  event: "step_started",
  walk: path(task),
  step: "do",
  attempt: attempt(task),
  kind: "agent",
  try: 1,
});
const askedAgain = (task: string, ask: number): Draft => ({
  event: "return_asked_again",
  attempt: attempt(task),
  ask,
  errors: ["no"],
});
const ended = (task: string): Draft => turnEnded(attempt(task), usage(1));
const cut = (task: string, by: "operator" | "scope"): Draft => ({
  event: "step_interrupted",
  attempt: attempt(task),
  by,
});

function story(...drafts: readonly Draft[]): Tape {
  const waves = [["a", "b", "c"].map((id) => ({ id, files: [id], after: [] }))];
  return begun(flow).append(
    { event: "phase_started", walk: "1" },
    { event: "step_started", walk: "1", step: "all", attempt: "1@1/all#1", kind: "tasks", try: 1 },
    { event: "tasks_read", attempt: "1@1/all#1", waves, left: [] },
    ...drafts,
  );
}
const of = (tape: Tape, task: string, ask = 1): string[] =>
  buildTurnHistory(tape.run, attempt(task), ask).history.map((turn) => `${turn.task} ${turn.ask}`);

test("a turn is told who it is", () => {
  expect(buildTurnHistory(story(began("a")).run, attempt("a")).facts).toEqual({
    flow: "tried",
    phase: "1",
    step: "do",
    role: "worker",
    task: "a",
    attempt: 1,
    ask: 1,
  });
});
test("side by side, each sees those that began before it, ended or not", () => {
  const tape = story(began("a"), began("b"), ended("b"), began("c"));
  expect([of(tape, "a"), of(tape, "b"), of(tape, "c")]).toEqual([[], ["a 1"], ["a 1", "b 1"]]);
});
test("asks are listed one by one, and within a turn its own before this one", () => {
  const tape = story(began("a"), askedAgain("a", 2), askedAgain("a", 3), ended("a"), began("b"));
  expect(of(tape, "b")).toEqual(["a 1", "a 2", "a 3"]);
  expect(of(tape, "b", 3)).toEqual(["a 1", "a 2", "a 3", "b 1", "b 2"]);
});
test("a turn cut short keeps its place and is played again in it", () => {
  const tape = story(
    began("a"),
    began("b"),
    askedAgain("a", 2),
    cut("a", "operator"),
    ended("b"),
    began("a"),
  );
  expect(of(tape, "a")).toEqual([]);
  expect(of(tape, "b")).toEqual(["a 1"]);
});
test("a turn that a crash cut short keeps it too", () => {
  const doubt = {
    kind: "agent",
    stage: "started",
    layer: "dirty",
    done: false,
    proof: false,
    often: false,
  } as const;

  const tape = story(
    began("a"),
    began("b"),
    opened(2),
    { event: "attempt_settled", attempt: attempt("a"), doubt, remedy: "repeat", why: "half done" },
    began("c"),
  );
  expect([of(tape, "a"), of(tape, "c")]).toEqual([[], ["a 1", "b 1"]]);
});
test("a turn that ended has used its place, even if nothing of it was kept", () => {
  const tape = story(began("a"), ended("a"), cut("a", "scope"), began("b"), began("a"));
  expect(of(tape, "a")).toEqual(["a 1", "b 1"]);
});
