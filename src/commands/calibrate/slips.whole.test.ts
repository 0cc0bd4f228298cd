// What goes wrong with a cycle besides its figures: things in the way, slips in flags, lists that
// were never written, a cycle at work.

import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { nodeDisk } from "../../journal/disk.ts";
import { takeLock } from "../../journal/lock.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { commandContext } from "../../../test/support/command-context.ts";
import { showCalibrationStatus, resumeCalibration } from "./show.ts";
import type { StartInput } from "./start-flags.ts";
import { startCalibration } from "./start.ts";
import { judgeCalibrationFiles } from "./verdict.ts";

const room = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-slips-")));
afterAll(() => rmSync(room, { recursive: true, force: true }));
let made = 0;

function repository(): CommandContext {
  const root = join(room, String(++made), "project");
  mkdirSync(join(root, "bench"), { recursive: true });
  const git = (...words: string[]) =>
    execFileSync("git", ["-c", "user.name=S", "-c", "user.email=s@example.invalid", ...words], {
      cwd: root,
    });
  git("init", "-q", "-b", "main");
  writeFileSync(join(root, "bench/BUGS.md"), "### BUG-001: a bug\n\nIn a.js:1\n");
  writeFileSync(join(root, "bench/a.js"), "1;\n");
  git("add", "-A");
  git("commit", "-qm", "start");

  return commandContext({
    cwd: root,
    env: {
      HOME: join(room, String(made)),
      PATH: process.env["PATH"],
      GIT_AUTHOR_NAME: "S",
      GIT_AUTHOR_EMAIL: "s@x.invalid",
    },
  });
}

const start = (context: CommandContext, more: StartInput): Promise<CommandResponse> =>
  startCalibration(context, {
    name: "c",
    lever: "l",
    apply: "echo new >made.txt",
    benchmarks: "bench",
    hypothesis: "better",
    command: "echo '# None found' >BUGS.md",
    ...more,
  });
const logOf = (context: CommandContext): string =>
  readFileSync(join(context.cwd, "Calibration Cycles/c/run_state.jsonl"), "utf8");

test("a file that git doesn't track in the lever's way is found before anything is measured, and stays", async () => {
  const context = repository();
  writeFileSync(join(context.cwd, "made.txt"), "mine\n");
  const refused = await start(context, {});
  expect(refused).toMatchObject({
    reason_code: "calibration_preflight_failed",
    message: expect.stringContaining("made.txt") as unknown,
  });

  expect(refused.remediation[0]).toBe("move them away, or commit them");
  expect(refused.remediation.at(-1), "a slip in a flag has a way on too").toContain(
    'rm -r "Calibration Cycles/c"',
  );

  expect(logOf(context)).not.toContain('"event":"benchmark_start"');
  expect(readFileSync(join(context.cwd, "made.txt"), "utf8")).toBe("mine\n");
  rmSync(join(context.cwd, "made.txt"));
  const ended = await resumeCalibration(context, {});
  expect(ended).toMatchObject({ reason_code: "calibration_ended" });
  expect(ended.page?.join("\n"), "the lever is no part of the benchmark").not.toContain("itself");
  expect(readFileSync(join(context.cwd, "made.txt"), "utf8")).toBe("new\n");
});

test("a blank list of findings was never written: n/a, and with a metric no recall of zero is claimed", async () => {
  const blank = repository();
  expect(await start(blank, { command: ": >BUGS.md" })).toMatchObject({
    data: {
      verdict: "iterate",
      not_counted: { bench: expect.stringContaining("left no findings") as unknown },
    },
  });

  expect(existsSync(join(blank.cwd, "made.txt")), "nothing was measured, so no lever came").toBe(
    false,
  );

  const metric = repository();
  await start(metric, { command: "echo cost=2", metric: "cost", better: "lower" });
  expect(logOf(metric)).toContain('"recall":null');
  expect(logOf(metric)).not.toContain('"recall":0');
});

test("a name that is taken is refused, and its cycle keeps what it has measured and the bugs it knows", async () => {
  const context = repository();
  writeFileSync(join(context.cwd, "made.txt"), "in the way\n");
  await start(context, {});
  const baseline = join(context.cwd, ".autopilot/calibrations/c/baselines/bench.md");
  const known = readFileSync(baseline, "utf8");
  expect(await start(context, {})).toMatchObject({
    reason_code: "calibration_input_invalid",
    message: expect.stringContaining("already") as string,
  });

  expect(readFileSync(baseline, "utf8")).toBe(known);
});

