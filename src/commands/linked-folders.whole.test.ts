// A cloned repository may hold links in the place of our folders. No command writes or reads behind
// one: it refuses and names the link.

import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { CommandResponse } from "../contracts/command-response.ts";
import type { CommandContext } from "../project/command-context.ts";
import { commandContext } from "../../test/support/command-context.ts";
import {
  listCalibrations,
  showCalibrationReport,
  showCalibrationStatus,
  resumeCalibration,
} from "./calibrate/show.ts";
import { startCalibration } from "./calibrate/start.ts";
import { init } from "./init.ts";
import { addProject, initPortfolio } from "./portfolio/add.ts";
import { adoptPortfolio } from "./portfolio/adopt.ts";
import { showPortfolio } from "./portfolio/show.ts";
import { installSkills } from "./skills/skills.ts";

const room = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-links-")));
afterAll(() => rmSync(room, { recursive: true, force: true }));
let made = 0;

function cloned(): {
  readonly context: CommandContext;
  readonly root: string;
  readonly outside: string;
} {
  const own = join(room, String(++made));
  const [root, outside, home] = ["repo", "outside", "home"].map((name) => join(own, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [join(root, "bench"), outside, home]) mkdirSync(folder, { recursive: true });
  const git = (...words: string[]) =>
    execFileSync("git", ["-c", "user.name=S", "-c", "user.email=s@example.invalid", ...words], {
      cwd: root,
    });
  git("init", "-q", "-b", "main");
  writeFileSync(join(root, "bench/BUGS.md"), "### BUG-001: a bug\n\nIn a.js:1\n");
  writeFileSync(join(root, "prompt.txt"), "one\n");
  git("add", "-A");
  git("commit", "-qm", "start");
  const context = commandContext({ cwd: root, env: { HOME: home, PATH: process.env["PATH"] } });

  return { context, root, outside };
}

const start = (context: CommandContext): Promise<CommandResponse> =>
  startCalibration(context, {
    name: "c1",
    lever: "prompt",
    apply: "echo two >prompt.txt",
    benchmarks: "bench",
    hypothesis: "better",
    command: "echo nothing >BUGS.md",
  });

type Case = readonly [
  command: string,
  linked: string,
  run: (context: CommandContext) => Promise<CommandResponse>,
];
const writing: readonly Case[] = [
  ["portfolio init", ".autopilot", (context) => initPortfolio(context, {})],
  ["portfolio init", ".autopilot/portfolio", (context) => initPortfolio(context, {})],
  ["portfolio init", ".openclaw-autopilot", (context) => initPortfolio(context, {})],
  ["portfolio init", ".openclaw-autopilot/tasks", (context) => initPortfolio(context, {})],
  ["calibrate start", ".autopilot", start],
  ["calibrate start", ".autopilot/calibrations", start],
  ["calibrate start", "Calibration Cycles", start],
  ["calibrate start", "Calibration Cycles/c1", start],
  ["init", ".autopilot", (context) => init(context, { yes: true })],
  ["skills install", ".claude", (context) => installSkills(context, { user: false })],
];

describe("a link in the place of a folder", () => {
  test.each(writing)(
    "%s writes nothing through a linked %s, and names it",
    async (_command, linked, run) => {
      const { context, root, outside } = cloned();
      mkdirSync(dirname(join(root, linked)), { recursive: true });
      symlinkSync(outside, join(root, linked));
      const response = await run(context);
      expect(response).toMatchObject({ result: "FAIL", reason_code: "workspace_unusable" });
      expect(`${response.message} ${(response.remediation ?? []).join(" ")}`).toContain(
        linked.split("/")[0],
      );

      expect(readdirSync(outside)).toEqual([]);
    },
  );

  test.each(
    writing.filter(([command], index) => writing.findIndex(([one]) => one === command) === index),
  )("the control: without a link %s writes in the repository", async (_command, _linked, run) => {
    const { context, root } = cloned();
    if (_command === "skills install") mkdirSync(join(root, ".claude"));
    const before = readdirSync(root, { recursive: true }).length;
    await run(context);
    expect(
      readdirSync(root, { recursive: true }).filter((name) => !String(name).startsWith(".git/"))
        .length,
    ).not.toBe(before);
  });

  test("what lies behind one is not shown: a portfolio of somebody else's, calibration cycles", async () => {
    const other = cloned();
    expect(await initPortfolio(other.context, { name: "Other" })).toMatchObject({ result: "PASS" });
    expect(await start(other.context)).toMatchObject({ result: "PASS" });
    expect(await showPortfolio(other.context, {})).toMatchObject({ result: "PASS" });
    expect(await listCalibrations(other.context)).toMatchObject({
      result: "PASS",
      data: { cycles: [{ cycle: "c1" }] },
    });

    const { context, root } = cloned();
    symlinkSync(join(other.root, ".autopilot"), join(root, ".autopilot"));
    symlinkSync(join(other.root, "Calibration Cycles"), join(root, "Calibration Cycles"));

    for (const response of [
      await showPortfolio(context, {}),
      await adoptPortfolio(context, { yes: true }),
      await addProject(context, { name: "Mine" }),
      await listCalibrations(context),
      await showCalibrationStatus(context, {}),
      await showCalibrationStatus(context, { name: "c1" }),
      await showCalibrationReport(context, { name: "c1" }),
      await resumeCalibration(context, { name: "c1" }),
    ]) {
      expect(response).toMatchObject({ result: "FAIL", reason_code: "workspace_unusable" });
      expect(response.message).toContain("A link lies where");
    }
  });

  test("what a repository brought along under a new cycle's name counts for nothing", async () => {
    const { context, root, outside } = cloned();
    const folder = join(root, ".autopilot/calibrations/c1");
    mkdirSync(folder, { recursive: true });
    symlinkSync(outside, join(folder, "baselines"));
    symlinkSync(outside, join(folder, "runs"));
    expect(await start(context)).toMatchObject({ result: "PASS" });
    expect(readdirSync(outside)).toEqual([]);
    expect(readFileSync(join(folder, "baselines/bench.md"), "utf8")).toContain("BUG-001");
  });
});
