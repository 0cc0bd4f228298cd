// recover-attempt: inspects an attempt that a crash left open and applies the recovery table to it.
// Invariants F1 and on: core/fold.ts.

import type { CrashState } from "../contracts/crash-state.ts";
import type { Draft, EventOf } from "../contracts/event.ts";
import { type Gate, stepKind, type Step } from "../contracts/flow.ts";
import type { AttemptId } from "../contracts/ids.ts";
import { reportedCharge } from "../core/budget.ts";
import { findStep, cursorSteps } from "../core/selectors.ts";
import { findRecoveryRow } from "../core/recovery.ts";
import type { OpenAttemptView, RunView, CursorView } from "../core/state.ts";
import { invariant } from "../kit/invariant.ts";
import { unreachable } from "../kit/unreachable.ts";
import { runsCommand } from "./judging-commands.ts";
import { inspectProtectedFiles } from "./protected-files.ts";
import { fillGate } from "./prove.ts";
import type { Runtime } from "./runtime.ts";

/** From so many crashes on, a person decides. */
const crashesMax = 3;

type Settlement = {
  readonly event: Omit<EventOf<"attempt_settled">, "actor" | "reason_code">;
  readonly closing: Draft | null;
  /** Partial work to be set aside once its cost is recorded. */
  readonly isQuarantined: boolean;
};

/** Finds out the crash state of an attempt that was left open, and follows the recovery table. */
export async function recoverAttempt(
  runtime: Runtime,
  run: RunView,
  attempt: AttemptId,
): Promise<Settlement> {
  await runtime.agents.sweep(run.drafted.run_id); // a pipe cannot be taken over: processes that still live are ended first
  const openAttempt = run.open[attempt];
  invariant(openAttempt !== undefined, `${attempt} is open`);
  const cursor = run.cursors[openAttempt.cursor];
  invariant(cursor !== undefined, `F2: ${openAttempt.cursor} is a cursor of the run`);
  const step = findStep(run, cursor, openAttempt.step);
  const crashState = await inspectCrash(runtime, run, { cursor, openAttempt, step });
  const { remedy, why } = findRecoveryRow(crashState);
  const wasPaid =
    crashState.kind === "agent" && crashState.stage === "started" && crashState.layer !== "absent";
  const usage =
    wasPaid && remedy !== "ask"
      ? reportedCharge(null, { expectedUsage: openAttempt.need, minutes: 0 })
      : undefined;
  const usageField = usage === undefined ? {} : { usage };

  const event = {
    event: "attempt_settled",
    attempt,
    doubt: crashState,
    remedy,
    why,
    ...usageField,
  } as const;

  return {
    event,
    closing: remedy === "close" ? await buildClosingEvent(runtime, attempt, cursor) : null,
    isQuarantined: remedy === "repeat" && crashState.kind === "agent",
  };
}

type CrashedAttempt = {
  readonly cursor: CursorView;
  readonly openAttempt: OpenAttemptView;
  readonly step: Step;
};

async function inspectCrash(
  runtime: Runtime,
  run: RunView,
  attempt: CrashedAttempt,
): Promise<CrashState> {
  const { openAttempt, step } = attempt;
  const kind = stepKind(step);
  const stage =
    openAttempt.stage === "turned" || openAttempt.stage === "applied"
      ? openAttempt.stage
      : "started";

  const defaults = {
    stage,
    layer: "absent",
    done: false,
    proof: false,
    often: openAttempt.crashes >= crashesMax,
  } as const;

  switch (kind) {
    case "agent": {
      const { layer, commit } = await runtime.workspace.inspect(
        openAttempt.attempt,
        openAttempt.turn?.layer ?? null,
      );

      // Its turn has ended; it was not recorded, and its layer is read for the first time.
      if (stage === "started" && runtime.receipts.read(openAttempt.attempt) !== null) {
        return {
          ...defaults,
          kind,
          stage: "turned",
          layer: layer === "absent" ? layer : "intact",
          done: commit !== null,
        };
      }

      const layerState = stage === "started" && layer === "intact" ? "dirty" : layer;
      const isProved =
        stage === "started" &&
        layerState === "dirty" &&
        (await isDoneByArtifacts(runtime, run, attempt));

      return { ...defaults, kind, layer: layerState, done: commit !== null, proof: isProved };
    }
    case "run":
      return {
        ...defaults,
        kind,
        done: (await runtime.functions.run[step.run ?? ""]?.isDone?.(openAttempt.attempt)) ?? false,
      };
    case "check":
    case "tasks":
    case "flow":
      return { ...defaults, kind };
    case "human":
      throw new Error("a human step has no attempt");
    default:
      return unreachable(kind);
  }
}

