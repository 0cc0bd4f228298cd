// Experiments in fresh copies of a commit: what they see, what they answer, and that nothing of them stays.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import type { Clock } from "../../src/ports/clock.ts";
import { runExperiment } from "../../src/verify/experiment.ts";
import type { OpenParts } from "../../src/verify/parts.ts";
import { type Bench, openBench } from "../workspace/bench-repository.ts";

const clock: Clock = {
  now: () => "2026-01-01T00:00:00.000Z",
  monotonicMs: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});

const parts = (more: Partial<OpenParts> = {}): OpenParts => ({
  workspace: bench.workspace,
  putBlob: () => Promise.reject(new Error("an experiment keeps no evidence")),
  isolation: "none",
  product: "autopilot test",
  timeoutMs: 60_000,
  clock,
  verdicts: null,
  ...more,
});
const cancel = new AbortController().signal;

test("a file has the text it was given, a new one is there with its folder, one that was taken away is not", async () => {
  const { commit } = await bench.workspace.tip();
  const replaced = [
    { path: "src/a.ts", text: "changed\n" },
    { path: "new/deep/file.txt", text: "new\n" },
    { path: "src/b.ts", text: null },
  ];
  const command = "cat src/a.ts new/deep/file.txt && test ! -e src/b.ts && exit 3";
  const result = await runExperiment(parts(), { commit, replaced, command, cancel });
  expect([result.status, result.exitCode, result.output.head.toString()]).toEqual(["failed", 3, "changed\nnew\n"]);
});

test("the next experiment sees nothing of the one before, and nothing stays of either", async () => {
  const { commit } = await bench.workspace.tip();
  const first = await runExperiment(parts(), { commit, replaced: [], command: "echo left > left && echo spoiled > src/a.ts", cancel });
  expect(first.status).toBe("passed");
  const second = await runExperiment(parts(), { commit, replaced: [], command: "test ! -e left && cat src/a.ts", cancel });
  expect([second.status, second.output.head.toString()]).toEqual(["passed", "export const a = 1;\n"]);
  const checks = join(bench.runDir, "checks");
  expect(existsSync(checks) ? readdirSync(checks) : []).toEqual([]);
});

test("what cannot be restored is the answer, and the command is not run", async () => {
  const { commit } = await bench.workspace.tip();
  const restore = { id: "r", kind: "restore", title: "r", command: "exit 9", source: "test" } as const;
  const result = await runExperiment(parts({ restores: [restore] }), { commit, replaced: [], command: "exit 0", cancel });
  expect([result.status, result.exitCode]).toEqual(["failed", 9]);
});

test("one that was called off says so and leaves nothing", async () => {
  const { commit } = await bench.workspace.tip();
  const off = AbortSignal.abort();
  expect((await runExperiment(parts(), { commit, replaced: [], command: "exit 0", cancel: off })).status).toBe("cancelled");
  expect(readdirSync(join(bench.runDir, "checks"))).toEqual([]);
});
