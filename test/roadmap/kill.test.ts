// Pull the plug at every step: the run is killed whenever a step has ended, taken up again, and
// ends where an undisturbed one ends.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { autopilot, begin, journal, until } from "../support/autopilot.ts";
import { git } from "../support/scratch-repository.ts";
import {
  calls,
  goRoadmap,
  judge,
  judgeBlind,
  judgeReturn,
  plansOf,
  project,
  roadmapArgs,
  smooth,
  stepsOf,
  type Turn,
} from "./stories.ts";
import { isLong } from "../support/sampled.ts";

const phases = [
  { id: "1", name: "Sum", criteria: [`sum adds :: ${calls("sum", "2, 3", "5")}`] },
  {
    id: "2",
    name: "Mean",
    after: "Phase 1",
    criteria: [`mean halves :: ${calls("mean", "2, 4", "3")}`],
  },
  { id: "3", name: "Twice", criteria: [`twice doubles :: ${calls("twice", "4", "8")}`] },
];
const isOf = ({ when }: Turn, ...steps: readonly string[]): boolean =>
  steps.includes((when as { step: string }).step);
/** Reports that are the same whenever they are written. */
const plainReport = (phase: string): Turn => ({
  ...judgeBlind(phase),
  do: judgeBlind(phase).do.slice(0, 1),
  repeat: 1,
});
const firstWith = (body: string): readonly Turn[] =>
  smooth("1", "sum", body, `it adds :: ${calls("sum", "1, 1", "2")}`).filter(
    (turn) => !isOf(turn, "judge", "judge_blind"),
  );
/**
 * Taken back because the checks are red; in a long run because the judge orders it, which takes two
 * turns more.
 */
const first: readonly Turn[] = isLong
  ? [
      ...firstWith("(a, b) => a + b"),
      plainReport("1"),
      judge("1", { returns: judgeReturn({ recommendation: "rollback", alignment_score: 3 }) }),
    ]
  : firstWith("(a, b) => a - b");
/** The first phase is taken back and failed; the third is done and lands. */
const turns: readonly Turn[] = [
  ...first,
  ...smooth("3", "twice", "(n) => 2 * n", `it doubles :: ${calls("twice", "1", "2")}`).filter(
    (turn) => !isOf(turn, "judge_blind"),
  ),
  plainReport("3"),
];
const limits = [
  "--option",
  "max_debug_attempts_per_phase=0",
  "--option",
  "max_replan_attempts_per_phase=0",
];
const ended = (folder: string): number =>
  journal(folder).filter(({ event }) => event === "step_completed" || event === "step_failed")
    .length;
const subjects = (folder: string): readonly string[] =>
  git(folder, "log", "--format=%s", "HEAD").split("\n");
function figures(folder: string): object {
  const [run] = JSON.parse(
    readFileSync(join(folder, ".autopilot/archive/metrics.json"), "utf8"),
  ) as Record<string, unknown>[];

  const {
    phases_attempted,
    phases_succeeded,
    phases_failed,
    avg_alignment_score,
    total_debug_loops,
    success_rate,
  } = run ?? {};

  return {
    phases_attempted,
    phases_succeeded,
    phases_failed,
    avg_alignment_score,
    total_debug_loops,
    success_rate,
  };
}

/** The plug is pulled at every step, or in an everyday run of the suite at every eighth. */
const stepsApart = isLong ? 1 : 8;

test("killed as its steps end, it ends with the same steps, commits, branches and figures", async () => {
  const planned = plansOf(
    turns.filter(({ when }) => !isLong || (when as { phase: string }).phase === "3"),
  ); // in a long run the first phase is planned under kills
  const [calm, killed] = [project(phases, planned), project(phases, planned)];
  const undisturbed = await goRoadmap(calm, turns, limits);
  expect(undisturbed.json).toMatchObject({ reason_code: "phase_failed", state: "paused" });

  let args = roadmapArgs(killed, turns, limits);
  let kills = 0;
  for (let seen = 0; ; kills += 1) {
    const { child, ended: over } = begin(killed, args);
    let isOver = false;
    void over.then(() => (isOver = true));
    await until(
      "another step's end",
      () => isOver || (existsJournal(killed) && ended(killed) >= seen + stepsApart),
    );

    if (isOver) {
      expect((await over).json).toMatchObject({ reason_code: "phase_failed", state: "paused" });
      break;
    }

    seen = ended(killed);
    child.kill("SIGKILL");
    await over;
    if (journal(killed).some(({ event }) => event === "run_paused")) break; // the plug was pulled when all was over
    args = ["resume", "--json"];
  }

  expect(kills).toBeGreaterThan(isLong ? 10 : 1);
  for (const phase of ["1", "2", "3", "after.integration"]) {
    expect(stepsOf(killed, phase), phase).toEqual(stepsOf(calm, phase));
  }

  expect(subjects(killed)).toEqual(subjects(calm));
  expect(git(killed, "rev-parse", "HEAD^{tree}")).toBe(git(calm, "rev-parse", "HEAD^{tree}"));
  expect(git(killed, "rev-parse", "autopilot-diagnostic-phase-1^{tree}")).toBe(
    git(calm, "rev-parse", "autopilot-diagnostic-phase-1^{tree}"),
  );

  expect(figures(killed)).toEqual(figures(calm));
  const { json } = await autopilot(killed, ["verify", "--json"]);
  expect(json["chain"]).toMatchObject({ ok: true });
}, 900_000);

function existsJournal(folder: string): boolean {
  try {
    return journal(folder).length > 0;
  } catch {
    return false; // the run has not begun to write
  }
}
