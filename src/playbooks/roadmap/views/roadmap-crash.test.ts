// What state.json's log reports of crashes and of the file itself.

import { expect, test } from "vitest";
import { flowNamed } from "../../../../test/simulation/support/flows.ts";
import { begun, opened } from "../../../../test/simulation/support/tape.ts";
import { buildRoadmapState } from "./roadmap-state.ts";

const log = (tape: ReturnType<typeof begun>) =>
  buildRoadmapState(tape.run, tape.entries).event_log.map(({ event, details }) => [
    event,
    details["reason"],
  ]);

test("a run opened again without having been resumed says that it crashed", () => {
  const tape = begun(flowNamed("roadmap"));
  expect(log(tape)).toEqual([["run_started", undefined]]);
  tape.append(opened(2));
  expect(log(tape).at(-1)).toEqual(["run_resumed", "crashed"]);
  tape.append({
    event: "run_paused",
    from_state: "running",
    to_state: "paused",
    reason_code: "operator_paused",
  });

  tape.append({
    event: "run_resumed",
    request: "r",
    from_state: "paused",
    to_state: "running",
    reason_code: "operator_resumed",
  });

  tape.append(opened(3));
  expect(log(tape).slice(2)).toEqual([["run_resumed", "operator_resumed"]]);
});

test("a state.json that had to be rebuilt leaves a line", () => {
  const tape = begun(flowNamed("roadmap"));
  const reported = {
    field: "the whole file",
    found: "line 1: not JSON",
    kept: "the journal",
    because: "the journal is the truth",
  };

  tape.append({ event: "document_differed", path: ".autopilot/state.json", ...reported });
  tape.append({ event: "document_differed", path: "_docs/_autopilot_state.md", ...reported });
  expect(log(tape).slice(1)).toEqual([["checkpoint_written", "state_rebuilt"]]);
});
