// stage: a fake outside with a disk that survives a power cut, and a small synchronous driver over
// it. Every tick is a moment where the plug may be pulled; what was appended and what is on the
// disk stays.

import type { CrashState } from "../../../src/contracts/crash-state.ts";
import type { Draft, Entry } from "../../../src/contracts/event.ts";
import type { Flow, Scalar } from "../../../src/contracts/flow.ts";
import { reportedCharge, findLimit, usedAmount } from "../../../src/core/budget.ts";
import type { NextAction } from "../../../src/core/next-action.ts";
import { buildTurnHistory } from "../../../src/core/turn-history.ts";
import { phaseRule, findStep, getCursor } from "../../../src/core/selectors.ts";
import { findRecoveryRow } from "../../../src/core/recovery.ts";
import type { OpenAttempt, Run } from "../../../src/core/state.ts";
import { sortIntoWaves } from "../../../src/core/waves.ts";
import { dimensions } from "../../../src/contracts/budget.ts";
import { opened, sha, Tape, usage } from "./tape.ts";

export class PowerCut extends Error {}

type Task = { readonly id: string; readonly files: string[]; readonly after: string[] };
export type Plan = {
  readonly fail?: string;
  readonly progress?: boolean;
  readonly facts?: Readonly<Record<string, Scalar>>;
  readonly says?: Readonly<Record<string, Scalar>>;
  readonly tasks?: readonly Task[];
  readonly left?: readonly string[];
  readonly interrupt?: "scope" | "provider";
  readonly asks?: number;
};
export type PhasesRead = readonly {
  readonly id: string;
  readonly after: string[];
  readonly skip?: string;
}[];
export type Asked = {
  readonly phase: string;
  readonly step: string;
  readonly n: number;
  readonly task: string | null;
  readonly visit: number;
  readonly run: Run;
};
export type Script = { readonly plan: (asked: Asked) => Plan; readonly phases?: PhasesRead };

export type Disk = {
  journal: readonly Entry[];
  layers: Map<string, "dirty" | "intact">;
  commits: string[];
  effects: Set<string>;
  files: Set<string>;
  requests: Draft[];
  turns: string[];
};
export const newDisk = (): Disk => ({
  journal: [],
  layers: new Map(),
  commits: [],
  effects: new Set(),
  files: new Set(),
  requests: [],
  turns: [],
});

export type Machine = {
  readonly disk: Disk;
  readonly tick: () => void;
  readonly pick?: (size: number) => number;
  readonly onAppend?: (tape: Tape) => void;
};

const loopsMax = 20_000;

/** Drives what is on the disk to its next rest. */
export function drive(
  machine: Machine,
  script: Script,
): { readonly tape: Tape; readonly why: string } {
  const { disk } = machine;
  const tape = new Tape(disk.journal);
  const live = new Map<string, Generator<Draft | null, void>>();

  const append = (draft: Draft): void => {
    machine.tick();
    tape.append(JSON.parse(JSON.stringify(draft)) as Draft);
    disk.journal = tape.entries;
    machine.onAppend?.(tape);
    machine.tick();
  };
  append(opened(tape.run.opening + 1));

  for (let loop = 0; loop < loopsMax; loop++) {
    for (const request of disk.requests.splice(0)) if (fits(tape.run, request)) append(request);
    const { next, run } = tape;
    if (next.do === "rest") return { tape, why: next.why };
    if (next.do === "record") append(next.event);
    if (next.do === "survey") append({ event: "artifacts_surveyed", ...survey(disk, run) });
    if (next.do === "read") {
      append({
        event: "phases_read",
        phases: (script.phases ?? []).map((phase) => ({ ...phase })),
      });
    }

    if (next.do === "attempt") {
      affordedOrThrow(run, next);
      append(next.event);
      live.set(
        next.event.attempt,
        perform(machine, () => tape.run, next.event.attempt, script),
      );
    }

    if (next.do === "settle") {
      const doubt = inspect(disk, run, next.attempt);
      const { remedy, why } = findRecoveryRow(doubt);

      const isLost =
        doubt.kind === "agent" &&
        doubt.stage === "started" &&
        doubt.layer !== "absent" &&
        remedy === "repeat";

      if (remedy === "repeat") disk.layers.delete(next.attempt);
      append({
        event: "attempt_settled",
        attempt: next.attempt,
        doubt,
        remedy,
        why,
        ...(isLost
          ? { usage: reportedCharge(null, { expectedUsage: usage(100), minutes: 0 }) }
          : {}),
      });

      if (remedy !== "ask") {
        live.set(
          next.attempt,
          perform(machine, () => tape.run, next.attempt, script),
        );
      }
    }

    if (next.do === "cancel") {
      live.delete(next.attempt);
      const stage = run.open[next.attempt]?.stage;
      if (stage === "started") disk.layers.delete(next.attempt);
      append({
        event: "step_interrupted",
        attempt: next.attempt,
        by: "operator",
        usage: usage(50),
        reason_code: "operator_paused",
      });
    }

    if (next.do === "wait") step(machine, live, tape, append);
  }

  throw new Error("it does not end");
}

/** What no longer makes sense is let go, as the engine does. */
function fits(run: Run, request: Draft): boolean {
  if (!("request" in request) || run.requests[request.request] !== undefined) return false;
  if (request.event === "control_requested") {
    return run.status === "running" || (run.status === "paused" && request.control === "stop");
  }

  if (request.event === "block_answered") return run.blocks[request.block] !== undefined;
  return request.event !== "run_resumed" || run.status === "paused";
}

