import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadCompletion, loadPhaseHistory } from "./completed-phases.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "autopilot-known-"));
  mkdirSync(join(folder, "archive"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const put = (path: string, phases: Readonly<Record<string, string>>): void =>
  writeFileSync(
    join(folder, path),
    JSON.stringify({
      phases: Object.fromEntries(Object.entries(phases).map(([key, status]) => [key, { status }])),
    }),
  );
const known = () => Object.fromEntries(loadCompletion({ folder }));

test("what was completed once, here or in the archive, is completed; what was begun and is not, is not", () => {
  put("state.json", { phase_3: "in_progress", "phase_2.1": "failed", phase_1: "failed" });
  put("archive/run-2026-01-01-000000.json", { phase_1: "completed", phase_03: "failed" });
  put("archive/metrics.json", { phase_9: "completed" });
  expect(known()).toEqual({ "1": true, "2.1": false, "3": false });
});

test("a phase that was only planned for is not known: its box decides", () => {
  put("state.json", { phase_4: "not_started", phase_5: "needs_human_verification" });
  expect(known()).toEqual({ "5": false });
});

test("where the state is damaged its backup counts; where both are, nothing is known", () => {
  writeFileSync(join(folder, "state.json"), "{");
  put("state.json.backup", { phase_1: "completed" });
  expect(known()).toEqual({ "1": true });
  writeFileSync(join(folder, "state.json.backup"), "[]");
  expect(known()).toEqual({});
});

test("by which runs a phase was completed, and what it was called the last time, where that is written down", () => {
  const state = (run: string, name?: string): string =>
    JSON.stringify({
      _meta: { run_id: run },
      phases: { phase_02: { status: "completed" } },
      event_log: [
        null,
        { event: "phase_completed", phase: "2", details: name === undefined ? {} : { name } },
      ],
    });
  writeFileSync(
    join(folder, "archive/run-2026-01-01-000000.json"),
    state("run-2026-01-01-000000", "Login"),
  );

  writeFileSync(join(folder, "archive/run-2026-01-02-000000.json"), state("run-2026-01-02-000000"));
  writeFileSync(join(folder, "state.json"), state("run-2026-01-03-000000", "Sign in"));
  expect(loadPhaseHistory({ folder }).get("2")).toEqual({
    isCompleted: true,
    runs: ["run-2026-01-01-000000", "run-2026-01-02-000000", "run-2026-01-03-000000"],
    name: "Sign in",
  });
});
