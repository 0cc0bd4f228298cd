// Whole calibration cycles on the command line: each verdict, each kind of lever, and what is
// refused.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot } from "../support/autopilot.ts";
import { aFew } from "../support/sampled.ts";
import { git, scratchFolder, write } from "../support/scratch-repository.ts";
import {
  beside,
  benchRepository,
  bugs,
  calibrate,
  cycleLog,
  eventsIn,
  leverPatch,
  put,
  started,
  startArgs,
} from "./bench.ts";

const tree = (folder: string): string => git(folder, "rev-parse", "HEAD^{tree}");

describe.concurrent("verdicts", () => {
  test("ship: the lever's commit stays, every event is there, and validate knows both files", async () => {
    const folder = benchRepository({ a: [1, 2], b: [1] });
    const patch = leverPatch(folder, { a: [1, 2, 3, 4], b: [1, 2, 3] });
    const { json, code } = await calibrate(
      folder,
      startArgs(["a", "b"], ["--patch", patch, "--jobs", "2"]),
    );
    expect(code).toBe(0);
    expect(json).toMatchObject({
      result: "PASS",
      reason_code: "calibration_ended",
      verdict: "ship",
      before: { a: 0.4, b: 0.2 },
      after: { a: 0.8, b: 0.6 },
    });

    expect(json["cross_benchmark_check"]).toEqual({ clean: true, regressions: [] });
    expect(git(folder, "log", "--format=%s")).toBe("calibrate: lever-1\nstart");
    expect(git(folder, "rev-parse", "HEAD")).toBe(json["commit"]);
    expect(readFileSync(join(folder, "finds/a"), "utf8")).toContain("BUG-004");
    expect(git(folder, "status", "--porcelain")).toBe('?? "Calibration Cycles/"');
    const names = eventsIn(folder);
    expect([...names.slice(0, 2), names.at(-1)]).toEqual(["_index", "cycle_start", "cycle_end"]);
    expect(names.indexOf("lever_change_applied")).toBe(6);
    expect(cycleLog(folder).find(({ event }) => event === "lever_change_applied")).toMatchObject({
      files_changed: ["finds/a", "finds/b"],
      lever_id: "lever-1",
    });

    expect(
      cycleLog(folder).find(
        ({ event, benchmark }) => event === "benchmark_end" && benchmark === "a",
      ),
    ).toMatchObject({
      recall: 0.4,
      bugs_found: ["BUG-001", "BUG-002"],
      bugs_missed: ["BUG-003", "BUG-004", "BUG-005"],
      historical_baseline_path: "benchmarks/a/BUGS.md",
      matches: [{ baseline: "BUG-001", found: "BUG-001", by: "id" }, { baseline: "BUG-002" }],
    });

    const judged = (await autopilot(folder, ["validate", "Calibration Cycles", "--json"])).json[
      "files"
    ];
    expect(judged).toMatchObject([
      { format: "calibration audit", valid: true, violations: [] },
      { format: "calibration run_state", valid: true, violations: [] },
    ]);

    expect((await calibrate(folder, ["list"])).json["cycles"]).toMatchObject([
      { cycle: "2026-05-15-try", verdict: "ship" },
    ]);

    expect(String((await calibrate(folder, ["report"])).json["audit"])).toContain(
      "| a | 0.4 | 0.8 |",
    );
  });

  test("revert: one of three fell although the mean rose, and the tree is exactly as before", async () => {
    const folder = benchRepository({ a: [1], b: [1], c: [1, 2, 3, 4] });
    const before = tree(folder);
    const patch = leverPatch(folder, { a: [1, 2, 3, 4, 5], b: [1, 2, 3, 4, 5], c: [2, 3, 4] });
    const { json } = await calibrate(
      folder,
      startArgs(["a", "b", "c"], ["--patch", patch, "--jobs", "3"]),
    );
    expect(json).toMatchObject({ verdict: "revert", delta: { a: 0.8, b: 0.8, c: -0.2 } });
    expect(json["cross_benchmark_check"]).toEqual({
      clean: false,
      regressions: [{ benchmark: "c", bug: "BUG-001" }],
    });

    expect(tree(folder)).toBe(before);
    expect(git(folder, "log", "--format=%s")).toBe(
      'Revert "calibrate: lever-1"\ncalibrate: lever-1\nstart',
    );

    expect(git(folder, "status", "--porcelain")).toBe('?? "Calibration Cycles/"');
    expect(eventsIn(folder).slice(-2)).toEqual(["lever_change_reverted", "cycle_end"]);
  });

  test("iterate within the noise, halt at the third time; an empty baseline and a failed benchmark are n/a and say why", async () => {
    const folder = benchRepository({ a: [1, 2], empty: [1], broken: [1] }, { empty: [] });
    rmSync(join(folder, "finds/broken"));
    git(folder, "commit", "-qam", "broken");
    const patch = leverPatch(folder, { a: [2, 3] });
    const first = await calibrate(folder, startArgs(["a", "empty", "broken"], ["--patch", patch]));
    expect(first.json).toMatchObject({
      verdict: "iterate",
      before: { a: 0.4, empty: null, broken: null },
      delta: { a: 0, empty: null, broken: null },
    });

    expect(first.json["cross_benchmark_check"]).toEqual({
      clean: false,
      regressions: [{ benchmark: "a", bug: "BUG-001" }],
    });

    const why = first.json["not_counted"] as Record<string, string>;
    expect(why["empty"]).toContain("names no bug");
    expect(why["broken"]).toContain("ended with code 1");
    expect(started(folder).filter((line) => line.startsWith("empty"))).toEqual([]);
    const again = leverPatch(folder, { a: [1, 2] }, "again.patch");
    const third = await calibrate(
      folder,
      startArgs(["a"], ["--patch", again, "--iteration", "3"]).with(2, "third"),
    );
    expect(third.json["verdict"]).toBe("halt-iterate-cap");
  });

  test("a metric that is better when lower, from a command that changes the tree; a NaN is n/a", async () => {
    const folder = benchRepository({ a: [1] });
    write(folder, { cost: "10\n" });
    git(folder, "add", "-A");
    git(folder, "commit", "-qm", "cost");
    const args = (more: readonly string[]) =>
      startArgs(["a"], ["--metric", "cost", "--better", "lower", ...more]);
    const { json } = await calibrate(folder, args(["--apply", "echo 7 > cost", "--repeat", "2"]));
    expect(json).toMatchObject({
      verdict: "ship",
      before: { a: 10 },
      after: { a: 7 },
      gain: { a: 0.3 },
      interval: { low: 0.3, high: 0.3 },
    });

    expect(started(folder)).toHaveLength(4);
    rmSync(join(folder, "benchmarks/a/BUGS.md"));
    git(folder, "commit", "-qam", "no list of bugs");
    const bare = await calibrate(folder, args(["--apply", "echo 9 > cost"]).with(2, "bare"));
    expect(bare.json).toMatchObject({ verdict: "revert", after: { a: 9 } });

    const { json: validated } = await autopilot(folder, [
      "validate",
      "Calibration Cycles/bare",
      "--json",
    ]);
    expect(validated).toMatchObject({
      result: "PASS",
      files: [{}, { violations: [{ rule: "RS-field", severity: "warning" }, {}] }],
    });

    const nan = await calibrate(folder, args(["--apply", "echo NaN > cost"]).with(2, "nan"));
    expect(nan.json).toMatchObject({ verdict: "iterate", after: { a: null } });
    expect((nan.json["not_counted"] as Record<string, string>)["a"]).toContain("no finite number");
    expect(git(folder, "show", "HEAD:cost")).toBe("NaN");
  });

  test("a commit as a lever, a git ref and a folder elsewhere as benchmarks", async () => {
    const folder = benchRepository({ old: [1], far: [1] });
    write(folder, { "quality/BUGS.md": bugs([1, 2]) });
    git(folder, "add", "-A");
    git(folder, "commit", "-qm", "v1");
    git(folder, "tag", "v1");
    git(folder, "switch", "-qc", "side");
    write(folder, { "finds/old": bugs([1, 2]), "finds/far": bugs([1, 2]) });
    git(folder, "commit", "-qam", "find two");
    git(folder, "switch", "-q", "main");
    const far = join(scratchFolder(), "far");
    write(far, { "BUGS.md": bugs([1, 2, 3]), "code.c": "int y;\n" });

    const args = [
      "start",
      "--name",
      "refs",
      "--lever",
      "l",
      "--hypothesis",
      "h",
      "--command",
      'sh "$CALIBRATION_ROOT/bench.sh"',
    ];

    const { json } = await calibrate(folder, [
      ...args,
      "--benchmarks",
      `old=v1,${far}`,
      "--commit",
      "side",
    ]);
    expect(json).toMatchObject({
      verdict: "ship",
      before: { old: 0.5, far: 0.333333333 },
      after: { old: 1, far: 0.666666667 },
    });
  });
});

