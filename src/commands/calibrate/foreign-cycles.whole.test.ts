// Calibration cycles that came with a repository: shown as somebody else's, never what a bare
// command means, and no hindrance.

import { execFileSync } from "node:child_process";
import {
  cpSync,
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
import type { CommandContext } from "../../project/command-context.ts";
import { commandContext } from "../../../test/support/command-context.ts";
import {
  listCalibrations,
  showCalibrationReport,
  showCalibrationStatus,
  resumeCalibration,
} from "./show.ts";
import { startCalibration } from "./start.ts";

const room = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-foreign-")));
afterAll(() => rmSync(room, { recursive: true, force: true }));
let made = 0;

function repository(): CommandContext & { readonly log: (name: string) => string } {
  const root = join(room, String(++made));
  mkdirSync(join(root, "bench"), { recursive: true });
  const git = (...words: string[]) =>
    execFileSync("git", ["-c", "user.name=S", "-c", "user.email=s@example.invalid", ...words], {
      cwd: root,
    });
  git("init", "-q", "-b", "main");
  writeFileSync(join(root, "bench/BUGS.md"), "### BUG-001: a bug\n\nIn a.js:1\n");
  writeFileSync(join(root, "prompt.txt"), "one\n");
  git("add", "-A");
  git("commit", "-qm", "start");

  const env = {
    HOME: room,
    PATH: process.env["PATH"],
    GIT_AUTHOR_NAME: "S",
    GIT_AUTHOR_EMAIL: "s@x.invalid",
  };

  return {
    ...commandContext({ cwd: root, env }),
    log: (name) => join(root, "Calibration Cycles", name, "run_state.jsonl"),
  };
}

const start = (context: CommandContext, name: string): Promise<CommandResponse> =>
  startCalibration(context, {
    name,
    lever: "prompt",
    apply: `echo ${name} >prompt.txt`,
    benchmarks: "bench",
    hypothesis: "better",
    command: "echo nothing >BUGS.md",
  });

const firstLines = (text: string, count: number): string =>
  `${text.split("\n").slice(0, count).join("\n")}\n`;

test("an open cycle of somebody else's is marked, nothing says to resume it, and one of one's own is meant before it", async () => {
  const theirs = repository();
  expect(await start(theirs, "theirs")).toMatchObject({ result: "PASS" });
  expect(
    await showCalibrationStatus(theirs, {}),
    "the control: its own user's is not marked",
  ).toMatchObject({ data: { own: true } });

  expect((await listCalibrations(theirs)).page?.join("\n")).not.toContain("not started by you");

  const mine = repository();
  cpSync(join(theirs.cwd, "Calibration Cycles"), join(mine.cwd, "Calibration Cycles"), {
    recursive: true,
  });

  writeFileSync(mine.log("theirs"), firstLines(readFileSync(theirs.log("theirs"), "utf8"), 3));
  for (const response of [
    await showCalibrationStatus(mine, {}),
    await showCalibrationStatus(mine, { name: "theirs" }),
    await showCalibrationReport(mine, {}),
  ]) {
    expect(response).toMatchObject({ result: "PASS", data: { own: false } });
    expect(response.page?.join("\n")).toContain("You didn't start this cycle here");
    expect(response.remediation?.join("\n") ?? "").not.toContain("calibrate resume");
  }

  expect((await showCalibrationStatus(mine, {})).remediation?.join("\n")).toContain(
    'git rm -r -- "Calibration Cycles/theirs"',
  );

  const list = await listCalibrations(mine);
  expect(list.page?.join("\n")).toMatch(/theirs +.*not started by you here/);
  expect(await resumeCalibration(mine, {})).toMatchObject({
    result: "FAIL",
    reason_code: "run_foreign",
  });

  expect(await start(mine, "mine")).toMatchObject({ result: "PASS" });
  expect(await showCalibrationStatus(mine, {})).toMatchObject({
    data: { cycle: "mine", own: true },
  });

  expect(await resumeCalibration(mine, {})).toMatchObject({ reason_code: "calibration_missing" });
});

test("a log from elsewhere keeps nobody from a cycle of their own: one that says its lever is on the branch, one that cannot be read", async () => {
  const theirs = repository();
  await start(theirs, "theirs");
  const mine = repository();
  cpSync(join(theirs.cwd, "Calibration Cycles"), join(mine.cwd, "Calibration Cycles"), {
    recursive: true,
  });

  const lines = readFileSync(theirs.log("theirs"), "utf8").trim().split("\n");
  const applied = lines.findIndex((line) => line.includes('"event":"lever_change_applied"'));
  expect(applied).toBeGreaterThan(0);
  writeFileSync(mine.log("theirs"), firstLines(lines.join("\n"), applied + 1));
  mkdirSync(join(mine.cwd, "Calibration Cycles/broken"));
  writeFileSync(mine.log("broken"), '{"event":"_index"\n');
  const renamed = lines.join("\n").replaceAll('"cycle_name":"theirs"', '"cycle_name":"../../../x"');
  mkdirSync(join(mine.cwd, "Calibration Cycles/renamed"));
  writeFileSync(mine.log("renamed"), `${renamed}\n`);

  const list = await listCalibrations(mine);
  expect(list).toMatchObject({
    result: "PASS",
    data: { cycles: [{ cycle: "renamed" }, { cycle: "theirs" }], broken: [{ name: "broken" }] },
  });

  expect(list.warnings?.join("\n")).toContain("broken can't be read");
  expect(await showCalibrationStatus(mine, {})).toMatchObject({ result: "PASS" });
  expect(await start(mine, "mine")).toMatchObject({ result: "PASS" });
});
