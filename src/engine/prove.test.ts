import { expect, test } from "vitest";
import type { Flow } from "../contracts/flow.ts";
import type { Draft } from "../contracts/event.ts";
import { Cancel } from "./cancel.ts";
import { fillPhaseFolder, fillPath, fillGate, recordIfProved } from "./prove.ts";
import type { StepExecution } from "./step-execution.ts";

const flow: Flow = { flow: "tried", version: 1, phases: [] };
const kept: Flow = { ...flow, phase_dir: "docs/{phase}/notes" };

test("a phase's documents lie where its flow says, and in .planning/phases/<id> where it says nothing", () => {
  expect(fillPhaseFolder(flow, "2.1")).toBe(".planning/phases/2.1");
  expect(fillPhaseFolder(kept, "2.1")).toBe("docs/2.1/notes");
});

test("phase_dir, phase and task are put into a path, and into every text of an artifact rule", () => {
  expect(fillPath(kept, "{phase_dir}/{task}-{phase}.md", "3", "a")).toBe("docs/3/notes/a-3.md");
  expect(
    fillGate(
      flow,
      { if: { file: "{phase_dir}/PLAN.md" }, all: [{ command: "look {phase}" }] },
      "3",
    ),
  ).toEqual({
    if: { file: ".planning/phases/3/PLAN.md" },
    all: [{ command: "look 3" }],
  });
});

test("a step whose proof fails is recorded with the reason that the proof gave", async () => {
  const attempt = "1@1/work#1";
  const run = {
    drafted: {
      flow: { phases: [{ id: "1", steps: [{ id: "work", run: "work", proof: ["written"] }] }] },
    },
    phases: [{ id: "1", group: "phases" }],
    cursors: { "1": { path: "1", kind: "phase", phase: "1", seen: {} } },
    open: { [attempt]: { attempt, cursor: "1", step: "work", paths: [] } },
    tip: { commit: "t" },
  };

  const recorded: Draft[] = [];
  const record = (...events: readonly Draft[]): Promise<void> =>
    Promise.resolve(void recorded.push(...events));

  const recordFailing = (reason: string | undefined): Promise<void> => {
    const prove = () => Promise.resolve({ ok: false, facts: {}, detail: "is empty", reason });
    const runtime = { functions: { proof: { written: { version: 1, prove } } } };

    const execution = {
      attempt,
      cancel: new Cancel(),
      runtime,
      run: () => run,
      record,
    } as unknown as StepExecution;
    return recordIfProved(execution, { attempt, facts: {} });
  };
  await recordFailing("return_invalid");
  await recordFailing(undefined);
  expect(recorded).toMatchObject([
    { event: "step_failed", detail: "written: is empty", reason_code: "return_invalid" },
    { event: "step_failed", detail: "written: is empty", reason_code: "proof_missing" },
  ]);
});