describe.concurrent("a hung benchmark", () => {
  test("is ended with all it started and begun again; the cycle goes on", async () => {
    const folder = benchRepository({ a: [1] });
    put(folder, "hang-a-pre-lever");
    const { json } = await calibrate(
      folder,
      startArgs(["a"], ["--patch", leverPatch(folder, { a: [1, 2] }), "--hang-after", "8s"]),
    );
    expect(json["verdict"]).toBe("ship");
    expect(cycleLog(folder).filter(({ kind }) => kind === "hung").length).toBeGreaterThan(0);
    expect(started(folder).slice(0, 2)).toEqual(["a pre-lever 1", "a pre-lever 1"]);
  });
});

describe.concurrent("typed levers", () => {
  test("a limit, a model and a prompt are changes to the repository's own config and flows", async () => {
    const folder = benchRepository({ a: [1] });
    const args = (name: string, lever: string, to: string) =>
      startArgs(["a"], ["--to", to]).with(2, name).with(4, lever);
    expect(
      (await calibrate(folder, args("limit", "limit:max_total_retries_per_run", "1"))).json[
        "verdict"
      ],
    ).toBe("iterate");

    expect(git(folder, "show", "HEAD:.autopilot/config.yaml")).toContain(
      "max_total_retries_per_run: 1",
    );

    expect(
      (await calibrate(folder, args("model", "model:reviewer", "small"))).json["verdict"],
    ).toBe("iterate");

    expect(git(folder, "show", "HEAD:.autopilot/config.yaml")).toMatch(
      /like: claude\n\s+model: small[\s\S]*reviewer: claude-lever/,
    );

    writeFileSync(join(beside(folder), "prompt.md"), "Look harder. {goal}\n");
    expect(
      (await calibrate(folder, args("prompt", "prompt:quality/1-explore", "../prompt.md"))).json[
        "verdict"
      ],
    ).toBe("iterate");

    expect(git(folder, "show", "HEAD:.autopilot/flows/quality/prompts/1-explore.md")).toBe(
      "Look harder. {goal}",
    );

    expect(git(folder, "diff", "--name-only", "HEAD~1")).toContain(
      ".autopilot/flows/quality/flow.yaml",
    );

    const raised = await calibrate(folder, args("raised", "limit:max_total_retries_per_run", "50"));
    expect(raised.json).toMatchObject({ reason_code: "calibration_preflight_failed" });
    expect(raised.json.message).toContain("no effect");
  });
});

