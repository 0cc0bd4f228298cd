// staged-summary: renders the summary of a staged project: its step, decisions, last session and
// blockers.

import { retriesMax } from "../../../contracts/staged-state.ts";
import type { ParsedStagedState } from "./parse-staged-state.ts";
import { oneLine } from "../../../views/wording.ts";
import { stagedSteps } from "./staged-steps.ts";

const decisionsShownMax = 8;

type State = ParsedStagedState["state"];

export const renderStagedSummary = (state: State): readonly string[] => [
  describeCurrent(state.current),
  ...completedLines(state.completed),
  ...decisionLines(state.decisions),
  ...sessionLines(state.last_session),
  ...blockerLines(state.blockers),
];

function completedLines(completed: State["completed"]): readonly string[] {
  const steps = completed.map(({ step, name }) => `${step} ${oneLine(name, 40)}`);
  return steps.length === 0 ? [] : [`Completed: ${steps.join(", ")}`];
}

function decisionLines(decisions: State["decisions"]): readonly string[] {
  if (decisions.length === 0) return ["Decisions: none yet"];
  const hiddenCount = decisions.length - decisionsShownMax;
  return [
    "Decisions:",
    ...(hiddenCount > 0 ? [`  … ${hiddenCount} earlier ones`] : []),
    ...decisions.slice(-decisionsShownMax).map((decision) => `  - ${oneLine(decision)}`),
  ];
}

const blockerLines = (blockers: State["blockers"]): readonly string[] =>
  blockers.length === 0
    ? ["Blockers: none"]
    : ["Blockers:", ...blockers.map((blocker) => `  ! ${oneLine(blocker)}`)];

function sessionLines(session: State["last_session"]): readonly string[] {
  if (session === null) return ["Last session: none"];
  const { date, ended_at, reason, notes } = session;
  const headline = `Last session: ${oneLine(date, 40)}, ended at ${oneLine(ended_at, 80)} (${oneLine(reason, 40)})`;
  return notes === "" ? [headline] : [headline, `  ${oneLine(notes)}`];
}

function describeCurrent(current: State["current"]): string {
  if (current === null) return "Where it stands cannot be read from the state file.";
  const { flow, step, name, status, sub_step, retry_count } = current;
  if (step === "done") return `Flow ${flow}: done.`;
  const steps = Object.hasOwn(stagedSteps, flow) ? stagedSteps[flow] : undefined;
  const totalText = steps === undefined ? "" : ` of ${steps.length}`;
  const subStepText = sub_step === null ? "" : `, at ${oneLine(sub_step, 80)}`;
  const retries = retry_count === 0 ? "" : `, ${retry_count} of ${retriesMax} retries used`;

  return `Flow ${flow}, step ${step}${totalText}: ${oneLine(name, 60)} (${status.replaceAll("_", " ")}${subStepText}${retries})`;
}
