// ask-open-question: asks a run's open question at this terminal, while other terminals can still
// answer, stop or pause the run.

import type { EventOf } from "../contracts/event.ts";
import { ownValue } from "../core/own-values.ts";
import { cursorSteps } from "../core/selectors.ts";
import type { RunView } from "../core/state.ts";
import { renderQuestionBox, type Question, listQuestions } from "../views/question-box.ts";
import { oneLine } from "../views/wording.ts";
import { isVerdictQuestion } from "../views/verdicts.ts";
import type { RunRequest } from "../ports/request-queue.ts";
import { matchAnswer } from "./match-answer.ts";
import { unreachable } from "../kit/unreachable.ts";
import { readTestsPatch } from "../project/runs/tests-patch.ts";
import { askAtTerminal } from "./ask-at-terminal.ts";
import type { OpenRun } from "./open-run.ts";
import { toActor, type CommandContext } from "../project/command-context.ts";

/**
 * Asks until the question is answered or the run ends. True: it was answered, here or elsewhere,
 * and the run continues now.
 */
export async function askOpenQuestion(context: CommandContext, openRun: OpenRun): Promise<boolean> {
  for (;;) {
    const run = openRun.view();
    const questions = listQuestions(run);
    const question =
      questions.find(({ block }) => ownValue(run.blocks, block)?.hold === true) ?? questions[0];
    if (question === undefined) return false;
    const patch = await readTestsPatch(openRun.paths, run, question.block);
    for (const line of renderQuestionBox(question, patch)) context.show(line);
    const reply = await askAtTerminal(context, openRun, {
      ...composePrompt(question),
      beforeRecording: (request) => resumeIfAnswered(openRun, request),
    });
    if (reply.kind === "none") return false;
    if (reply.kind === "answer") return recordAnswer(context, openRun, question.block, reply.text);
    for (const request of reply.requests) context.show(`! ${describeRequest(request)}`);
    const { status, asked } = openRun.view();
    if (asked === "stop") await openRun.drive(); // the run is ending
    if (status === "running") return true;
    if (
      openRun.view().status !== "paused" ||
      reply.requests.some(isControl) ||
      answersBlock(reply.requests, question.block)
    ) {
      return false;
    }
  }
}

/** With choices only one of them is taken; without, any text. */
function composePrompt({ options, free }: Question): {
  readonly question: string;
  readonly choices: readonly string[];
} {
  const keys = Object.keys(options);
  if (keys.length === 0) return { question: "Your answer:", choices: [] };
  if (free === true) {
    return { question: `Choose ${keys.join(", ")}, or answer in your own words:`, choices: [] };
  }

  return { question: "Choose", choices: keys };
}

const isControl = (request: RunRequest): boolean => request.event === "control_requested";
const answersBlock = (requests: readonly RunRequest[], block: string): boolean =>
  requests.some((request) => request.event === "block_answered" && request.block === block);

/** Tells the person at this prompt what another terminal requested. */
function describeRequest(request: RunRequest): string {
  const source = `elsewhere (${oneLine(request.actor.replace(/^operator:/, ""))})`;
  switch (request.event) {
    case "block_answered":
      return `Answered ${source}: ${oneLine(request.answer)}`;
    case "control_requested":
      return request.control === "stop"
        ? `Stopped ${source}`
        : `Paused ${source}; autopilot resume continues`;
    case "limit_raised":
      return `Limit raised ${source}`;
    case "run_resumed":
      return `Resumed ${source}`;
    case "review_noted":
      return `A review was noted ${source}`;
    default:
      return unreachable(request);
  }
}

/**
 * Returns the function that resumes the run once a request has answered its blocking question; null
 * if the request does not.
 */
function resumeIfAnswered(openRun: OpenRun, request: RunRequest): (() => Promise<void>) | null {
  if (request.event !== "block_answered") return null;
  const { block, answer, actor } = request;
  const isBlocking = ownValue(openRun.view().blocks, block)?.hold === true;
  if (!isBlocking || endsInvocation(openRun.view(), block, answer)) return null;

  return async () => {
    if (ownValue(openRun.view().blocks, block) === undefined) {
      await openRun.append(createResumedEvent(openRun, actor));
    }
  };
}

async function recordAnswer(
  context: CommandContext,
  openRun: OpenRun,
  id: string,
  text: string,
): Promise<boolean> {
  const run = openRun.view();
  const block = ownValue(run.blocks, id);
  if (text === "" || block === undefined) return false;
  const answer = matchAnswer(block, text) ?? text;
  const issues = await askForIssues(context, openRun, block, answer);
  if (issues === null || ownValue(openRun.view().blocks, id) === undefined) {
    return openRun.view().status === "running";
  }

  const actor = toActor(context);
  const isInvocationOver = endsInvocation(run, id, answer); // before the state changes
  await openRun.append({
    event: "block_answered",
    request: `here:${run.seq}`,
    block: id,
    answer,
    ...(issues.length === 0 ? {} : { issues: [...issues] }),
    actor,
    reason_code: "block_answered",
  });

  if (isInvocationOver) return false;
  await openRun.append(createResumedEvent(openRun, actor));
  return true;
}

const createResumedEvent = (openRun: OpenRun, actor: string): EventOf<"run_resumed"> => ({
  event: "run_resumed",
  request: `resume:${openRun.view().seq}`,
  actor,
  reason_code: "operator_resumed",
  from_state: "paused",
  to_state: "running",
});

/**
 * Asks for the issues that a verdict found; null if none were given that should have been, or the
 * question was settled elsewhere.
 */
async function askForIssues(
  context: CommandContext,
  openRun: OpenRun,
  block: RunView["blocks"][string],
  answer: string,
): Promise<readonly string[] | null> {
  if (!isVerdictQuestion(block) || answer === "pass") return [];
  const reply = await askAtTerminal(context, openRun, {
    question: "What is wrong? In one line:",
    choices: [],
  });
  if (reply.kind === "requests") {
    for (const request of reply.requests) context.show(`! ${describeRequest(request)}`);
    if (openRun.view().asked === "stop") await openRun.drive();
    return null;
  }

  const issue = reply.kind === "answer" ? reply.text.trim() : "";
  if (issue !== "") return [issue];
  return answer === "issues_found" ? null : [];
}

/** Whether the flow ends this invocation with that answer. */
function endsInvocation(run: RunView, id: string, answer: string): boolean {
  const block = ownValue(run.blocks, id);
  const cursor = block === undefined ? undefined : ownValue(run.cursors, block.cursor);
  if (block === undefined || cursor === undefined || block.house) return false;

  return cursorSteps(run, cursor).find((step) => step.id === block.step)?.human?.leaves === answer;
}
