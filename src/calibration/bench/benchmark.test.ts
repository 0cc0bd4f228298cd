// A benchmark that ended while nobody looked: its own log says how.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parseBugs } from "../cycle/bugs.ts";
import { type BenchmarkContext, readRunState, runBenchmark, runFolder } from "./benchmark.ts";

const room = mkdtempSync(join(tmpdir(), "autopilot-ended-"));
afterAll(() => rmSync(room, { recursive: true, force: true }));

const list = "### BUG-001: a bug\n";
const key = { benchmark: "a", lever_state: "pre-lever", repeat: 1 } as const;

test.each([
  ["success", { kind: "measured", recalled: { recall: 1 } }],
  ["failed", { kind: "failed", why: "its run ended failed" }],
  ["aborted", { kind: "failed", why: "its run ended aborted" }],
])("a quality run that ended with %s", async (status, outcome) => {
  const folder = join(room, status);
  const own = runFolder(folder, key);
  mkdirSync(join(own, "work/quality"), { recursive: true });
  writeFileSync(join(own, "work/quality/BUGS.md"), list);
  writeFileSync(
    join(own, "work/quality/run_state.jsonl"),
    `{"event":"run_start"}\n{"event":"run_end","status":"${status}"}\n`,
  );

  writeFileSync(join(own, "stdout.log"), "the key is s3cret\n");
  expect(readRunState(own)).toBe("ended");

  const input = {
    trees: { repository: { root: "/nowhere" } },
    plan: {
      command: null,
      findings: null,
      hang_ms: 1000,
      target: { metric: "recall", better: "higher", relative: false },
      benchmarks: [{ name: "a", kind: "folder", at: "a", baseline: "a/BUGS.md" }],
    },
    folder,
    cycle: "c",
    env: {},
    interrupted: new AbortController().signal,
    redact: (text: string) => text.replace("s3cret", "***"),
    baselineOf: () => parseBugs(list),
  } as unknown as BenchmarkContext;
  expect(await runBenchmark(input, { key, commit: "commit", isFresh: false })).toMatchObject(
    outcome,
  );

  expect(readFileSync(join(own, "stdout.log"), "utf8")).toBe("the key is ***\n");
});
