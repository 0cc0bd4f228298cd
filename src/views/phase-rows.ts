// phase-rows: reduces each phase of a run to a row: its state, its score, what it used, where it is
// and what it waits for. It reads only the run's state, so that `status` need not read the journal
// again.

import { stepsOfPhase, taskPath } from "../core/selectors.ts";
import { ownValue } from "../core/own-values.ts";
import type { RunView } from "../core/state.ts";
import { isVerdictQuestion } from "./verdicts.ts";

export type PhaseRowStatus =
  | "not_started"
  | "in_progress"
  | "needs_human_verification"
  | "completed"
  | "failed"
  | "skipped";

/** Of a step that runs tasks; skipped ones count as failed. */
export type TaskCount = { readonly done: number; readonly failed: number; readonly total: number };

export type PhaseRow = {
  readonly id: string;
  readonly name: string;
  readonly status: PhaseRowStatus;
  /** The last alignment score of its work, of ten. */
  readonly score: number | null;
  /** Time worked on it, without pauses. */
  readonly duration_minutes: number;
  readonly tokens: number;
  readonly usd: number;
  /** The step that it is at; null unless it is under way. */
  readonly step: string | null;
  readonly tasks: TaskCount | null;
  /** Phases that must come first and are not done. */
  readonly waits_for: readonly string[];
  readonly because: string | null;
};

type PhaseView = RunView["phases"][number];

/** The phases proper; what a flow does before and after them isn't a row. */
export function listPhaseRows(run: RunView): readonly PhaseRow[] {
  const isDone = new Map(
    run.phases.map(({ id, status, because }) => [
      id,
      status === "completed" || isDoneBefore(status, because),
    ]),
  );

  const working = Object.values(run.open);
  return run.phases
    .filter(({ group }) => group === "phases")
    .map((phase) => {
      const { id, name, because } = phase;
      const spent = ownValue(run.ledger.phase, id);
      const status = findStatus(run, phase);
      const isOpen = status === "in_progress" || status === "needs_human_verification";

      return {
        id,
        name: name === id ? "" : name,
        status,
        score: findLatestScore(run, id),
        duration_minutes: Number((spent?.minutes ?? 0).toFixed(2)),
        tokens: spent?.tokens ?? 0,
        usd: Number((spent?.usd ?? 0).toFixed(6)),
        step: isOpen ? findCurrentStep(run, id) : null,
        tasks: isOpen ? countTasks(run, id, working) : null,
        waits_for:
          status === "not_started"
            ? phase.after.filter((dependency) => isDone.get(dependency) === false)
            : [],
        because,
      };
    });
}

const isDoneBefore = (status: PhaseView["status"], because: string | null): boolean =>
  status === "skipped" && because?.startsWith("already_") === true;

function findStatus(run: RunView, { id, status }: PhaseView): PhaseRowStatus {
  if (status === "completed" || status === "failed" || status === "skipped") return status;
  if (status !== "open") return "not_started";
  const block = ownValue(run.cursors, id)?.block ?? null;
  const openBlock = block === null ? undefined : ownValue(run.blocks, block);

  return openBlock !== undefined && isVerdictQuestion(openBlock)
    ? "needs_human_verification"
    : "in_progress";
}

/** The last step of the flow that gave a score decides: a judge comes after a verifier. */
function findLatestScore(run: RunView, id: string): number | null {
  const stepOutcomes = ownValue(run.cursors, id)?.seen;
  if (stepOutcomes === undefined) return null;
  for (const { id: step } of stepsOfPhase(run.drafted.flow, id).toReversed()) {
    const score = ownValue(ownValue(stepOutcomes, step)?.says ?? {}, "alignment_score");
    if (typeof score === "number") return score;
  }

  return null;
}

function findCurrentStep(run: RunView, id: string): string | null {
  const cursor = ownValue(run.cursors, id);
  return cursor === undefined ? null : (stepsOfPhase(run.drafted.flow, id)[cursor.at]?.id ?? null);
}

function countTasks(
  run: RunView,
  id: string,
  working: readonly RunView["open"][string][],
): TaskCount | null {
  const open = working.find(({ cursor, stage }) => cursor === id && stage === "walking");
  if (open === undefined) return null;
  const results = open.waves
    .flat()
    .map((task) => ownValue(run.cursors, taskPath(open.attempt, task))?.result ?? null);
  const count = (wanted: string): number => results.filter((result) => result === wanted).length;

  return {
    done: count("completed"),
    failed: count("failed") + count("skipped"),
    total: results.length,
  };
}