describe.concurrent("refused, with nothing changed", () => {
  const lever = ["--apply", "echo x > y"];
  const cases: readonly (readonly [
    string,
    (folder: string) => readonly string[],
    string,
    RegExp,
  ])[] = [
    [
      "a name with a slash",
      () => startArgs(["a"], lever).with(2, "a/b"),
      "calibration_input_invalid",
      /letters, digits/,
    ],
    [
      "a name that climbs",
      () => startArgs(["a"], lever).with(2, ".."),
      "calibration_input_invalid",
      /letters, digits/,
    ],
    [
      "no lever",
      () => startArgs(["a"], []),
      "calibration_input_invalid",
      /Nothing says what the lever/,
    ],
    [
      "two levers",
      () => startArgs(["a"], [...lever, "--commit", "HEAD"]),
      "calibration_input_invalid",
      /only one/,
    ],
    [
      "a noise floor that is none",
      () => startArgs(["a"], [...lever, "--noise-floor", "NaN"]),
      "calibration_input_invalid",
      /--noise-floor is NaN/,
    ],
    [
      "a fourth iteration",
      () => startArgs(["a"], [...lever, "--iteration", "4"]),
      "calibration_input_invalid",
      /expected 1 to 3/,
    ],
    [
      "the same name twice",
      () => startArgs(["a", "a"], lever),
      "calibration_input_invalid",
      /Two benchmarks are called a/,
    ],
    [
      "a benchmark that is not there",
      () => startArgs(["nowhere"], lever),
      "calibration_preflight_failed",
      /no benchmark folder and no commit called/,
    ],
    [
      "a lever that changes nothing",
      () => startArgs(["a"], ["--apply", "true"]),
      "calibration_preflight_failed",
      /changes nothing/,
    ],
    [
      "a lever whose command fails",
      () => startArgs(["a"], ["--apply", "echo no >&2; exit 3"]),
      "calibration_preflight_failed",
      /code 3: no/,
    ],
    [
      "a commit that is not there",
      () => startArgs(["a"], ["--commit", "feedface"]),
      "calibration_preflight_failed",
      /no commit feedface/,
    ],
    [
      "a patch that does not apply",
      (folder) => {
        writeFileSync(
          join(beside(folder), "bad.patch"),
          "--- a/finds/a\n+++ b/finds/a\n@@ -1 +1 @@\n-nothing like it\n+x\n",
        );

        return startArgs(["a"], ["--patch", "../bad.patch"]);
      },
      "calibration_preflight_failed",
      /does not apply/,
    ],
    [
      "a patch that reaches into git's own folder",
      (folder) => {
        const hook = [
          "diff --git a/.git/hooks/pre-commit b/.git/hooks/pre-commit",
          "new file mode 100755",
          "--- /dev/null",
        ];
        writeFileSync(
          join(beside(folder), "git.patch"),
          [...hook, "+++ b/.git/hooks/pre-commit", "@@ -0,0 +1 @@", "+x", ""].join("\n"),
        );

        return startArgs(["a"], ["--patch", "../git.patch"]);
      },
      "calibration_preflight_failed",
      /does not apply/,
    ],
    [
      "a patch that climbs out",
      (folder) => {
        const lines = [
          "diff --git a/../out b/../out",
          "new file mode 100644",
          "--- /dev/null",
          "+++ b/../out",
          "@@ -0,0 +1 @@",
          "+x",
          "",
        ];
        writeFileSync(join(beside(folder), "out.patch"), lines.join("\n"));
        return startArgs(["a"], ["--patch", "../out.patch"]);
      },
      "calibration_preflight_failed",
      /does not apply/,
    ],
    [
      "a missing baseline",
      (folder) => {
        git(folder, "rm", "-q", "benchmarks/a/BUGS.md");
        git(folder, "commit", "-qm", "no baseline");
        return startArgs(["a"], lever);
      },
      "calibration_preflight_failed",
      /has no baseline/,
    ],
    [
      "a dirty tree",
      (folder) => {
        write(folder, { "finds/a": "changed\n" });
        return startArgs(["a"], lever);
      },
      "calibration_preflight_failed",
      /uncommitted changes: finds\/a/,
    ],
  ];
  aFew(6).each(cases)("%s", async (_name, wordsOf, reason, message) => {
    const folder = benchRepository({ a: [1] });
    const args = wordsOf(folder);
    const [head, status] = [git(folder, "rev-parse", "HEAD"), git(folder, "status", "--porcelain")];
    const { json, code } = await calibrate(folder, args);
    expect(code).toBe(1);
    expect(json).toMatchObject({ result: "FAIL", reason_code: reason });
    expect(json.message).toMatch(message);
    expect(json.remediation.length).toBeGreaterThan(0);
    expect(git(folder, "rev-parse", "HEAD")).toBe(head);
    expect(git(folder, "status", "--porcelain").replace(/\n?\?\? "Calibration Cycles\/"/, "")).toBe(
      status,
    );

    expect(started(folder)).toEqual([]);
    if (reason !== "calibration_preflight_failed") return;
    expect(cycleLog(folder).at(-1)).toMatchObject({ event: "error", recoverable: false });
    expect(eventsIn(folder)).toEqual(["_index", "cycle_start", "error"]);
  });

  test("a failed pre-flight leaves the cycle open: fixed, it goes on", async () => {
    const folder = benchRepository({ a: [1] });
    const patch = leverPatch(folder, { a: [1, 2] });
    write(folder, { "bench.sh": "changed\n" });
    expect((await calibrate(folder, startArgs(["a"], ["--patch", patch]))).json.reason_code).toBe(
      "calibration_preflight_failed",
    );

    git(folder, "checkout", "-q", "--", ".");
    expect((await calibrate(folder, ["resume"])).json["verdict"]).toBe("ship");
    expect((await calibrate(folder, startArgs(["a"], ["--patch", patch]))).json.message).toContain(
      "already",
    );

    expect((await calibrate(folder, ["resume", "nobody"])).json.reason_code).toBe(
      "calibration_missing",
    );
  });
});

