// Forks and replays of the playbooks' runs: a roadmap, a quality run, a staged project. What was
// finished is taken over, what was paid is not bought again, and the playbook's own files go on
// with the new run.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  history,
  inShort,
  linesIn,
  log as qualityLog,
  logText,
  shop,
  turn as qualityTurn,
  turns as qualityTurns,
  args as qualityWords,
} from "../quality/audit.ts";
import { faultsIn } from "../quality/seed-reader.ts";
import { calls, does, plansOf, project, smooth, type Turn } from "../roadmap/stories.ts";
import { goStaged, greenfield, stateOf } from "../staged/project.ts";
import {
  autopilot,
  begin,
  type Ended,
  type Entry,
  isolation,
  journal,
  runFolderOf,
  scripted,
  until,
} from "../support/autopilot.ts";
import { git, scratchCheckedOnce as scratch } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";

const said = ({ out, err }: Ended): string => `${out}\n${err}`;
const turnsIn = (entries: readonly Entry[]): readonly string[] =>
  entries.filter(({ event }) => event === "turn_ended").map(({ attempt }) => String(attempt));
const nameOf = (folder: string): string => runFolderOf(folder).split("/").at(-1) ?? "";

/**
 * Begins a run, kills it in the turn of an attempt, and stops what is left of it: only one run of a
 * playbook is open at a time.
 */
async function killedIn(folder: string, args: readonly string[], attempt: string): Promise<string> {
  const { child, ended } = begin(folder, args);
  await until(`the turn of ${attempt}`, () =>
    journal(folder).some(
      (entry) => entry.event === "session_opened" && entry["attempt"] === attempt,
    ),
  );

  child.kill("SIGKILL");
  await ended;
  const run = nameOf(folder);
  const refused = await autopilot(folder, ["fork", run, "--yes", "--json"]);
  expect(refused.json, said(refused)).toMatchObject({ result: "FAIL", reason_code: "run_open" });
  expect(refused.json.remediation.join("\n")).toContain("autopilot stop");
  const stopped = await autopilot(folder, ["stop", "--run", run, "--json"]);
  expect(stopped.json, said(stopped)).toMatchObject({ state: "stopped" });

  return run;
}

/** Forks it with another script, to its end; gives the turns that were bought for it. */
async function forked(
  folder: string,
  run: string,
  turns: readonly object[],
): Promise<{ readonly answer: Ended; readonly bought: readonly string[] }> {
  const answer = await autopilot(folder, [
    "fork",
    run,
    ...scripted(folder, turns, "other"),
    "--yes",
    "--json",
  ]);

  const lines = journal(folder);
  const at = lines.findIndex(({ event }) => event === "run_forked");
  expect(at, said(answer)).toBeGreaterThan(0);

  return { answer, bought: turnsIn(lines.slice(at)) };
}

/**
 * `npm run test:long` replays every agent's attempt of a run; otherwise one that was taken over and
 * one that was bought anew stand for all.
 */
const isWhole = process.env["AUTOPILOT_FAULTS"] === "all";

/** Replays attempts of a run, and expects what was recorded. */
async function replayed(folder: string, run: string, ...few: readonly string[]): Promise<void> {
  const attempts = isWhole ? turnsIn(journal(folder)) : few;
  const before = [
    git(folder, "status", "--porcelain"),
    git(folder, "for-each-ref"),
    readFileSync(join(folder, ".autopilot/runs", run, "journal.jsonl"), "utf8"),
  ];

  for (const attempt of attempts) {
    const again = await autopilot(folder, ["replay", run, "--step", attempt, "--yes", "--json"]);
    expect(again.json, `${attempt}: ${said(again)}`).toMatchObject({
      reason_code: "step_replayed",
      recorded: { outcome: "passed" },
      replayed: { outcome: "passed" },
    });

    const { recorded, replayed } = again.json as unknown as Record<
      "recorded" | "replayed",
      { readonly paths: readonly string[] }
    >;
    expect([attempt, replayed.paths]).toEqual([attempt, recorded.paths]);
  }

  expect([
    git(folder, "status", "--porcelain"),
    git(folder, "for-each-ref"),
    readFileSync(join(folder, ".autopilot/runs", run, "journal.jsonl"), "utf8"),
  ]).toEqual(before);
}

const hang = { do: [{ write: { path: "half.txt", text: "half\n" } }, { hang: true }] };

