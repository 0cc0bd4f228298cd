// roadmap-resumed: a roadmap's run that another tool began, as a run of ours goes on with it. What its state.json says is data: names, counts
// and times, bounded; no command comes from it, and nothing it calls proved counts as proved here.
//
// Invariants:
//   U1. A phase goes on at the step it was at, unless what that step works on is not there: then at the step that makes it.
//   U2. What it says was verified, the runner verifies for itself: nothing is completed on another tool's word.
//   U3. A plan that goes on to be executed has passed the runner's own lint, and its commands are locked.
//   U4. A task is not done again only if its commit is part of what is checked out; its commands are run anyway (U2).

import type { RoadmapPhase } from "../../../contracts/roadmap.ts";
import type { PhaseRecord, RoadmapState } from "../../../contracts/roadmap-state.ts";
import type { Resumed, ResumedPhase } from "../../../contracts/resumed.ts";
import { findChecks, phaseCriteria, unansweredCriteria } from "../documents/phase-criteria.ts";
import { git } from "../../../workspace/git/git.ts";
import type { PlanFound, RoadmapDocuments } from "./roadmap-documents.ts";

type Asked = {
  readonly root: string;
  /** The commit the run begins from. */
  readonly head: string;
  readonly path: string;
  readonly state: RoadmapState;
  readonly read: RoadmapDocuments;
  /** The phases that are to be run. */
  readonly wanted: readonly string[];
  readonly thresholds: { readonly noProgressMax: number; readonly sameErrorMax: number };
};

const countMax = 1_000_000;
const amountMax = 1e12;
const errorCharsMax = 200;
const tasksMax = 500;
const count = (value: number): number => Math.min(countMax, Math.floor(value));
const amount = (value: number): number => Math.min(amountMax, value);

export async function resumedFrom(asked: Asked): Promise<Resumed> {
  const { state, path, wanted, thresholds } = asked;
  const { _meta: meta, circuit_breaker: breaker, metrics } = state;
  const records = Object.values(state.phases);
  const [noProgress, same] = [count(breaker.consecutive_no_progress), count(breaker.consecutive_same_error)];
  const isOpen = breaker.state !== "closed" || noProgress >= thresholds.noProgressMax || same >= thresholds.sameErrorMax;
  const phases: ResumedPhase[] = [];
  for (const id of wanted) {
    const record = Object.hasOwn(state.phases, `phase_${id}`) ? state.phases[`phase_${id}`] : undefined;
    const phase = asked.read.phases.find((candidate) => candidate.id === id);
    if (phase === undefined || (record === undefined && id !== meta.current_phase)) continue;
    phases.push(await phaseFrom(asked, phase, record));
  }
  return {
    run: meta.run_id,
    path,
    status: meta.status,
    tokens: amount(Math.max(metrics.total_tokens_used, recordSum(records, "tokens_used"))),
    minutes: amount(metrics.total_duration_minutes),
    retries: count(recordSum(records, "debug_attempts") + recordSum(records, "replan_attempts")),
    breaker: { is_open: isOpen, no_progress: noProgress, same, last_error: breaker.last_error?.slice(0, errorCharsMax) ?? null },
    phases,
  };
}

const recordSum = (records: readonly PhaseRecord[], name: "tokens_used" | "debug_attempts" | "replan_attempts"): number =>
  records.reduce((sum, record) => sum + record[name], 0);

async function phaseFrom(asked: Asked, phase: RoadmapPhase, record: PhaseRecord | undefined): Promise<ResumedPhase> {
  const tokens = amount(record?.tokens_used ?? 0);
  // A failed phase is run again: what its last visit took is used, and its ways back are there again.
  if (record?.status === "failed" || record?.status === "not_started") return { id: phase.id, counts: {}, tokens };
  const counts = { debug: count(record?.debug_attempts ?? 0), replan: count(record?.replan_attempts ?? 0) };
  const plan = asked.read.plans.get(phase.id) ?? null;
  const step = record?.status === "needs_human_verification" ? "gate" : isCurrent(asked, phase) ? asked.state._meta.current_step : null;
  const at = entryAt(step ?? "preflight", soundness(phase, asked.read.path, plan));
  if (at === null) return { id: phase.id, counts, tokens };
  const done = await tasksDone(asked, record);
  const left = plan?.plan?.tasks.filter(({ type }) => type !== "auto").length ?? (step === "gate" ? 1 : 0);
  return {
    id: phase.id,
    step: at,
    facts: {
      preflight: { checkpoint: asked.head },
      ...(at === "checks" || at === "debug" ? { execute: { done: Math.max(1, done.length), left } } : {}),
    },
    counts,
    tokens,
    ...(plan?.plan == null ? {} : { checks: findChecks(phaseCriteria(phase, asked.read.path, { path: plan.path, plan: plan.plan })) }), // U3
    ...(at === "execute" && done.length > 0 ? { tasks_done: [...done] } : {}),
  };
}

const isCurrent = ({ state }: Asked, { id }: RoadmapPhase): boolean => state._meta.current_phase === id;

type Soundness = "none" | "unsound" | "sound";

/** U3 */
function soundness(phase: RoadmapPhase, roadmapPath: string, found: PlanFound | null): Soundness {
  if (found?.plan == null) return "none";
  const criteria = phaseCriteria(phase, roadmapPath, { path: found.path, plan: found.plan });
  const findings = [...found.findings, ...unansweredCriteria(criteria, found.path)];
  return findings.some(({ severity }) => severity === "error") ? "unsound" : "sound";
}

/** Our step that continues a phase that was at a step of the pipeline; null: from its beginning. U1, U2 */
export function entryAt(step: string, plan: Soundness): string | null {
  switch (step) {
    case "research":
    case "plan":
    case "debug":
      return step;
    case "plan_check":
      return plan === "none" ? "plan" : "plan_check";
    case "execute":
      return plan === "none" ? "plan" : plan === "unsound" ? "plan_check" : "execute";
    case "verify":
    case "judge":
    case "gate":
      return "checks";
    default:
      return null;
  }
}

/** U4 */
async function tasksDone({ root, head }: Asked, record: PhaseRecord | undefined): Promise<readonly string[]> {
  const done: string[] = [];
  for (const [name, task] of Object.entries(record?.steps.execute?.tasks ?? {}).slice(0, tasksMax)) {
    if (task.status !== "completed" || task.commit === null || !/^[0-9a-f]{7,64}$/i.test(task.commit)) continue;
    const { code } = await git({ cwd: root, args: ["merge-base", "--is-ancestor", task.commit, head], codes: [0, 1, 128] });
    if (code === 0) done.push(name.replace(/^task_/, ""));
  }
  return done;
}

/** How it continues, for the person who starts it. */
export function describeResumed({ run, status, phases, breaker }: Resumed, state: RoadmapState): string {
  const at = phases.find(({ id }) => id === state._meta.current_phase);
  const stood = state._meta.current_step ?? "its beginning";
  const place = at === undefined ? "" : ` at phase ${at.id}, ${at.step === undefined ? "from its beginning" : stood}`;
  const spent = `${state.metrics.total_tokens_used.toLocaleString("en")} tokens used so far`;
  return `Resumes ${run} (${status})${place}; ${spent}, breaker ${breaker.is_open ? "half open" : "closed"}.`;
}
