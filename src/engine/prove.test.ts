import { expect, test } from "vitest";
import type { Flow } from "../contracts/flow.ts";
import { fillPhaseFolder, fillPath, fillGate } from "./prove.ts";

const flow: Flow = { flow: "tried", version: 1, phases: [] };
const kept: Flow = { ...flow, phase_dir: "docs/{phase}/notes" };

test("a phase's documents lie where its flow says, and in .planning/phases/<id> where it says nothing", () => {
  expect(fillPhaseFolder(flow, "2.1")).toBe(".planning/phases/2.1");
  expect(fillPhaseFolder(kept, "2.1")).toBe("docs/2.1/notes");
});

test("phase_dir, phase and task are put into a path, and into every text of an artifact rule", () => {
  expect(fillPath(kept, "{phase_dir}/{task}-{phase}.md", "3", "a")).toBe("docs/3/notes/a-3.md");
  expect(fillGate(flow, { if: { file: "{phase_dir}/PLAN.md" }, all: [{ command: "look {phase}" }] }, "3")).toEqual({
    if: { file: ".planning/phases/3/PLAN.md" },
    all: [{ command: "look 3" }],
  });
});