test("the known bugs of a commit are in no copy, wherever they are listed", async () => {
  const context = repository();
  const git = (...words: string[]) => execFileSync("git", words, { cwd: context.cwd });
  writeFileSync(join(context.cwd, "known.md"), "### BUG-001: a bug\n");
  git("add", "-A");
  git("-c", "user.name=S", "-c", "user.email=s@example.invalid", "commit", "-qm", "known");
  git("tag", "v1");
  const finds =
    'test ! -e known.md && test ! -e "$CALIBRATION_ROOT/known.md" && echo "### BUG-001: a bug" >BUGS.md';
  expect(
    await start(context, { benchmarks: "old=v1", baselines: ["old=known.md"], command: finds }),
  ).toMatchObject({
    data: { before: { old: 1 }, not_counted: {} },
  });
});

test("a metric without a list of bugs was measured: the next step is another lever", async () => {
  const context = repository();
  const { remediation } = await start(context, {
    command: "echo cost=2",
    metric: "cost",
    better: "lower",
  });
  expect(remediation[0]).toContain("--iteration 2");
});

test("a lever that makes the config invalid is refused before anything is measured", async () => {
  const context = repository();
  writeFileSync(join(context.cwd, "agent.yaml"), "turns: []\n");
  execFileSync("git", ["add", "-A"], { cwd: context.cwd });
  execFileSync(
    "git",
    ["-c", "user.name=S", "-c", "user.email=s@example.invalid", "commit", "-qm", "agent"],
    { cwd: context.cwd },
  );

  const apply = "mkdir -p .autopilot && echo 'nonsense: 1' >.autopilot/config.yaml";
  expect(
    await start(context, { apply, command: undefined, agent: "scripted:agent.yaml" }),
  ).toMatchObject({
    reason_code: "calibration_preflight_failed",
    message: expect.stringContaining(
      "With the lever: .autopilot/config.yaml is not valid",
    ) as string,
  });

  expect(logOf(context)).not.toContain('"event":"benchmark_start"');
});

test("a lever that changes a benchmark itself is told of", async () => {
  const context = repository();
  const response = await start(context, { apply: "echo 2 >bench/a.js" });
  expect(response.page?.join("\n")).toContain("changes files of the benchmark bench itself");
  expect(readFileSync(join(context.cwd, "Calibration Cycles/c/audit.md"), "utf8")).toContain(
    "not of the same code",
  );
});

test("while a process works on the cycle, status names it and doesn't say to resume", async () => {
  const context = repository();
  await start(context, { benchmarks: "nowhere" });
  expect((await showCalibrationStatus(context, {})).remediation).toEqual([
    "autopilot calibrate resume c",
  ]);

  const lock = await takeLock(nodeDisk, join(context.cwd, ".autopilot/calibrations"));
  try {
    expect(await showCalibrationStatus(context, {})).toMatchObject({
      remediation: [],
      data: { process: process.pid },
    });

    expect(await resumeCalibration(context, {})).toMatchObject({
      reason_code: "calibration_busy",
      message: expect.stringMatching(/^A calibration cycle is at work here/) as unknown,
    });
  } finally {
    lock.release();
  }
});

test.each([
  ["a name that is too long", { name: "x".repeat(101) }, "has 101 characters, at most 100"],
  ["a floor that no recall can pass", { noiseFloor: "5" }, "no recall can rise by more than 1"],
])("%s is refused with its reason", async (_what, slip, text) => {
  expect((await start(repository(), slip)).message).toContain(text);
});

test("two files of recalls that name different benchmarks: told which are on one side only", async () => {
  const context = repository();
  writeFileSync(join(context.cwd, "before.json"), '{"chi": 0.5}');
  writeFileSync(join(context.cwd, "after.json"), '{"Chi": 0.9}');
  writeFileSync(join(context.cwd, "huge.json"), '{"chi": 1e999}');
  expect(
    await judgeCalibrationFiles(context, { before: "before.json", after: "after.json" }),
  ).toMatchObject({
    data: { verdict: "iterate" },
    warnings: ["chi is in --before only, so it is n/a.", "Chi is in --after only, so it is n/a."],
  });

  expect(
    (await judgeCalibrationFiles(context, { before: "huge.json", after: "after.json" })).message,
  ).toContain('"chi" is too large');
});
