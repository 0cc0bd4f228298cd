// resumed-run: determines how a run continues a roadmap run of another tool. From its state.json
// come only ids, statuses, counts and the text of its last error, within limits; never commands,
// and nothing in it counts as proved.
//
// Invariants:
//   U1. A phase continues at its current step, unless the input of that step is missing: then at
//       the step that produces it.
//   U2. The runner verifies everything again: nothing is completed because another tool says so.
//   U3. A plan is executed only if it passes the runner's own lint, and its commands are locked.
//   U4. A task counts as done only if its commit is part of the checkout; its commands are run
//       anyway (U2).

import type { RoadmapPhase } from "../../../contracts/roadmap.ts";
import type { PhaseRecord, RoadmapState } from "../../../contracts/roadmap-state.ts";
import type { Resumed, ResumedPhase } from "../../../contracts/resumed.ts";
import {
  buildChecks,
  mergePhaseCriteria,
  reportMissingCommands,
} from "../documents/phase-criteria.ts";
import { git } from "../../../workspace/git/git.ts";
import type { PlanFile, RoadmapDocuments } from "./roadmap-documents.ts";

type ResumeInput = {
  readonly root: string;
  /** The commit the run begins from. */
  readonly head: string;
  readonly path: string;
  readonly state: RoadmapState;
  readonly documents: RoadmapDocuments;
  /** The phases that are to be run. */
  readonly phaseIds: readonly string[];
  readonly thresholds: { readonly noProgressMax: number; readonly sameErrorMax: number };
};

// The numbers come from a file that anybody can have written: they are cut to sizes that the
// journal accepts.
const countMax = 1_000_000;
const amountMax = 1e12;
const errorCharsMax = 200;
const tasksMax = 500;
const boundCount = (value: number): number => Math.min(countMax, Math.floor(value));
const boundAmount = (value: number): number => Math.min(amountMax, value);

/** The fields of `run_drafted` that say where the run begins. */
export async function buildResumedRun(input: ResumeInput): Promise<Resumed> {
  const { state, path, phaseIds, thresholds } = input;
  const { _meta: meta, circuit_breaker: breaker, metrics } = state;
  const records = Object.values(state.phases);
  const noProgressCount = boundCount(breaker.consecutive_no_progress);
  const sameErrorCount = boundCount(breaker.consecutive_same_error);
  const isOpen =
    breaker.state !== "closed" ||
    noProgressCount >= thresholds.noProgressMax ||
    sameErrorCount >= thresholds.sameErrorMax;

  const phases: ResumedPhase[] = [];
  for (const id of phaseIds) {
    const record = Object.hasOwn(state.phases, `phase_${id}`)
      ? state.phases[`phase_${id}`]
      : undefined;

    const phase = input.documents.phases.find((candidate) => candidate.id === id);
    if (phase === undefined || (record === undefined && id !== meta.current_phase)) continue;
    phases.push(await buildPhase(input, phase, record));
  }

  return {
    run: meta.run_id,
    path,
    status: meta.status,
    tokens: boundAmount(Math.max(metrics.total_tokens_used, sumRecords(records, "tokens_used"))),
    minutes: boundAmount(metrics.total_duration_minutes),
    retries: boundCount(
      sumRecords(records, "debug_attempts") + sumRecords(records, "replan_attempts"),
    ),
    breaker: {
      is_open: isOpen,
      no_progress: noProgressCount,
      same: sameErrorCount,
      last_error: breaker.last_error?.slice(0, errorCharsMax) ?? null,
    },
    phases,
  };
}

const sumRecords = (
  records: readonly PhaseRecord[],
  name: "tokens_used" | "debug_attempts" | "replan_attempts",
): number => records.reduce((sum, record) => sum + record[name], 0);

