// decide-question: decides how questions to a person open (by a human step, a failure or the agent),
// which of them wait for the landing, and what an answer leads to.

import type { Draft } from "../contracts/event.ts";
import type { Row, Step } from "../contracts/flow.ts";
import { record, definedFields, stopRun, whenIdle } from "./drafts.ts";
import { isValidAnswer } from "./fold-blocks.ts";
import type { NextAction } from "./next-action.ts";
import { factValue, findMatchingRow } from "./selectors.ts";
import { ownValue } from "./own-values.ts";
import type { OutcomeView, RunView, CursorView } from "./state.ts";

/** Asks what a human step asks. */
export function openQuestion(
  run: RunView,
  cursor: CursorView,
  step: Step,
  attempt: string,
): NextAction {
  const { question = "", options = {}, recommend, show, meanwhile, code } = step.human ?? {};
  return record({
    event: "block_opened",
    block: `block:${attempt}`,
    walk: cursor.path,
    step: step.id,
    hold: meanwhile !== "go_on",
    question: resolveQuestion(run, cursor, question),
    options,
    ...definedFields({ recommend, show, code }),
  });
}

/**
 * `plan.summary` or `judge.says.concern`: a step, and one of its facts or of its agent's values.
 */
const factName = /^([a-z][a-z0-9_-]*)(?:\.says)?\.[a-z][a-z0-9_-]*$/;

/** A question that names a recorded fact is asked in the recorded words. */
function resolveQuestion(run: RunView, cursor: CursorView, question: string): string {
  const [, step] = factName.exec(question) ?? [];
  if (step === undefined) return question;
  const recordedText = factValue(run, cursor, question);
  if (typeof recordedText === "string" && recordedText !== "") return recordedText;

  return ownValue(cursor.last, step)?.detail ?? `${step} has a question; its last turn says which.`;
}

/** An open question that an option of the run answers. */
export function presetAnswer(
  run: RunView,
  cursor: CursorView,
  block: string,
  step: Step,
): NextAction | null {
  const row = findMatchingRow(run, cursor, step.human?.preset ?? []);
  const question = ownValue(run.blocks, block);
  const request = `preset:${block}`;
  if (
    row === undefined ||
    question === undefined ||
    question.house ||
    ownValue(run.requests, request) !== undefined ||
    !isValidAnswer(question.options, row.answer)
  ) {
    return null;
  }

  return record({ event: "block_answered", request, block, answer: row.answer });
}

/** Asks a person what to do with a step that failed. */
export function askAboutFailure(
  cursor: CursorView,
  step: Step,
  outcome: OutcomeView,
  row: Row,
): NextAction {
  const failureText = [outcome.reason, outcome.detail]
    .filter((part) => part !== null && part !== "")
    .join(": ");

  return openStepQuestion(cursor, step, "!", {
    question: `Step ${step.id} of ${cursor.path} ${outcome.kind}${failureText === "" ? "" : ` (${failureText})`}. What now?`,
    options: row.ask ?? {},
    ...definedFields({ recommend: row.recommend, code: row.pause }),
  });
}

/**
 * What becomes of changed tests that a step failed for. Null if it failed for something else, or
 * they were approved meanwhile. A run that lands its own work goes on with tests that the work
 * can't pass without, and doesn't land it until a person has looked; else a person is asked now.
 */
export function settleChangedTests(
  { oracles, approved = [], held = [], drafted: { policy } }: RunView,
  cursor: CursorView,
  step: Step,
  outcome: OutcomeView,
): NextAction | null {
  const refused = (oracles?.changes ?? []).filter(({ allowed }) => allowed === null);
  if (
    outcome.kind !== "failed" ||
    outcome.facts["oracles"] !== "changed" ||
    oracles === undefined ||
    refused.length === 0
  ) {
    return null;
  }

  const { content } = oracles;
  const paths = refused.map(({ path }) => path);
  if (approved.includes(content)) return null;
  if (held.includes(content)) return retryStep(cursor, step);
  if (policy?.changed_tests === "hold" && outcome.facts["passes_changed"] === true) {
    return record({ event: "tests_held", walk: cursor.path, step: step.id, content, paths });
  }

  return openStepQuestion(cursor, step, "!", {
    question: `The agent ${describeChanges(refused)}, which check its work. Keep exactly this change?`,
    options: {
      back: "no: put the original back and go on; the agent is told",
      keep: "yes: accept exactly this change",
      stop: "stop the run",
    },
    recommend: "back",
    code: "oracle_changed",
    tests: { content, paths },
  });
}

type RefusedChange = NonNullable<RunView["oracles"]>["changes"][number];
const pathsNamedMax = 3;

