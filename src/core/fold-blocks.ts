// fold-blocks: reducers of the events that open and answer questions to a person.
// Invariants F1 and on: core/fold.ts.

import type { EventOf } from "../contracts/event.ts";
import type { Outcome } from "../contracts/outcome.ts";
import { invariant } from "../kit/invariant.ts";
import {
  requireIdleCursor,
  type ReducersOf,
  recordRequestOnce,
  requireCursor,
} from "./reducers.ts";
import { isPausedFor, cursorSteps } from "./selectors.ts";
import { incrementValue, ownValue, setValue } from "./own-values.ts";
import type { Block, StepCursor } from "./state.ts";

const answersMax = 20;

export const blockReducers: ReducersOf<"block_opened" | "block_answered"> = {
  block_opened: (run, event) => {
    const { block: id, walk: path, step, tests } = event;
    const cursor = requireIdleCursor(run, path); // F2
    const index = cursorSteps(run, cursor).findIndex((candidate) => candidate.id === step);
    invariant(
      index >= 0 && ownValue(run.blocks, id) === undefined,
      `F1: ${id} is a new question of a step of ${path}`,
    );

    cursor.block = id;
    cursor.at = index;
    run.blocks[id] = {
      block: id,
      cursor: path,
      step,
      hold: event.hold,
      house: event.house ?? false,
      question: event.question,
      options: { ...event.options },
      recommend: event.recommend ?? null,
      show: [...(event.show ?? [])],
      code: event.code ?? "human_block_open",
      ...(event.free === true ? { free: true } : {}),
      ...(tests === undefined
        ? {}
        : { tests: { content: tests.content, paths: [...tests.paths] } }),
    };
  },
  block_answered: (run, event) => {
    const { request, block: id, answer, actor } = event;
    const block = ownValue(run.blocks, id);
    invariant(block !== undefined, `F1: ${id} is open`);
    recordRequestOnce(run, request);
    if (block.free !== true && !isValidAnswer(block.options, answer)) return; // The question stays open: only its options answer it.

    const cursor = requireCursor(run, block.cursor);
    if (isPausedFor(run, block)) run.decided = true;
    delete run.blocks[id];
    cursor.block = null;
    cursor.answeredBy = actor;

    if (block.house) replyToHouse(cursor, block, event);
    else passStep(cursor, block.step, event);
  },
};

type Answer = Pick<EventOf<"block_answered">, "answer" | "issues">;

/** The answer to a question that the runner asks itself, rather than a step of the flow. */
function replyToHouse(cursor: StepCursor, block: Block, { answer, issues }: Answer): void {
  cursor.reply = answer;
  if (block.tests !== undefined) cursor.answeredTests = block.tests.content;

  if (cursor.child !== undefined) {
    const issuesField = issues === undefined ? {} : { issues: [...issues] };
    cursor.child = { ...cursor.child, answer, ...issuesField };
    return;
  }

  if (block.free === true || Object.keys(block.options).length === 0) {
    const answered = { step: block.step, question: block.question, answer };
    cursor.answered = [...(cursor.answered ?? []), answered].slice(-answersMax);
  }
}

/** A step that asks has passed with the answer. */
function passStep(cursor: StepCursor, step: string, { answer, issues }: Answer): void {
  const facts = issues === undefined ? { answer } : { answer, issues: issues.join("; ") };
  const createOutcome = (): Outcome => ({
    kind: "passed",
    facts: { ...facts },
    says: {},
    reason: null,
    detail: null,
    checks: [],
  });

  setValue(cursor.last, step, createOutcome());
  setValue(cursor.seen, step, createOutcome());
  incrementValue(cursor.ended, step);
}

/** A question without options accepts any text. */
export function isValidAnswer(options: Readonly<Record<string, string>>, answer: string): boolean {
  return Object.keys(options).length === 0 || Object.hasOwn(options, answer);
}