describe.concurrent("forks and replays of playbooks", () => {
  test("a roadmap: the phase that had landed is taken over, the killed task is done by another agent", async () => {
    const phases = [
      { id: "1", name: "Sum", criteria: [`sum adds :: ${calls("sum", "2, 3", "5")}`] },
      {
        id: "2",
        name: "Twice",
        after: "Phase 1",
        criteria: [`twice doubles :: ${calls("twice", "4", "8")}`],
      },
    ];

    const one = smooth("1", "sum", "(a, b) => a + b", `it adds :: ${calls("sum", "1, 1", "2")}`);
    const folder = project(phases, plansOf(one));
    const two = smooth("2", "twice", "(n) => 2 * n", `it doubles :: ${calls("twice", "1", "2")}`, [
      "sum",
    ]);

    const hangs: Turn = { ...does("2", "02-01", {}), ...hang };
    const args = [
      "go",
      "--flow",
      "roadmap",
      "--option",
      "phases=all",
      "--yes",
      "--json",
      "--isolation",
      isolation,
    ];

    const script = scripted(folder, [
      ...one,
      ...two.map((turn) => ((turn.when as { task?: string }).task === undefined ? turn : hangs)),
    ]);
    const run = await killedIn(folder, [...args, ...script], "2@1/execute#1/02-01@1/do#1");
    const { answer, bought } = await forked(folder, run, two);
    expect(answer.json, said(answer)).toMatchObject({
      state: "completed",
      reason_code: "completion_verified",
    });

    expect(
      bought.filter((attempt) => attempt.startsWith("1@") || /research|plan/.test(attempt)),
    ).toEqual([]);

    expect(bought).toContain("2@1/execute#1/02-01@1/do#1");
    expect(git(folder, "ls-tree", "-r", "--name-only", "HEAD").split("\n")).toEqual(
      expect.arrayContaining(["src/sum.js", "src/twice.js"]),
    );

    expect(git(folder, "ls-tree", "-r", "--name-only", "HEAD")).not.toContain("half.txt");
    await replayed(folder, nameOf(folder), "2@1/plan#1", "2@1/execute#1/02-01@1/do#1");
  }, 600_000);

  longTest(
    "a quality run: the other run's log is kept, a new one tells all that was taken over",
    "test/calibration/fork-playbooks.test.ts › a roadmap: the phase that had landed is taken over, the killed task is done by another agent",
    async () => {
      const folder = shop();
      const hangs = { ...qualityTurn("3"), ...hang };

      const run = await killedIn(
        folder,
        qualityWords(folder, qualityTurns({ "3": hangs })),
        "3@1/do#1",
      );

      const { answer, bought } = await forked(folder, run, qualityTurns().slice(2));
      expect(answer.json, said(answer)).toMatchObject({
        state: "completed",
        reason_code: "completion_with_gaps",
      });

      expect(bought).toEqual(["3@1/do#1", "4@1/do#1", "5@1/do#1", "6@1/do#1"]);
      const every = [1, 2, 3, 4, 5, 6].flatMap((phase) => [`start ${phase}`, `end ${phase}`]);
      expect(inShort(qualityLog(folder)).filter((line) => !line.startsWith("error"))).toEqual([
        "_index",
        "run_start",
        ...every,
        "run_end success",
      ]);

      expect(faultsIn(logText(folder), 2)).toEqual([]);
      const [kept = ""] = history(folder);
      expect(
        inShort(linesIn(readFileSync(join(folder, "quality/history", kept), "utf8"))).at(-1),
      ).toBe("run_end aborted"); // the other run's

      await replayed(folder, nameOf(folder), "2@1/do#1", "4@1/do#1");
    },
  );

  longTest(
    "a staged project: the decisions stay made",
    "test/calibration/fork-playbooks.test.ts › a roadmap: the phase that had landed is taken over, the killed task is done by another agent",
    async () => {
      const folder = scratch();
      const first = await goStaged(folder, "greenfield", greenfield, [
        "--goal",
        "orders that survive two clerks",
      ]);
      expect(first.json, said(first)).toMatchObject({ state: "paused" });
      await autopilot(folder, ["answer", "B", "--json"]);
      const second = await autopilot(folder, ["go", "--json"]);
      expect(second.json, said(second)).toMatchObject({ reason_code: "session_boundary" });
      const run = nameOf(folder);
      await autopilot(folder, ["stop", "--run", run, "--json"]);
      const { answer, bought } = await forked(folder, run, greenfield.slice(4));
      expect(answer.json, said(answer)).toMatchObject({
        reason_code: "session_boundary",
        state: "paused",
      });

      expect(bought).toEqual([]);
      await autopilot(folder, ["answer", "A", "--json"]);
      const last = await autopilot(folder, ["go", "--json"]);
      expect(last.json, said(last)).toMatchObject({ state: "completed" });
      expect(stateOf(folder).current).toMatchObject({
        flow: "greenfield",
        step: "done",
        status: "completed",
      });

      expect(stateOf(folder).decisions).toContain("Research decision: go on to planning");
      await replayed(folder, nameOf(folder), "2@1/do#1", "10@1/do#1");
    },
  );
});
