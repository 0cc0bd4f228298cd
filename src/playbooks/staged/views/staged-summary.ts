// staged-summary: what is reported first when a staged project is resumed: its step, decisions, how the last session ended, blockers.

import { stagedSteps } from "../../../contracts/staged-state.ts";
import type { StagedRead } from "./staged-state-read.ts";
import { oneLine } from "../../../views/wording.ts";

const decisionsShown = 8;

export function stagedSummary({ current, decisions, last_session, blockers, completed }: StagedRead["state"]): readonly string[] {
  const more = decisions.length - decisionsShown;
  return [
    current === null ? "Where it stands cannot be read from the state file." : describeCurrent(current),
    ...(completed.length === 0 ? [] : [`Completed: ${completed.map(({ step, name }) => `${step} ${oneLine(name, 40)}`).join(", ")}`]),
    ...(decisions.length === 0 ? ["Decisions: none yet"] : ["Decisions:"]),
    ...(more > 0 ? [`  … ${more} earlier ones`] : []),
    ...decisions.slice(-decisionsShown).map((decision) => `  - ${oneLine(decision)}`),
    ...(last_session === null
      ? ["Last session: none"]
      : [
          `Last session: ${oneLine(last_session.date, 40)}, ended at ${oneLine(last_session.ended_at, 80)} (${oneLine(last_session.reason, 40)})`,
          ...(last_session.notes === "" ? [] : [`  ${oneLine(last_session.notes)}`]),
        ]),
    ...(blockers.length === 0 ? ["Blockers: none"] : ["Blockers:", ...blockers.map((blocker) => `  ! ${oneLine(blocker)}`)]),
  ];
}

type Current = NonNullable<StagedRead["state"]["current"]>;

function describeCurrent({ flow, step, name, status, sub_step, retry_count }: Current): string {
  if (step === "done") return `Flow ${flow}: done.`;
  const steps = Object.hasOwn(stagedSteps, flow) ? stagedSteps[flow] : undefined;
  const of = steps === undefined ? "" : ` of ${steps.length}`;
  const at = sub_step === null ? "" : `, at ${oneLine(sub_step, 80)}`;
  const retries = retry_count === 0 ? "" : `, ${retry_count} of 3 retries used`;
  return `Flow ${flow}, step ${step}${of}: ${oneLine(name, 60)} (${status.replaceAll("_", " ")}${at}${retries})`;
}