/** `changed test files (test/a.test.js), loosened lint rules (.eslintrc.json) and 2 more files` */
function describeChanges(refused: readonly RefusedChange[]): string {
  const named = new Map<string, string[]>();
  for (const { path, kind, how } of refused.slice(0, pathsNamedMax)) {
    const what = `${changeWords[how]} ${kindWords[kind]}`;
    named.set(what, [...(named.get(what) ?? []), path]);
  }

  const groups = [...named].map(([what, paths]) => `${what} (${paths.join(", ")})`);
  const more = refused.length - pathsNamedMax;
  return `${groups.join(", ")}${more > 0 ? ` and ${more} more ${more === 1 ? "file" : "files"}` : ""}`;
}

const kindWords: Readonly<Record<RefusedChange["kind"], string>> = {
  test: "test files",
  test_config: "settings of tests",
  snapshot: "recorded outputs",
  coverage: "coverage settings",
  lint: "lint rules",
  compiler: "compiler settings",
  ci: "build server settings",
  scripts: "scripts",
};
const changeWords: Readonly<Record<RefusedChange["how"], string>> = {
  changed: "changed",
  deleted: "deleted",
  renamed: "moved",
  skipped: "skipped tests in",
  focused: "left tests out in",
  weakened: "weakened",
  mocked: "mocked code in",
  loosened: "loosened",
  redefined: "redefined",
  extended: "extended",
  added: "added",
};

/** Passes on a question that an agent has for a person; with the answer the step is tried again. */
export function askForAgent(cursor: CursorView, step: Step, question: string): NextAction {
  const options = Object.fromEntries(
    (cursor.answers ?? []).map((answer, index) => [String(index + 1), answer]),
  );

  return openStepQuestion(cursor, step, "?", { question, options, free: true });
}

/** Passes on a question of a child run; with the answer the step continues where the child is. */
export function askForChild(
  cursor: CursorView,
  step: Step,
  { question, options, recommend, free }: NonNullable<CursorView["child"]>,
): NextAction {
  return openStepQuestion(cursor, step, "?", {
    question,
    options: { ...options },
    ...definedFields({ recommend, free }),
  });
}

type Question = Omit<
  Extract<Draft, { readonly event: "block_opened" }>,
  "event" | "block" | "walk" | "step" | "hold" | "house"
>;

/**
 * A question about a step's last attempt, on which the whole run waits. `!`: about a failure; `?`:
 * of an agent or a child run.
 */
function openStepQuestion(
  cursor: CursorView,
  step: Step,
  mark: "!" | "?",
  question: Question,
): NextAction {
  const block = `block:${cursor.path}@${cursor.visit}/${step.id}${mark}${ownValue(cursor.ended, step.id) ?? 0}`;
  return record({
    event: "block_opened",
    block,
    walk: cursor.path,
    step: step.id,
    hold: true,
    house: true,
    ...question,
  });
}

/** Events that follow from an answer are attributed to the person who answered. */
export const answerActor = ({ answeredBy }: CursorView): { readonly actor?: string } =>
  answeredBy === undefined ? {} : { actor: answeredBy };

/**
 * The answers to the built-in questions about a failed step and about changed tests, by letter or
 * by word.
 */
const replies: Readonly<Record<string, "retry" | "skip" | "stop" | "back" | "keep">> = {
  A: "retry",
  retry: "retry",
  B: "skip",
  skip: "skip",
  C: "stop",
  stop: "stop",
  back: "back",
  keep: "keep",
};

/** Any other word means "retry", the one choice that gives nothing up. */
export const parseReply = (reply: string): "retry" | "skip" | "stop" | "back" | "keep" =>
  ownValue(replies, reply) ?? "retry";

/**
 * What follows from a person's answer about the step: skip it, stop, approve the changed tests, or
 * try it again.
 */
export function followReply(
  run: RunView,
  cursor: CursorView,
  step: Step,
  reply: string,
): NextAction | null {
  const isFreeText =
    cursor.child !== undefined || ownValue(cursor.last, step.id)?.facts["agent_asks"] !== undefined;
  const action = isFreeText ? "retry" : parseReply(reply);
  const actor = answerActor(cursor);

  if (action === "skip") {
    return record({ event: "step_skipped", walk: cursor.path, step: step.id, ...actor });
  }

  if (action === "stop") return whenIdle(run, stopRun(run, "operator_stopped", actor));
  const content = cursor.answeredTests;
  if (action === "keep" && content !== undefined && run.approved?.includes(content) !== true) {
    return record({
      event: "oracles_approved",
      request: `keep:${cursor.path}@${cursor.visit}/${step.id}#${ownValue(cursor.ended, step.id) ?? 0}`,
      content,
      reason_code: "oracles_approved",
      ...actor,
    });
  }

  return retryStep(cursor, step, { ...(action === "back" ? { put_back: true } : {}), ...actor });
}

const retryStep = (
  cursor: CursorView,
  step: Step,
  more: { readonly put_back?: true; readonly actor?: string } = {},
): NextAction =>
  record({
    event: "step_retried",
    walk: cursor.path,
    step: step.id,
    n: ownValue(cursor.streak, step.id) ?? 0,
    reset: true,
    ...more,
  });
