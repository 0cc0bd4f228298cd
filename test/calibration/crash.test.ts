// A cycle that dies: after every line of its log, before every line, and by a real kill. What had
// finished is never run again.

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { driveCycle } from "../../src/calibration/bench/drive.ts";
import { type CycleLog, openLog } from "../../src/calibration/bench/log-file.ts";
import { openTrees } from "../../src/calibration/bench/trees.ts";
import { commandContext } from "../support/command-context.ts";
import { requireRepository } from "../../src/project/runs/require-repository.ts";
import { begin, until } from "../support/autopilot.ts";
import { git, write } from "../support/scratch-repository.ts";
import { aFew } from "../support/sampled.ts";
import {
  around,
  beside,
  benchRepository,
  calibrate,
  command,
  cycleLog,
  eventsIn,
  leverPatch,
  put,
  started,
  startArgs,
} from "./bench.ts";

const name = "crash";
class Died extends Error {}

/**
 * Drives the cycle in this process until it ends, or dies at the n-th line it writes: just before
 * it, or just after.
 */
async function drive(
  folder: string,
  diesAt: number,
  where: "before" | "after",
): Promise<"ended" | "died"> {
  const own = join(folder, ".autopilot", "calibrations", name);
  mkdirSync(own, { recursive: true });
  const repository = await requireRepository(folder);

  const context = commandContext({
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: beside(folder), BESIDE: beside(folder) },
    user: "tester",
  });

  const log = openLog(folder, name, {
    isNew: false,
    now: () => new Date().toISOString(),
    redact: (text) => text,
  });
  let lines = log.cycle.name === "" ? 0 : cycleLog(folder, name).length;

  const dying: CycleLog = {
    ...log,
    append: (event) => {
      lines += 1;
      if (lines === diesAt && where === "before") throw new Died();
      log.append(event);
      if (lines === diesAt) throw new Died();
    },
  };

  try {
    const trees = await openTrees(repository, name, join(own, "git"));
    if (log.cycle.name === "") begun(folder, log);
    lines = Math.max(lines, 2);

    const driven = await driveCycle({
      context,
      log: dying,
      trees,
      folder: own,
      jobs: 1,
      redact: (text) => text,
    });
    expect(driven.kind).toBe("ended");
    return "ended";
  } catch (error) {
    if (!(error instanceof Died)) throw error;
    return "died";
  } finally {
    log.close();
  }
}

function begun(folder: string, log: CycleLog): void {
  const benchmarks = ["a", "b"].map((one) => ({
    name: one,
    kind: "folder" as const,
    at: `benchmarks/${one}`,
    baseline: `benchmarks/${one}/BUGS.md`,
  }));

  log.append({
    event: "_index",
    schema_version: "1.5.6",
    event_types: [],
    cycle_name: name,
    lever_under_test: "l",
    benchmarks: ["a", "b"],
    iteration: 1,
  });

  log.append({
    event: "cycle_start",
    hypothesis: "h",
    noise_floor_threshold: 0.05,
    plan: {
      lever: { kind: "patch", source: join(beside(folder), "lever.patch") },
      description: "d",
      command,
      findings: null,
      target: { metric: "recall", better: "higher", relative: false },
      repeat: 1,
      jobs: 1,
      hang_ms: 60_000,
      seed: name,
      benchmarks,
    },
  });
}

const runs = ["a pre-lever 1", "b pre-lever 1", "a post-lever 1", "b post-lever 1"];
const shipped = [
  "_index",
  "cycle_start",
  ...["", "", "", ""].flatMap(() => ["benchmark_start", "benchmark_end"]),
]
  .toSpliced(6, 0, "lever_change_applied")
  .concat("cycle_end");
