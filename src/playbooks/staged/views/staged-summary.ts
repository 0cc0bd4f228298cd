// staged-summary: renders the summary of a staged project: its step, decisions, last session and
// blockers.

import { retriesMax } from "../../../contracts/staged-state.ts";
import type { ParsedStagedState } from "./parse-staged-state.ts";
import { oneLine } from "../../../views/wording.ts";
import { stagedSteps } from "./staged-steps.ts";

const decisionsShownMax = 8;

export function renderStagedSummary({
  current,
  decisions,
  last_session,
  blockers,
  completed,
}: ParsedStagedState["state"]): readonly string[] {
  const hiddenCount = decisions.length - decisionsShownMax;
  return [
    current === null
      ? "Where it stands cannot be read from the state file."
      : describeCurrent(current),
    ...(completed.length === 0
      ? []
      : [
          `Completed: ${completed.map(({ step, name }) => `${step} ${oneLine(name, 40)}`).join(", ")}`,
        ]),
    ...(decisions.length === 0 ? ["Decisions: none yet"] : ["Decisions:"]),
    ...(hiddenCount > 0 ? [`  … ${hiddenCount} earlier ones`] : []),
    ...decisions.slice(-decisionsShownMax).map((decision) => `  - ${oneLine(decision)}`),
    ...(last_session === null ? ["Last session: none"] : sessionLines(last_session)),
    ...(blockers.length === 0
      ? ["Blockers: none"]
      : ["Blockers:", ...blockers.map((blocker) => `  ! ${oneLine(blocker)}`)]),
  ];
}

function sessionLines({
  date,
  ended_at,
  reason,
  notes,
}: NonNullable<ParsedStagedState["state"]["last_session"]>): readonly string[] {
  const headline = `Last session: ${oneLine(date, 40)}, ended at ${oneLine(ended_at, 80)} (${oneLine(reason, 40)})`;
  return notes === "" ? [headline] : [headline, `  ${oneLine(notes)}`];
}

type Current = NonNullable<ParsedStagedState["state"]["current"]>;

function describeCurrent({ flow, step, name, status, sub_step, retry_count }: Current): string {
  if (step === "done") return `Flow ${flow}: done.`;
  const steps = Object.hasOwn(stagedSteps, flow) ? stagedSteps[flow] : undefined;
  const totalText = steps === undefined ? "" : ` of ${steps.length}`;
  const subStepText = sub_step === null ? "" : `, at ${oneLine(sub_step, 80)}`;
  const retries = retry_count === 0 ? "" : `, ${retry_count} of ${retriesMax} retries used`;

  return `Flow ${flow}, step ${step}${totalText}: ${oneLine(name, 60)} (${status.replaceAll("_", " ")}${subStepText}${retries})`;
}
