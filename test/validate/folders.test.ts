// validate on a folder: it is looked through for what it holds, within bounds, and nothing leads
// out of it.

import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { seedState } from "../../src/contracts/roadmap.test-support.ts";
import {
  wholeCycle,
  wholeRun,
} from "../../src/playbooks/quality/views/quality-log-rules.test-support.ts";
import { autopilot } from "../support/autopilot.ts";
import { scratch, scratchFolder, write } from "../support/scratch-repository.ts";
import {
  fixture,
  lines,
  portfolioCheckpoint,
  portfolioEvent,
  portfolioSnapshot,
  projectSnapshot,
  samples,
  stagedState,
  taskSnapshot,
} from "./samples.ts";

type Reported = {
  readonly path: string;
  readonly format: string;
  readonly valid: boolean;
  readonly violations: readonly { readonly rule: string }[];
};
const filesOf = (json: Readonly<Record<string, unknown>>): readonly Reported[] =>
  json["files"] as readonly Reported[];
const shown = (json: Readonly<Record<string, unknown>>): readonly string[] =>
  filesOf(json).map(({ path, format, valid, violations }) =>
    [path, format, ...(valid ? [] : [violations.map(({ rule }) => rule).join(",")])].join(" | "),
  );

const portfolio = {
  ".openclaw-autopilot/portfolio.md": portfolioSnapshot,
  ".openclaw-autopilot/projects/proj-web.md": projectSnapshot,
  ".openclaw-autopilot/tasks/task-login-4f9k2a.md": taskSnapshot,
  ".openclaw-autopilot/events/events.jsonl": lines([portfolioEvent]),
  ".openclaw-autopilot/events/checkpoints.jsonl": lines([portfolioCheckpoint]),
};

describe("a project", () => {
  test("is looked through for every format, and files that only look like one are left alone", async () => {
    const folder = scratch();
    write(folder, {
      ...portfolio,
      "README.md": "# Mine\n\n### Phase 1: read this\n",
      "package.json": '{ "name": "mine", "flow": "x", "turns": [] }\n',
      "data/events.jsonl": '{"kind":"mine"}\n',
      "node_modules/x/run_state.jsonl": "broken",
      ".planning/ROADMAP.md": fixture("roadmap/traps.md"),
      ".planning/config.json": "{}\n",
      ".autopilot/config.yaml": "version: 1\n",
      ".autopilot/state.json": JSON.stringify(seedState),
      ".autopilot/state.json.backup": JSON.stringify(seedState),
      ".autopilot/archive/metrics.json": samples["metrics"] ?? "",
      ".autopilot/archive/run-2026-02-09-143052.json": JSON.stringify(seedState),
      ".autopilot/diagnostics/phase-1-postmortem.json": samples["post-mortem"] ?? "",
      "quality/run_state.jsonl": lines(wholeRun),
      "quality/history/old.run_state.jsonl": lines(wholeRun.slice(0, 5)),
      "Calibration Cycles/2026-05-15-slug/run_state.jsonl": lines(wholeCycle),
      "_docs/_autopilot_state.md": stagedState,
    });

    const { code, json } = await autopilot(folder, ["validate", ".", "--json"]);
    expect(shown(json)).toEqual([
      ".autopilot/archive/metrics.json | metrics",
      ".autopilot/archive/run-2026-02-09-143052.json | roadmap state",
      ".autopilot/config.yaml | config",
      ".autopilot/diagnostics/phase-1-postmortem.json | post-mortem",
      ".autopilot/state.json | roadmap state",
      ".autopilot/state.json.backup | roadmap state",
      ".openclaw-autopilot | portfolio",
      ".openclaw-autopilot/events/checkpoints.jsonl | portfolio checkpoints",
      ".openclaw-autopilot/events/events.jsonl | portfolio events",
      ".openclaw-autopilot/portfolio.md | portfolio snapshot",
      ".openclaw-autopilot/projects/proj-web.md | portfolio snapshot",
      ".openclaw-autopilot/tasks/task-login-4f9k2a.md | portfolio snapshot",
      ".planning/ROADMAP.md | roadmap",
      ".planning/config.json | planning config",
      "Calibration Cycles/2026-05-15-slug/run_state.jsonl | calibration run_state",
      "_docs/_autopilot_state.md | staged state",
      "quality/history/old.run_state.jsonl | quality run_state",
      "quality/run_state.jsonl | quality run_state",
    ]);

    expect(code).toBe(0);
  });

  test("that holds nothing known is told", async () => {
    const folder = scratch();
    const { code, json } = await autopilot(folder, ["validate", ".", "--json"]);
    expect([code, shown(json)]).toEqual([1, [". | folder | file"]]);
  });

  test("with more entries than are looked at says where it stopped", async () => {
    const folder = scratchFolder();
    write(folder, { "a/run_state.jsonl": lines(wholeRun) });
    mkdirSync(join(folder, "b"));
    for (let n = 0; n < 5_010; n++) writeFileSync(join(folder, "b", `${n}-PLAN.md`), "");
    const { json } = await autopilot(folder, ["validate", ".", "--json"]);
    const files = filesOf(json);
    expect(
      files.some(
        ({ format, violations }) =>
          format === "folder" && violations.some(({ rule }) => rule === "limit"),
      ),
    ).toBe(true);

    expect(files.length).toBeLessThanOrEqual(5_001);
  });
});