const reverted = shipped.toSpliced(-1, 0, "lever_change_reverted");
const cases = [
  ...shipped.flatMap((event, at) =>
    at < 2
      ? []
      : (["before", "after"] as const).map((where) => ({
          at: at + 1,
          where,
          event,
          verdict: "ship",
        })),
  ),
  ...reverted.flatMap((event, at) =>
    at < 11
      ? []
      : (["before", "after"] as const).map((where) => ({
          at: at + 1,
          where,
          event,
          verdict: "revert",
        })),
  ),
];

describe("a crash", () => {
  aFew(2).each(cases)(
    "just $where line $at ($event, $verdict): the same end, every benchmark run once",
    async ({ at, where, verdict }) => {
      const folder = benchRepository({ a: [1, 2], b: [1, 2] });
      leverPatch(
        folder,
        verdict === "ship" ? { a: [1, 2, 3], b: [1, 2, 3] } : { a: [1], b: [1, 2, 3] },
      );

      const before = git(folder, "rev-parse", "HEAD^{tree}");
      expect(await drive(folder, at, where)).toBe("died");
      expect(await drive(folder, -1, "after")).toBe("ended");
      expect(eventsIn(folder, name).filter((event) => event !== "error")).toEqual(
        verdict === "ship" ? shipped : reverted,
      );

      expect(cycleLog(folder, name).at(-1)).toMatchObject({ verdict });
      expect(started(folder)).toEqual(runs);
      const subjects = git(folder, "log", "--format=%s").split("\n");
      expect(subjects).toEqual(
        verdict === "ship"
          ? ["calibrate: l", "start"]
          : ['Revert "calibrate: l"', "calibrate: l", "start"],
      );

      if (verdict === "revert") expect(git(folder, "rev-parse", "HEAD^{tree}")).toBe(before);
    },
  );
});

