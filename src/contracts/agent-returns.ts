// agent-returns: schemas of what the roadmap's agents return, field by field, and of what its
// triage finds. The agent is shown the descriptions. Further fields are accepted and never read.

import * as v from "valibot";
import { triageRoutes } from "./roadmap-reports.ts";
import {
  Alignment,
  complexities,
  FailureCategory,
  fixComplexities,
  recommendations,
  Whole,
} from "./roadmap-values.ts";

// Each takes the description that the agent is shown.
const text = (about: string) => v.pipe(v.string(), v.maxLength(20_000), v.description(about));
const texts = (about: string) =>
  v.pipe(v.array(v.pipe(v.string(), v.maxLength(4_000))), v.maxLength(200), v.description(about));
const count = (about: string) => v.pipe(Whole, v.description(about));
const flag = (about: string) => v.pipe(v.boolean(), v.description(about));
const score = (about: string) => v.pipe(Alignment, v.description(about));
const share = (about: string) =>
  v.pipe(v.string(), v.regex(/^\d+\/\d+$/, "expected N/M"), v.description(about));

const Issue = v.union([
  v.pipe(v.string(), v.maxLength(4_000)),
  v.looseObject({
    plan: v.optional(v.string()),
    dimension: v.optional(v.string()),
    severity: v.picklist(["blocker", "warning", "info"]),
    description: text("what is wrong"),
    fix_hint: v.optional(text("how to put it right")),
  }),
]);
const issues = (about: string) => v.pipe(v.array(Issue), v.maxLength(200), v.description(about));
const Categorised = v.looseObject({
  failure: text("the failure in a sentence"),
  category: FailureCategory,
});
const categories = v.pipe(
  v.array(Categorised),
  v.maxLength(200),
  v.description("each failure with one of the ten categories"),
);

const CheckOutcome = v.union([
  v.boolean(),
  v.literal("n/a"),
  v.looseObject({
    status: v.picklist(["pass", "fail", "n/a", "skipped"]),
    detail: v.optional(v.string()),
  }),
]);

export const PreflightReturn = v.looseObject({
  all_clear: flag("true only if nothing stands in the way"),
  spec_hash_match: flag("the specification is the one the run began with"),
  working_tree_clean: flag("nothing lies uncommitted"),
  dependencies_met: flag("every phase this one depends on is completed"),
  unresolved_debug: texts("debug notes that are not resolved"),
  issues: issues("what stands in the way"),
});

export const TriageReturn = v.looseObject({
  routing: v.pipe(
    v.picklist(triageRoutes),
    v.description("verify_only where nearly everything holds already"),
  ),
  pass_ratio: v.pipe(
    v.number(),
    v.minValue(0),
    v.maxValue(1),
    v.description("criteria that hold out of all criteria"),
  ),
  likely_implemented: flag("more than 0.80 of the criteria hold"),
  criteria_checked: count("criteria that have a command and were run"),
  criteria_passed: count("criteria that hold"),
  note: text("one sentence why it is routed so"),
});

export const ResearchReturn = v.looseObject({
  key_findings: texts("three to five things that matter for the plan"),
  recommended_approach: text("the approach you recommend, in one or two sentences"),
  risks: texts("risks and blockers"),
  open_questions: texts("what the planner must decide"),
});

export const PlanReturn = v.looseObject({
  plans_created: count("plans written to PLAN.md"),
  waves: count("waves of execution"),
  total_tasks: count("tasks in all plans"),
  complexity: v.pipe(v.picklist(complexities), v.description("how complex the phase is")),
  dependencies: texts("which plan needs which"),
  concerns: texts("decisions put off and doubts"),
});

export const PlanCheckReturn = v.looseObject({
  pass: flag("false if the plan must be written again"),
  issues: issues("each fault of the plan, blockers first"),
  confidence: score("1 to 10: how sure you are that this plan meets the phase's goal"),
  blocker_count: count("issues that forbid execution"),
  warning_count: count("issues that do not"),
});

export const ExecuteReturn = v.looseObject({
  tasks_completed: share("N/M: tasks completed out of all"),
  tasks_failed: share("N/M: tasks failed out of all"),
  commit_shas: texts("commits you made, one a task"),
  evidence: v.pipe(
    v.array(
      v.looseObject({
        task_id: v.pipe(v.string(), v.minLength(1), v.description("the task's id in PLAN.md")),
        criteria_met: texts("criterion -- file:line -- finding"),
        commands_run: texts("command -> result"),
      }),
    ),
    v.maxLength(200),
    v.description("what shows each task to be done"),
  ),
  deviations: texts("departures from the plan; empty if there is none"),
});

