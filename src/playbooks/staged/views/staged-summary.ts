// staged-summary: renders the summary of a staged project: its step, decisions, last session and blockers.

import { stagedSteps } from "../../../contracts/staged-state.ts";
import type { ParsedStagedState } from "./parse-staged-state.ts";
import { oneLine } from "../../../views/wording.ts";

const decisionsShownMax = 8;

export function stagedSummary({ current, decisions, last_session, blockers, completed }: ParsedStagedState["state"]): readonly string[] {
  const more = decisions.length - decisionsShownMax;
  return [
    current === null ? "Where it stands cannot be read from the state file." : describeCurrent(current),
    ...(completed.length === 0 ? [] : [`Completed: ${completed.map(({ step, name }) => `${step} ${oneLine(name, 40)}`).join(", ")}`]),
    ...(decisions.length === 0 ? ["Decisions: none yet"] : ["Decisions:"]),
    ...(more > 0 ? [`  … ${more} earlier ones`] : []),
    ...decisions.slice(-decisionsShownMax).map((decision) => `  - ${oneLine(decision)}`),
    ...(last_session === null
      ? ["Last session: none"]
      : [
          `Last session: ${oneLine(last_session.date, 40)}, ended at ${oneLine(last_session.ended_at, 80)} (${oneLine(last_session.reason, 40)})`,
          ...(last_session.notes === "" ? [] : [`  ${oneLine(last_session.notes)}`]),
        ]),
    ...(blockers.length === 0 ? ["Blockers: none"] : ["Blockers:", ...blockers.map((blocker) => `  ! ${oneLine(blocker)}`)]),
  ];
}

type Current = NonNullable<ParsedStagedState["state"]["current"]>;

function describeCurrent({ flow, step, name, status, sub_step, retry_count }: Current): string {
  if (step === "done") return `Flow ${flow}: done.`;
  const steps = Object.hasOwn(stagedSteps, flow) ? stagedSteps[flow] : undefined;
  const totalText = steps === undefined ? "" : ` of ${steps.length}`;
  const subStepText = sub_step === null ? "" : `, at ${oneLine(sub_step, 80)}`;
  const retries = retry_count === 0 ? "" : `, ${retry_count} of 3 retries used`;
  return `Flow ${flow}, step ${step}${totalText}: ${oneLine(name, 60)} (${status.replaceAll("_", " ")}${subStepText}${retries})`;
}
