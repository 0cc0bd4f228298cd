// run-response: turns the state in which `go` or `resume` left a run into the command's response.

import type { CommandResponse } from "../contracts/command-response.ts";
import type { ReasonCode, ResultWord } from "../contracts/reason.ts";
import { reasons } from "../contracts/reason.ts";
import type { RunView } from "../core/state.ts";
import { completionCodes } from "../core/verdict.ts";
import { renderQuestionBox, listQuestions } from "../views/question-box.ts";
import { whyBranchKept, describeEnding, listNextActions } from "../views/next-actions.ts";
import { pauseDetail } from "../views/facts/pause-detail.ts";
import { isOpenQuestion } from "../views/progress.ts";
import { ownValue } from "../core/own-values.ts";
import { oneLine } from "../views/wording.ts";
import { toReasonCode } from "../project/runs/loaded-run.ts";
import { respond } from "../project/respond.ts";
import { runBranchName } from "../contracts/run-branch.ts";

/** Builds the response of `go` or `resume` from the run's state. */
export function buildRunResponse(
  run: RunView,
  restReason: string,
  warnings: readonly string[],
  patches: Readonly<Record<string, readonly string[]>> = {},
): CommandResponse {
  const code = toResponseCode(run, restReason);
  const questions = run.status === "paused" ? listQuestions(run) : [];
  const result: ResultWord = run.status === "stopped" ? "FAIL" : reasons[code].result;

  return respond(code, {
    result,
    run_id: run.drafted.run_id,
    state: run.status,
    message: describeOutcome(run, code),
    warnings: [...warnings, ...listBranchWarnings(run)],
    remediation: listNextActions(run),
    ...(questions.length === 0
      ? {}
      : {
          page: questions.flatMap((question) => [
            ...renderQuestionBox(question, ownValue(patches, question.block)),
            "",
          ]),
        }),
    data: {
      verdict: run.verdict,
      detail: run.detail,
      blocks: Object.keys(run.blocks),
      questions,
      gaps: run.gaps,
    },
  });
}

const detailCharsMax = 300;

/** Warns that finished work did not land and why, so that nobody mistakes it for landed work. */
function listBranchWarnings(run: RunView): readonly string[] {
  const kept = run.status === "completed" ? whyBranchKept(run) : null;
  const isSaid = kept?.code === "work_unproved" || kept?.code === "changed_tests_held";
  if (kept === null || isSaid) return []; // the ending says so
  const cause = kept.detail === null ? "" : ` ${oneLine(kept.detail, detailCharsMax)}`;

  return [`${reasons[kept.code].meaning}${cause} It is on ${runBranchName(run.drafted.run_id)}.`];
}

function toResponseCode(run: RunView, restReason: string): ReasonCode {
  switch (run.status) {
    case "completed":
      return completionCodes[run.verdict ?? "unverified"];
    case "stopped":
      return toReasonCode(run.reason, "operator_stopped");
    case "paused":
      return toReasonCode(run.reason, "boundary_reached");
    default:
      return toReasonCode(restReason, "cycle_cap_reached");
  }
}

function describeOutcome(run: RunView, code: ReasonCode): string {
  const name = run.drafted.run_id;
  // A question that was answered meanwhile is no longer a reason.
  const isAnswered = run.reason === "session_boundary" && Object.keys(run.blocks).length === 0;
  const detail = pauseDetail(run);
  const cause =
    detail === null || isAnswered || isOpenQuestion(run, detail) ? reasons[code].meaning : detail; // its box asks a question

  switch (run.status) {
    case "completed":
      return `${name} is completed. ${describeEnding(run)}`;
    case "stopped":
      return `${name} is stopped. ${toSentence(cause)}`;
    case "paused":
      return `${name} is paused. ${toSentence(cause)}`;
    default:
      return `${name} stays open. ${toSentence(cause)}`;
  }
}

/** Makes a recorded remark a sentence. A leading identifier is left as it is. */
function toSentence(text: string): string {
  const [first = ""] = text.split(/[\s:,]/, 1);
  const capitalised = /^[a-z]+$/.test(first)
    ? `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
    : text;
  return /[.!?]$/.test(capitalised) ? capitalised : `${capitalised}.`;
}
