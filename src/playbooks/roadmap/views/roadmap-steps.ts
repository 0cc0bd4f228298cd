// roadmap-steps: maps the steps of a phase to the pipeline names of the state.json format.

/**
 * The steps of a phase: `preflight → triage → research → plan → plan_check → execute → verify →
 * judge → gate`, and `debug`.
 */
export const pipelineSteps = [
  "preflight",
  "triage",
  "research",
  "plan",
  "plan_check",
  "execute",
  "verify",
  "judge",
  "gate",
  "debug",
] as const;
export type PipelineStep = (typeof pipelineSteps)[number];

/**
 * Our steps that are part of a step of the format. Everything that decides or follows the end of a
 * phase is the gate.
 */
const pipelineStepOf: Readonly<Record<string, PipelineStep>> = {
  checks: "verify",
  confirm: "verify",
  judge_blind: "judge",
  human_check: "gate",
  undo: "gate",
  withdraw: "gate",
  approve: "gate",
  land: "gate",
};

/** The name in the pipeline; a step that is not listed keeps its own name. */
export const toPipelineName = (step: string): string =>
  Object.hasOwn(pipelineStepOf, step) ? (pipelineStepOf[step] ?? step) : step;