describe.concurrent("calibrate verdict", () => {
  test("the two public cycles from their numbers; bad files are named", async () => {
    const folder = benchRepository({ a: [1] });
    const file = (name: string, value: unknown): string => {
      writeFileSync(
        join(beside(folder), name),
        typeof value === "string" ? value : JSON.stringify(value),
      );

      return `../${name}`;
    };

    const verdict = (before: unknown, after: unknown) =>
      calibrate(folder, [
        "verdict",
        "--before",
        file("b.json", before),
        "--after",
        file("a.json", after),
      ]);
    expect((await verdict({ chi: 0.4 }, { chi: 0.8 })).json).toMatchObject({
      verdict: "ship",
      delta: { chi: 0.4 },
      cross_benchmark_check: { clean: true },
    });

    expect(
      (
        await verdict(
          { chi: 0.5, virtio: 0.8, express: null },
          { chi: 0.4, virtio: 0.8, express: null },
        )
      ).json,
    ).toMatchObject({
      verdict: "revert",
      delta: { chi: -0.1, virtio: 0, express: null },
      cross_benchmark_check: { clean: false, regressions: [{ benchmark: "chi", bug: null }] },
    });

    expect((await verdict("{", {})).json.message).toContain("b.json is not JSON");
    expect((await verdict({ chi: "many" }, {})).json.message).toContain('"chi" is "many"');
    expect(git(folder, "status", "--porcelain")).toBe("");
  });
});
