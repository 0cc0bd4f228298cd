// answer-here: asks an open question at this terminal, while other terminals can still answer, stop or pause the run.

import type { EventOf } from "../contracts/event.ts";
import { own } from "../core/record.ts";
import { cursorSteps } from "../core/selectors.ts";
import type { RunView } from "../core/state.ts";
import { chooseBox, runQuestions } from "../views/choose-box.ts";
import { oneLine } from "../views/wording.ts";
import { isVerdict } from "../views/verdicts.ts";
import type { Request } from "../ports/inbox.ts";
import { answerMeant } from "./answer-meant.ts";
import { unreachable } from "../kit/never.ts";
import { testsPatch } from "../project/runs/tests-patch.ts";
import { askListening } from "./listening.ts";
import type { OpenRun } from "./open-run.ts";
import { actorOf, type CommandContext } from "../project/command-context.ts";

/** True: the question is answered, here or elsewhere, and the run continues now. */
export async function answerHere(context: CommandContext, openRun: OpenRun): Promise<boolean> {
  for (;;) {
    const run = openRun.view();
    const questions = runQuestions(run);
    const question = questions.find(({ block }) => own(run.blocks, block)?.hold === true) ?? questions[0];
    if (question === undefined) return false;
    const patch = await testsPatch(openRun.paths, run, question.block);
    for (const line of chooseBox(question, patch)) context.show(line);
    const keys = Object.keys(question.options);
    const isFree = keys.length === 0 || question.free === true;
    const reply = await askListening(context, openRun, {
      question: keys.length === 0 ? "Your answer:" : isFree ? `Choose ${keys.join(", ")}, or answer in your own words:` : "Choose",
      choices: isFree ? [] : keys,
      around: (request) => goingOn(openRun, request),
    });
    if (reply.kind === "none") return false;
    if (reply.kind === "answer") return takeAnswer(context, openRun, question.block, reply.text);
    for (const request of reply.requests) context.show(`! ${answerElsewhereHint(request)}`);
    const { status, asked } = openRun.view();
    if (asked === "stop") await openRun.drive(); // the run is ending
    if (status === "running") return true;
    if (openRun.view().status !== "paused" || reply.requests.some(leaves) || answersIt(reply.requests, question.block)) return false;
  }
}

const leaves = (request: Request): boolean => request.event === "control_requested";
const answersIt = (requests: readonly Request[], block: string): boolean =>
  requests.some((request) => request.event === "block_answered" && request.block === block);

/** The person at this prompt is told that another terminal answered the question. */
function answerElsewhereHint(request: Request): string {
  const by = `elsewhere (${oneLine(request.actor.replace(/^operator:/, ""))})`;
  switch (request.event) {
    case "block_answered":
      return `Answered ${by}: ${oneLine(request.answer)}`;
    case "control_requested":
      return request.control === "stop" ? `Stopped ${by}` : `Paused ${by}; autopilot resume continues`;
    case "limit_raised":
      return `Limit raised ${by}`;
    case "run_resumed":
      return `Resumed ${by}`;
    case "review_noted":
      return `A review was noted ${by}`;
    default:
      return unreachable(request);
  }
}

/** An answer to the blocking question lets the run continue, wherever it came from: this process waits for nothing else. */
function goingOn(openRun: OpenRun, request: Request): (() => Promise<void>) | null {
  if (request.event !== "block_answered") return null;
  const { block, answer, actor } = request;
  const isHeld = own(openRun.view().blocks, block)?.hold === true;
  if (!isHeld || leavesWith(openRun.view(), block, answer)) return null;
  return async () => {
    if (own(openRun.view().blocks, block) === undefined) await openRun.append(resumed(openRun, actor));
  };
}

async function takeAnswer(context: CommandContext, openRun: OpenRun, id: string, text: string): Promise<boolean> {
  const run = openRun.view();
  const block = own(run.blocks, id);
  if (text === "" || block === undefined) return false;
  const answer = answerMeant(block, text) ?? text;
  const issues = await issuesFor(context, openRun, block, answer);
  if (issues === null || own(openRun.view().blocks, id) === undefined) return openRun.view().status === "running";
  const actor = actorOf(context);
  const isLeft = leavesWith(run, id, answer); // before the state changes
  await openRun.append({
    event: "block_answered",
    request: `here:${run.seq}`,
    block: id,
    answer,
    ...(issues.length === 0 ? {} : { issues: [...issues] }),
    actor,
    reason_code: "block_answered",
  });
  if (isLeft) return false;
  await openRun.append(resumed(openRun, actor));
  return true;
}

const resumed = (openRun: OpenRun, actor: string): EventOf<"run_resumed"> => ({
  event: "run_resumed",
  request: `resume:${openRun.view().seq}`,
  actor,
  reason_code: "operator_resumed",
  from_state: "paused",
  to_state: "running",
});

/** The issues of a verdict that found some; null for any other answer. */
async function issuesFor(
  context: CommandContext,
  openRun: OpenRun,
  block: RunView["blocks"][string],
  answer: string,
): Promise<readonly string[] | null> {
  if (!isVerdict(block) || answer === "pass") return [];
  const reply = await askListening(context, openRun, { question: "What is wrong? In one line:", choices: [] });
  if (reply.kind === "requests") {
    for (const request of reply.requests) context.show(`! ${answerElsewhereHint(request)}`);
    if (openRun.view().asked === "stop") await openRun.drive();
    return null;
  }
  const issue = reply.kind === "answer" ? reply.text.trim() : "";
  if (issue !== "") return [issue];
  return answer === "issues_found" ? null : [];
}

/** Whether the flow ends this invocation with that answer. */
function leavesWith(run: RunView, id: string, answer: string): boolean {
  const block = own(run.blocks, id);
  const cursor = block === undefined ? undefined : own(run.cursors, block.cursor);
  if (block === undefined || cursor === undefined || block.house) return false;
  return cursorSteps(run, cursor).find((step) => step.id === block.step)?.human?.leaves === answer;
}