describe("a kill -9 of the runner", () => {
  test("before its first line leaves no cycle: nothing is listed, and its name is free", async () => {
    const folder = benchRepository({ a: [1, 2] });
    const patch = leverPatch(folder, { a: [1, 2, 3] });
    write(folder, { "Calibration Cycles/2026-05-15-try/run_state.jsonl": '{"event":"_ind' });
    expect((await calibrate(folder, ["list"])).json["cycles"]).toEqual([]);
    expect((await calibrate(folder, ["resume"])).json).toMatchObject({
      reason_code: "calibration_missing",
    });

    expect((await calibrate(folder, startArgs(["a"], ["--patch", patch]))).json).toMatchObject({
      verdict: "ship",
    });

    expect(eventsIn(folder).slice(0, 2)).toEqual(["_index", "cycle_start"]);
  });

  test("leaves a cycle to its user alone: not to whoever clones the repository, nor to whoever writes its log over", async () => {
    const folder = benchRepository({ a: [1, 2] });
    const patch = leverPatch(folder, { a: [1, 2, 3] });
    put(folder, "slow", "1.5");

    const { child, ended } = begin(
      folder,
      ["calibrate", ...startArgs(["a"], ["--patch", patch])],
      around(folder),
    );

    await until("the first run", () => started(folder).includes("a pre-lever 1"));
    child.kill("SIGKILL");
    await ended;
    const path = "Calibration Cycles/2026-05-15-try/run_state.jsonl";
    const text = readFileSync(join(folder, path), "utf8");
    git(folder, "add", "-f", "-A");
    git(folder, "commit", "-q", "-m", "with a cycle");
    const clone = join(beside(folder), "clone");
    git(folder, "clone", "-q", folder, clone);
    expect((await calibrate(clone, ["resume"])).json).toMatchObject({
      result: "FAIL",
      reason_code: "run_foreign",
    });

    git(folder, "reset", "-q", "HEAD~1");
    const evil = text.replace(
      /"command":"(?:[^"\\]|\\.)*"/,
      `"command":"touch ${join(beside(folder), "evil")}"`,
    );
    expect(evil).not.toBe(text);
    write(folder, { [path]: evil });
    expect((await calibrate(folder, ["resume"])).json).toMatchObject({
      result: "FAIL",
      reason_code: "run_foreign",
    });

    expect(existsSync(join(beside(folder), "evil"))).toBe(false);
    write(folder, { [path]: text });
    expect((await calibrate(folder, ["resume"])).json, "as it was, it goes on").toMatchObject({
      verdict: "ship",
    });
  });

  aFew(1).each(["post-lever", "pre-lever"])(
    "while a benchmark works, %s: the benchmark goes on, resume takes its result",
    async (state) => {
      const folder = benchRepository({ a: [1, 2] });
      const patch = leverPatch(folder, { a: [1, 2, 3] });
      put(folder, "slow", "1.5");

      const { child, ended } = begin(
        folder,
        ["calibrate", ...startArgs(["a"], ["--patch", patch])],
        around(folder),
      );

      await until(`the ${state} run`, () => started(folder).includes(`a ${state} 1`));
      child.kill("SIGKILL");
      expect((await ended).signal).toBe("SIGKILL");
      if (state === "post-lever") await wait(3000); // it ends while nobody watches
      const { json } = await calibrate(folder, ["resume"]);
      expect(json).toMatchObject({ verdict: "ship", before: { a: 0.4 }, after: { a: 0.6 } });
      expect(started(folder)).toEqual(["a pre-lever 1", "a post-lever 1"]);
      expect(eventsIn(folder)).not.toContain("error");
    },
  );

  test("and of the benchmark with it: it is cleaned, started again, and the log says so", async () => {
    const folder = benchRepository({ a: [1, 2] });
    const patch = leverPatch(folder, { a: [1, 2, 3] });
    put(folder, "hang-a-pre-lever");

    const { child, ended } = begin(
      folder,
      ["calibrate", ...startArgs(["a"], ["--patch", patch])],
      around(folder),
    );

    await until("the run", () => started(folder).length === 1);
    const second = await calibrate(folder, startArgs(["a"], ["--patch", patch]).with(2, "second"));
    expect(second.json).toMatchObject({ reason_code: "calibration_busy" });
    child.kill("SIGINT"); // an interrupt ends the benchmark too
    expect((await ended).code).toBe(0);
    const { json } = await calibrate(folder, ["resume"]);
    expect(json["verdict"]).toBe("ship");
    expect(
      cycleLog(folder).filter(({ event, kind }) => event === "error" && kind === "interrupted"),
    ).toHaveLength(1);

    expect(started(folder)).toEqual(["a pre-lever 1", "a pre-lever 1", "a post-lever 1"]);
  });

  test("and the checkout on another branch then: nothing is put there; back on its own the lever is taken back, also under later work", async () => {
    const folder = benchRepository({ a: [1, 2] });
    const patch = leverPatch(folder, { a: [1] });
    const before = git(folder, "rev-parse", "HEAD^{tree}");
    put(folder, "hang-a-post-lever");

    const { child, ended } = begin(
      folder,
      ["calibrate", ...startArgs(["a"], ["--patch", patch])],
      around(folder),
    );

    await until("the run after the lever", () => started(folder).includes("a post-lever 1"));
    child.kill("SIGINT");
    await ended;
    git(folder, "switch", "-qc", "other", "HEAD~1");
    const elsewhere = await calibrate(folder, ["resume"]);
    expect(elsewhere.json).toMatchObject({ reason_code: "calibration_stopped" });
    expect(elsewhere.json.message).toContain("the cycle began on main");
    expect(elsewhere.json.remediation).toContain("git switch main");
    expect(git(folder, "log", "--format=%s", "other")).toBe("start");
    git(folder, "switch", "-q", "main");
    git(folder, "commit", "-q", "--allow-empty", "-m", "later work");
    const { json, err } = await calibrate(folder, ["resume"]);
    expect(json, err).toMatchObject({ verdict: "revert" });
    expect(git(folder, "rev-parse", "HEAD^{tree}")).toBe(before);
    expect(git(folder, "log", "--format=%s")).toBe(
      'Revert "calibrate: lever-1"\nlater work\ncalibrate: lever-1\nstart',
    );
  });
});