async function buildPhase(
  input: ResumeInput,
  phase: RoadmapPhase,
  record: PhaseRecord | undefined,
): Promise<ResumedPhase> {
  const tokens = boundAmount(record?.tokens_used ?? 0);
  // A failed phase starts over: its tokens count as used, but its debug and replan attempts are
  // reset.
  if (record?.status === "failed" || record?.status === "not_started") {
    return { id: phase.id, counts: {}, tokens };
  }

  const counts = {
    debug: boundCount(record?.debug_attempts ?? 0),
    replan: boundCount(record?.replan_attempts ?? 0),
  };

  const { documents, state, head } = input;
  const planFile = documents.plans.get(phase.id) ?? null;
  const locatedPlan = planFile?.plan == null ? null : { path: planFile.path, plan: planFile.plan };
  const currentStep = state._meta.current_phase === phase.id ? state._meta.current_step : null;
  const step = record?.status === "needs_human_verification" ? "gate" : currentStep;
  const entryStep = findEntryStep(step ?? "preflight", judgePlan(phase, documents.path, planFile));
  if (entryStep === null) return { id: phase.id, counts, tokens };
  const doneTasks = await findDoneTasks(input, record);
  // Without a plan, the other tool waiting at its gate means that a person was to judge something.
  const personTasks =
    locatedPlan?.plan.tasks.filter(({ type }) => type !== "auto").length ??
    (step === "gate" ? 1 : 0);

  const isExecuted = entryStep === "checks" || entryStep === "debug";
  // At least one, since the flow would otherwise execute the plan again.
  const executeFacts = isExecuted
    ? { execute: { done: Math.max(1, doneTasks.length), left: personTasks } }
    : {};

  const checks =
    locatedPlan === null
      ? null
      : buildChecks(mergePhaseCriteria(phase, documents.path, locatedPlan)); // U3

  return {
    id: phase.id,
    step: entryStep,
    facts: { preflight: { checkpoint: head }, ...executeFacts },
    counts,
    tokens,
    ...(checks === null ? {} : { checks }),
    ...(entryStep === "execute" && doneTasks.length > 0 ? { tasks_done: [...doneTasks] } : {}),
  };
}

type PlanState = "none" | "unsound" | "sound";

/** Whether there is a plan that passes lint and answers every criterion. U3 */
function judgePlan(phase: RoadmapPhase, roadmapPath: string, planFile: PlanFile | null): PlanState {
  if (planFile?.plan == null) return "none";
  const criteria = mergePhaseCriteria(phase, roadmapPath, {
    path: planFile.path,
    plan: planFile.plan,
  });
  const findings = [...planFile.findings, ...reportMissingCommands(criteria, planFile.path)];

  return findings.some(({ severity }) => severity === "error") ? "unsound" : "sound";
}

/**
 * Our step that continues a phase, by its step in the pipeline; null: the phase starts from its
 * beginning. U1, U2
 */
export function findEntryStep(step: string, plan: PlanState): string | null {
  switch (step) {
    case "research":
    case "plan":
    case "debug":
      return step;
    case "plan_check":
      return plan === "none" ? "plan" : "plan_check";
    case "execute":
      if (plan === "none") return "plan";
      return plan === "unsound" ? "plan_check" : "execute";
    case "verify":
    case "judge":
    case "gate":
      return "checks";
    default:
      return null;
  }
}

/** The tasks whose recorded commit is an ancestor of the commit the run begins from. U4 */
async function findDoneTasks(
  { root, head }: ResumeInput,
  record: PhaseRecord | undefined,
): Promise<readonly string[]> {
  const doneIds: string[] = [];
  for (const [name, task] of Object.entries(record?.steps.execute?.tasks ?? {}).slice(
    0,
    tasksMax,
  )) {
    if (
      task.status !== "completed" ||
      task.commit === null ||
      !/^[0-9a-f]{7,64}$/i.test(task.commit)
    ) {
      continue;
    }

    const { code } = await git({
      cwd: root,
      args: ["merge-base", "--is-ancestor", task.commit, head],
      acceptedExitCodes: [0, 1, 128],
    }); // 128: there is no such commit
    if (code === 0) doneIds.push(name.replace(/^task_/, ""));
  }

  return doneIds;
}

/**
 * One line for the preview. An open breaker is half open for the run that continues: it tries once.
 */
export function describeResumed(
  { run, status, phases, breaker }: Resumed,
  { _meta, metrics }: RoadmapState,
): string {
  const phase = phases.find(({ id }) => id === _meta.current_phase);
  const stepText =
    phase?.step === undefined ? "from its beginning" : (_meta.current_step ?? "its beginning");
  const phaseText = phase === undefined ? "" : ` at phase ${phase.id}, ${stepText}`;
  const tokensText = `${metrics.total_tokens_used.toLocaleString("en")} tokens used so far`;

  return `Resumes ${run} (${status})${phaseText}; ${tokensText}, breaker ${breaker.is_open ? "half open" : "closed"}.`;
}
