import { expect, test } from "vitest";
import type { Draft } from "../contracts/event.ts";
import type { FunctionResult } from "../ports/functions.ts";
import { Cancel } from "./cancel.ts";
import { runFunctionStep } from "./function-step.ts";
import { Cancelled, type StepExecution } from "./step-execution.ts";

const attempt = "1@1/land#1";
const applied = { commit: "c", parent: "p", tree: "t", paths: ["a"], notApplied: 0 };
const difference = { path: "a", field: "f", found: "x", kept: "y", because: "z" };

/** Runs a function that ends after its step was cancelled; returns what is recorded. */
async function runCancelled(result: Partial<FunctionResult>): Promise<readonly string[]> {
  const cancel = new Cancel();
  const step = { id: "land", run: "land" };

  const run = {
    drafted: { flow: { phases: [{ id: "1", steps: [step] }] } },
    phases: [{ id: "1", group: "phases" }],
    cursors: { "1": { path: "1", kind: "phase", phase: "1", seen: {} } },
    open: { [attempt]: { attempt, cursor: "1", step: "land" } },
    tip: { commit: "t" },
  };

  const perform = (): Promise<FunctionResult> => {
    cancel.abort("operator");
    return Promise.resolve({ ok: true, facts: {}, ...result });
  };

  const recorded: string[] = [];
  const note = (...events: readonly Draft[]): Promise<void> => {
    recorded.push(...events.map(({ event }) => event));
    return Promise.resolve();
  };

  const refuse = (): Promise<void> => Promise.reject(new Cancelled());
  const runtime = { functions: { run: { land: { version: 1, effect: "idempotent", perform } } } };

  const execution = {
    attempt,
    cancel,
    runtime,
    run: () => run,
    record: refuse,
    recordDone: note,
  } as unknown as StepExecution;
  await runFunctionStep(execution);
  return recorded;
}

test("what changed something outside the run is recorded whole, although the step was cancelled meanwhile", async () => {
  expect(await runCancelled({ stands: true, applied, differed: [difference] })).toEqual([
    "changes_applied",
    "document_differed",
    "step_completed",
  ]);
});

test("any other result of a cancelled step is dropped", async () => {
  await expect(runCancelled({ applied })).rejects.toThrow(Cancelled);
});
