// A step of which some documents are there was begun, whatever the state file says: the correction
// is journaled with both values.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import type { Flow } from "../../../contracts/flow.ts";
import type { CursorView, RunView } from "../../../core/state.ts";
import type { FunctionInput } from "../../../ports/functions.ts";
import { createSurveyProjectStep } from "./survey-project.ts";

const flow = parse(
  readFileSync(new URL("../../../flows/catalog/greenfield/flow.yaml", import.meta.url), "utf8"),
) as Flow;
const phases = ("read" in flow.phases ? [] : flow.phases).map(({ id, name }) => ({
  id,
  name,
  group: "phases",
}));
const architecture = "_docs/02_document/architecture.md";

/** What a run journals that finds step 3 in this state and these documents of it. */
async function differed(status: string, paths: readonly string[]) {
  const text = `# Autopilot State\n## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: ${status}\nsub_step: ${status === "in_progress" ? "4 — Architecture Review" : ""}\nretry_count: 0\n`;
  const state = {
    phases,
    proved: ["1", "2"],
    drafted: { flow, documents: [{ path: "_docs/_autopilot_state.md", hash: "h" }] },
  } as unknown as RunView;

  const workspace = { pathsAt: () => Promise.resolve(paths), textAt: () => Promise.resolve(null) };
  const survey = createSurveyProjectStep({
    workspace,
    readBlob: () => Buffer.from(text),
  } as unknown as Parameters<typeof createSurveyProjectStep>[0]);
  const result = await survey.perform({ state, commit: "c" } as unknown as FunctionInput<
    RunView,
    CursorView
  >);

  return result.differed ?? [];
}

test("step 3 has not started, and architecture.md is there: the folders hold", async () => {
  expect(await differed("not_started", [architecture])).toEqual([
    {
      path: "_docs/_autopilot_state.md",
      field: "Current Step",
      found: "greenfield step 3 Plan, not_started, retry_count 0",
      kept: "greenfield step 3 Plan, in_progress",
      because: `${architecture} is there, _docs/01_solution/solution.md is not, so step 3 was begun`,
    },
  ]);
});

test("where the file says that it is in progress, or nothing of it is there, nothing is corrected", async () => {
  expect(await differed("in_progress", [architecture])).toEqual([]);
  expect(await differed("in_progress", [])).toEqual([]);
  expect(await differed("not_started", [])).toEqual([]);
});