test("a folder deeper than is looked at says so, and one that is just as deep does not", async () => {
  const folder = scratchFolder();
  const deep = Array.from({ length: 32 }, () => "d").join("/");
  write(folder, { "run_state.jsonl": lines(wholeRun), [`${deep}/readme.txt`]: "" });
  const rules = async (): Promise<readonly string[]> =>
    filesOf((await autopilot(folder, ["validate", ".", "--json"])).json).flatMap(({ violations }) =>
      violations.map(({ rule }) => rule),
    );
  const rulesBefore = await rules();
  expect(rulesBefore).not.toContain("limit");
  write(folder, { [`${deep}/d/run_state.jsonl`]: "" });
  expect(await rules()).toEqual([...rulesBefore, "limit"]);
});

describe("a portfolio", () => {
  test("by its own folder, whatever that is called", async () => {
    const folder = scratchFolder();
    write(
      folder,
      Object.fromEntries(
        Object.entries(portfolio).map(([path, text]) => [
          path.replace(".openclaw-autopilot", "mine"),
          text,
        ]),
      ),
    );

    const { code, json } = await autopilot(folder, ["validate", "mine", "--json"]);
    expect([code, shown(json).length, shown(json)[0]]).toEqual([0, 6, "mine | portfolio"]);
  });

  test("lacks parts, or has a folder where a file belongs, or a file where a folder does", async () => {
    const folder = scratchFolder();
    write(folder, portfolio);
    const at = join(folder, ".openclaw-autopilot");
    rmSync(join(at, "projects"), { recursive: true });
    rmSync(join(at, "portfolio.md"));
    rmSync(join(at, "events/checkpoints.jsonl"));
    write(folder, { ".openclaw-autopilot/projects": "a file\n" });
    mkdirSync(join(at, "portfolio.md"));
    const { code, json } = await autopilot(folder, ["validate", ".openclaw-autopilot", "--json"]);
    expect(code).toBe(1);
    expect(shown(json)[0]).toBe(".openclaw-autopilot | portfolio | PF-layout,PF-layout,PF-layout");
    expect(shown(json)).toContain(".openclaw-autopilot/portfolio.md | folder | file");
  });
});

describe("links", () => {
  test("out of the folder are told and not followed; inside they are", async () => {
    const outside = scratchFolder();
    const folder = scratchFolder();
    write(outside, { "run_state.jsonl": lines(wholeRun), "more/run_state.jsonl": lines(wholeRun) });
    write(folder, { "real/run_state.jsonl": lines(wholeRun) });
    symlinkSync(join(outside, "run_state.jsonl"), join(folder, "run_state.jsonl"));
    symlinkSync(join(outside, "more"), join(folder, "more"));
    symlinkSync(join(folder, "real/run_state.jsonl"), join(folder, "near.run_state.jsonl"));
    symlinkSync(join(folder, "nowhere"), join(folder, "gone.run_state.jsonl"));
    symlinkSync(join(folder, "loop.run_state.jsonl"), join(folder, "loop.run_state.jsonl"));
    const walked = await autopilot(folder, ["validate", ".", "--json"]);
    expect(shown(walked.json)).toEqual([
      "gone.run_state.jsonl | missing | link",
      "loop.run_state.jsonl | unknown | link",
      "near.run_state.jsonl | quality run_state",
      "real/run_state.jsonl | quality run_state",
      "run_state.jsonl | unknown | link",
    ]);

    const named = await autopilot(folder, [
      "validate",
      "run_state.jsonl",
      "more/run_state.jsonl",
      "more",
      "near.run_state.jsonl",
      "--json",
    ]);
    expect(shown(named.json)).toEqual([
      "run_state.jsonl | unknown | link",
      "more/run_state.jsonl | unknown | link",
      "more | unknown | link",
      "near.run_state.jsonl | quality run_state",
    ]);
  });
});
