import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { TraceSpan } from "../../../contracts/roadmap-reports.ts";
import { clearRooms, room } from "./roadmap-room.test-support.ts";
import { openTraceFiles } from "./roadmap-traces.ts";
import { openGeneratedFiles } from "../../contract/generated-files.ts";

afterEach(clearRooms);

const span = (step: TraceSpan["step"]): TraceSpan => ({
  timestamp: "2026-05-05T10:10:10Z",
  phase_id: "1",
  step,
  action: "decision",
  input_summary: "",
  output_summary: step,
  duration_ms: 0,
  status: "success",
});

test("a second run leaves no step trace of the first: what it has not come to is moved to its folder, and other files stay", async () => {
  const here = room("run-2026-05-05-101010");
  const at = (name: string): string => `.planning/phases/1/${name}`;

  for (const name of ["research-trace.jsonl", "verify-trace.jsonl", "TRACE.jsonl", "RESEARCH.md"]) {
    here.write(at(name), "old\n");
  }

  const traces = openTraceFiles(here.root, openGeneratedFiles(here.root, here.folder));
  traces.add(span("verify"));
  await traces.write();
  expect(existsSync(join(here.root, at("research-trace.jsonl")))).toBe(false);
  expect(readFileSync(join(here.folder, "set-aside", at("research-trace.jsonl")), "utf8")).toBe(
    "old\n",
  );

  for (const name of ["verify-trace.jsonl", "TRACE.jsonl"]) {
    expect(readFileSync(join(here.root, at(name)), "utf8")).not.toContain("old");
  }

  expect(readFileSync(join(here.root, at("RESEARCH.md")), "utf8")).toBe("old\n");
  traces.add(span("research"));
  await traces.write();
  expect(readFileSync(join(here.root, at("research-trace.jsonl")), "utf8")).toContain(
    '"output_summary":"research"',
  );
});