function step(
  machine: Machine,
  live: Map<string, Generator<Draft | null, void>>,
  tape: Tape,
  append: (draft: Draft) => void,
): void {
  const [attempt, action] = [...live][machine.pick?.(live.size) ?? 0] ?? [];
  if (attempt === undefined || action === undefined) throw new Error("it waits for nothing");
  const { value, done } = action.next();
  machine.tick();
  if (value !== null && value !== undefined) append(value);
  const open = tape.run.open[attempt];
  if (done === true || open === undefined || open.stage === "walking") live.delete(attempt);
}

function* perform(
  { disk }: Machine,
  now: () => Run,
  attempt: string,
  script: Script,
): Generator<Draft | null, void> {
  const open = now().open[attempt] as OpenAttempt;
  const cursor = getCursor(now(), open.cursor);
  const task =
    cursor.kind === "phase" || cursor.kind === "closing"
      ? null
      : (open.cursor.split("/").pop() ?? null);

  const plan = script.plan({
    phase: cursor.phase,
    step: open.step,
    task,
    n: Number(attempt.split("#").pop()),
    visit: cursor.visit,
    run: now(),
  });

  const facts = { ...plan.facts };
  const progress = plan.progress ?? true;

  const ended: Draft =
    plan.fail === undefined
      ? { event: "step_completed", attempt, facts, progress }
      : {
          event: "step_failed",
          attempt,
          facts,
          progress,
          fingerprint: plan.fail,
          reason_code: plan.fail,
        };

  yield null;
  if (open.kind === "tasks") {
    yield {
      event: "tasks_read",
      attempt,
      waves: sortIntoWaves(plan.tasks ?? []),
      left: [...(plan.left ?? [])],
    };

    return;
  }

  if (open.kind !== "agent") {
    if (open.kind === "run") disk.effects.add(attempt);
    yield null;
    yield ended;

    return;
  }

  if (open.stage === "started") {
    const { history } = buildTurnHistory(now(), attempt);
    disk.turns.push(`${attempt} after ${history.length}`);
    disk.layers.set(attempt, "dirty");
    yield null;
    const key = `cut:${attempt}`;
    if (plan.interrupt !== undefined && !disk.effects.has(key)) {
      disk.effects.add(key);
      disk.layers.delete(attempt);
      yield {
        event: "step_interrupted",
        attempt,
        by: plan.interrupt,
        usage: usage(50),
        reason_code:
          plan.interrupt === "provider" ? "provider_limit_reached" : "scope_violation_blocked",
        paths: ["x"],
      };

      return;
    }

    for (let ask = 1; ask <= (plan.asks ?? 0); ask++) {
      yield { event: "return_asked_again", attempt, ask, errors: ["no"] };
    }

    disk.layers.set(attempt, "intact");
    yield {
      event: "turn_ended",
      attempt,
      agent: "fake",
      stop: "end_turn",
      says: { ...plan.says },
      said: "",
      promised: false,
      announced_more: false,
      confidence: null,
      usage: usage(100),
    };
  }

  if (open.stage !== "applied") {
    yield null;
    if (!disk.commits.includes(attempt)) disk.commits.push(attempt);
    disk.layers.delete(attempt);
    disk.files.add(`${cursor.phase}/${task === null ? open.step : "t"}`);
    const commit = sha(disk.commits.indexOf(attempt) + 2);
    yield {
      event: "changes_applied",
      attempt,
      commit,
      parent: sha(1),
      tree: commit,
      paths: ["x"],
      not_applied: 0,
    };
  }

  yield null;
  yield ended;
}

function inspect(disk: Disk, run: Run, attempt: string): CrashState {
  const open = run.open[attempt] as OpenAttempt;
  const stage = open.stage === "turned" || open.stage === "applied" ? open.stage : "started";
  const found = disk.layers.get(attempt);
  const layer =
    found === undefined ? "absent" : found === "intact" && stage !== "started" ? "intact" : "dirty";

  return {
    kind: open.kind,
    stage,
    layer,
    done: disk.commits.includes(attempt) || disk.effects.has(attempt),
    proof: false,
    often: open.crashes >= 3,
  };
}

function survey(disk: Disk, run: Run): { gone: string[]; proved: string[] } {
  const flow: Flow = run.drafted.flow;
  const proofs = (id: string): readonly string[] =>
    phaseRule(flow, id)
      .steps.filter(({ proof, agent }) => proof !== undefined && agent !== undefined)
      .map((of) => `${id}/${of.id}`);
  const holds = (id: string): boolean => proofs(id).every((file) => disk.files.has(file));
  const asked = run.phases.filter(({ id, group }) => group === "phases" && proofs(id).length > 0);

  return {
    gone:
      flow.recheck === "all"
        ? asked.filter(({ id, status }) => status === "completed" && !holds(id)).map(({ id }) => id)
        : [],
    proved:
      flow.enter === "first_unproved"
        ? asked.filter(({ id, visit }) => visit === 0 && holds(id)).map(({ id }) => id)
        : [],
  };
}

/** No turn begins unless spent, reserved and needed together fit every limit. */
function affordedOrThrow(run: Run, next: Extract<NextAction, { do: "attempt" }>): void {
  const { need, walk, step: id } = next.event;
  if (need === undefined) return;
  const { phase } = getCursor(run, walk);

  if (findStep(run, getCursor(run, walk), id).agent === undefined) {
    throw new Error(`${id} needs nothing`);
  }

  for (const scope of ["run", "phase"] as const) {
    for (const dimension of dimensions) {
      const limit = findLimit(run, scope, phase, dimension);
      if (
        limit !== undefined &&
        usedAmount(run, scope, phase, dimension) + (need[dimension] ?? 0) > limit
      ) {
        throw new Error(`unaffordable: ${dimension}`);
      }
    }
  }
}