export const VerifyReturn = v.looseObject({
  pass: flag("true only if every criterion holds and every check passes"),
  automated_checks: v.pipe(
    v.record(v.string(), CheckOutcome),
    v.description("compile, lint, build, tests: what each came to"),
  ),
  criteria_results: v.pipe(
    v.array(
      v.looseObject({
        criterion: text("the criterion"),
        status: v.picklist(["verified", "failed"]),
        evidence: text("file:line or command and result"),
      }),
    ),
    v.maxLength(500),
    v.description("every criterion with what you found"),
  ),
  alignment_score: score("1 to 10: how well the work agrees with what was asked for"),
  verification_duration_seconds: v.pipe(
    v.number(),
    v.minValue(0),
    v.description("how long you looked"),
  ),
  commands_run: texts("command -> result"),
  failures: texts("what does not hold"),
  failure_categories: categories,
  scope_creep: texts("what was built and nobody asked for"),
});

export const JudgeReturn = v.looseObject({
  alignment_score: score(
    "1 to 10: how well the work agrees with the specification, by your own evidence",
  ),
  recommendation: v.pipe(
    v.picklist(recommendations),
    v.description("what should be done with this work"),
  ),
  concerns: v.pipe(
    v.array(v.pipe(v.string(), v.maxLength(4_000))),
    v.maxLength(200),
    v.description("what worries you; empty if nothing does"),
  ),
  independent_evidence: texts(
    "file:line -- what you found yourself, before you read the verifier's report",
  ),
  verifier_agreement: v.pipe(
    v.union([v.boolean(), v.pipe(v.string(), v.maxLength(4_000))]),
    v.description("whether you agree with the verifier"),
  ),
  verifier_missed: texts("what the verifier did not see"),
  scope_creep: texts("what was built and nobody asked for"),
  missing_requirements: texts("what was asked for and is not there"),
  notes: text("anything else worth keeping; empty if nothing"),
});

export const DebugReturn = v.looseObject({
  fixed: flag("true if nothing remains"),
  changes: texts("file -- what you changed"),
  commits: texts("commits you made"),
  remaining_issues: texts("what is still broken; empty if nothing"),
  failure_categories: v.pipe(
    v.array(v.union([Categorised, FailureCategory])),
    v.maxLength(200),
    v.description("each failure's category"),
  ),
});

const RequirementChecked = v.looseObject({
  requirement_id: text("the requirement's id in the specification"),
  expected: text("what the specification requires"),
  actual_found: text("what is there"),
  file_line_evidence: text("file:line -- what stands there"),
  status: v.picklist(["pass", "gap"]),
  gap_description: v.nullable(text("null if it passes; else what is missing")),
  fix_complexity: v.nullable(v.picklist(fixComplexities)),
});
const GapDetail = v.looseObject({
  requirement_id: text("the requirement's id"),
  phase_id: text("the phase it belongs to"),
  gap_description: text("what is missing"),
  fix_complexity: v.picklist(fixComplexities),
  suggested_fix: text("where and how to close it"),
});

export const SelfAuditReturn = v.looseObject({
  audit_results: v.pipe(
    v.array(
      v.looseObject({
        phase_id: text("the phase"),
        requirements_checked: v.pipe(v.array(RequirementChecked), v.maxLength(500)),
      }),
    ),
    v.maxLength(500),
    v.description("every requirement of every completed phase"),
  ),
  aggregate: v.looseObject({
    total_requirements_checked: count("requirements checked"),
    passed_on_first_check: count("requirements that pass"),
    gaps_found: count("requirements with a gap"),
    gap_details: v.pipe(
      v.array(GapDetail),
      v.maxLength(500),
      v.description("each gap, for who closes it"),
    ),
  }),
});
export type SelfAuditReturn = v.InferOutput<typeof SelfAuditReturn>;

/** By the name a flow's `returns` uses. */
export const roadmapReturns = {
  preflight: PreflightReturn,
  triage: TriageReturn,
  research: ResearchReturn,
  plan: PlanReturn,
  plan_check: PlanCheckReturn,
  execute: ExecuteReturn,
  verify: VerifyReturn,
  judge: JudgeReturn,
  debug: DebugReturn,
  self_audit: SelfAuditReturn,
} as const;
