// A run that ended in failure goes on only if a person says so.

import { expect, test } from "vitest";
import { autopilot, eventsOf, journal } from "../support/autopilot.ts";
import { scratch, write } from "../support/scratch-repository.ts";
import { env, projectOf, walk as walked } from "./roadmaps.ts";

test("a failed run is retried by resume alone, once for each", async () => {
  const folder = scratch({ files: projectOf([{ id: "1" }]) });
  write(folder, { "README.md": "# changed and not committed\n" }); // fails its phase before a turn is bought
  const failed = await walked(folder, ["1"], []);
  expect(failed.json.reason_code).toBe("phase_failed");
  const before = journal(folder).length;

  for (const args of [[], ["go"], ["roadmap"]]) {
    const { code, json } = await autopilot(folder, [...args, "--json"], { env });
    expect({ words: args, code, reason: json.reason_code }).toEqual({
      words: args,
      code: 1,
      reason: "phase_failed",
    });

    expect(json.remediation.join("\n")).toContain("autopilot resume");
  }

  expect(journal(folder)).toHaveLength(before);
  for (const times of [1, 2]) {
    await autopilot(folder, ["resume", "--now", "--json"], { env });
    expect(eventsOf(folder, "phase_reopened").filter(({ walk }) => walk === "1")).toHaveLength(
      times,
    );
  }
});

test("another tool's failed run is left alone by go and roadmap", async () => {
  const folder = scratch({ files: projectOf([{ id: "1" }]) });
  const at = "2026-02-09T14:00:00Z";

  const meta = {
    version: "1.0",
    run_id: "run-2026-02-09-140000",
    started_at: at,
    last_checkpoint: at,
    status: "failed",
    current_phase: "1",
  };

  write(folder, { ".autopilot/state.json": JSON.stringify({ _meta: meta, phases: {} }) });
  for (const args of [[], ["go"], ["roadmap"]]) {
    const { code, json } = await autopilot(folder, [...args, "--json"], { env });
    expect({ words: args, code, reason: json.reason_code }, json.message).toEqual({
      words: args,
      code: 1,
      reason: "phase_failed",
    });
  }
});
