// roadmap-steps: the steps of a roadmap's phase under the names that readers of state.json know.

/** The steps of a phase: `preflight → triage → research → plan → plan_check → execute → verify → judge → gate`, and `debug`. */
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

/** Steps of ours that are part of one of theirs. Whatever decides how a phase ends, and what follows from that, is the gate. */
const partOf: Readonly<Record<string, PipelineStep>> = {
  checks: "verify",
  confirm: "verify",
  judge_blind: "judge",
  human_check: "gate",
  undo: "gate",
  withdraw: "gate",
  approve: "gate",
  land: "gate",
};

/** The name in the pipeline; a step that some other flow adds keeps its own. */
export const pipelineName = (step: string): string => (Object.hasOwn(partOf, step) ? (partOf[step] ?? step) : step);