/**
 * Whether the attempt's artifacts prove its work done: they must be fresh (they hold with its layer
 * and not without it), and no row may need the agent's return.
 */
async function isDoneByArtifacts(
  runtime: Runtime,
  run: RunView,
  { cursor, openAttempt, step }: CrashedAttempt,
): Promise<boolean> {
  const { attempt } = openAttempt;
  const gates = (step.proof ?? []).filter((proof): proof is Gate => typeof proof !== "string");
  const needsNames = gates.length !== (step.proof ?? []).length;
  const needsReport = step.returns !== undefined && step.returns_optional !== true;
  const isReportRead = readsReturn(cursorSteps(run, cursor), step.id);
  if (gates.length === 0 || needsNames || needsReport || isReportRead) return false;

  const commit = await runtime.workspace.preview(attempt);
  if (commit === null) return false;
  const { paths } = await runtime.workspace.changesOf(attempt);

  const holdsOn = async (candidate: string, changed: readonly string[]): Promise<boolean> => {
    // An attempt that changed protected files is not closed by its proof.
    if (gates.some(runsCommand)) {
      const { refused } = await inspectProtectedFiles(runtime, run, candidate);
      if (refused.length > 0) return false;
    }

    const request = {
      attempt,
      gates: gates.map((gate) => fillGate(run.drafted.flow, gate, cursor.phase, cursor.task ?? "")),
      commit: candidate,
      changed,
      cancel: new AbortController().signal,
      onLiveEvent: runtime.onLiveEvent,
    };

    const { holds, hollow: placeholders = [] } = await runtime.verifier.prove(request);
    return holds && placeholders.length === 0; // Headings without text may be what an interrupted turn had not reached yet.
  };

  const unproved = cursor.unproved?.[step.id] ?? [];
  const holdsWithLayer = await holdsOn(commit, [...paths, ...unproved]);
  return holdsWithLayer && !(await holdsOn(run.tip.commit, unproved));
}

/** Whether a condition of a step in the list reads this step's agent return. */
function readsReturn(steps: readonly Step[], id: string): boolean {
  const conditions = steps.flatMap(({ only_if, unless = [], then = [], otherwise = [], human }) => {
    const rows = [...then, ...otherwise, ...(human?.preset ?? [])];
    return [only_if ?? {}, ...unless, ...rows.map(({ when }) => when ?? {})];
  });

  const factNames = conditions.flatMap((condition) => Object.keys(condition));
  return factNames.some((name) => name.startsWith(`${id}.says.`));
}

/**
 * The work is there and proved, only the turn was never recorded: its return is empty, and
 * `attempt_settled` charges it at its estimate.
 */
async function buildClosingEvent(
  runtime: Runtime,
  attempt: AttemptId,
  cursor: CursorView,
): Promise<Draft> {
  const { tree } = await runtime.workspace.changesOf(attempt);
  return {
    event: "turn_ended",
    attempt,
    agent: "unknown",
    stop: `closed by its artifacts in ${cursor.path}`,
    says: {},
    said: "",
    promised: false,
    announced_more: false,
    confidence: null,
    usage: { tokens: 0, calls: 0, minutes: 0, source: "estimated" },
    layer: tree,
  };
}
