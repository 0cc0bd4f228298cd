// fold-blocks: reducers of the events that open and answer questions to a person.
// Invariants F1 and on: core/fold.ts.

import { invariant } from "../kit/invariant.ts";
import { findIdleCursor, type ReducersOf, recordRequestOnce, findCursor } from "./reducers.ts";
import { isPausedFor, cursorSteps } from "./selectors.ts";
import { incrementValue, ownValue, setValue } from "./own-values.ts";

const answersMax = 20;

export const blockReducers: ReducersOf<"block_opened" | "block_answered"> = {
  block_opened: (run, event) => {
    const cursor = findIdleCursor(run, event.walk); // F2
    const index = cursorSteps(run, cursor).findIndex(({ id }) => id === event.step);
    invariant(
      index >= 0 && ownValue(run.blocks, event.block) === undefined,
      `F1: ${event.block} is a new question of a step of ${event.walk}`,
    );

    cursor.block = event.block;
    cursor.at = index;
    run.blocks[event.block] = {
      block: event.block,
      cursor: event.walk,
      step: event.step,
      hold: event.hold,
      house: event.house ?? false,
      question: event.question,
      options: { ...event.options },
      recommend: event.recommend ?? null,
      show: [...(event.show ?? [])],
      code: event.code ?? "human_block_open",
      ...(event.free === true ? { free: true } : {}),
      ...(event.tests === undefined
        ? {}
        : { tests: { content: event.tests.content, paths: [...event.tests.paths] } }),
    };
  },
  block_answered: (run, { request, block: id, answer, issues, actor }) => {
    const block = ownValue(run.blocks, id);
    invariant(block !== undefined, `F1: ${id} is open`);
    recordRequestOnce(run, request);
    if (block.free !== true && !isValidAnswer(block.options, answer)) return; // The question stays open: only its options answer it.
    const cursor = findCursor(run, block.cursor);
    if (isPausedFor(run, block)) run.decided = true;
    delete run.blocks[id];
    cursor.block = null;
    cursor.answeredBy = actor;

    if (block.house) {
      cursor.reply = answer;
      if (block.tests !== undefined) cursor.answeredTests = block.tests.content;
      if (cursor.child !== undefined) {
        cursor.child = {
          ...cursor.child,
          answer,
          ...(issues === undefined ? {} : { issues: [...issues] }),
        };

        return;
      }

      if (block.free === true || Object.keys(block.options).length === 0) {
        cursor.answered = [
          ...(cursor.answered ?? []),
          { step: block.step, question: block.question, answer },
        ].slice(-answersMax);
      }

      return;
    }

    const facts = issues === undefined ? { answer } : { answer, issues: issues.join("; ") };
    const outcome = {
      kind: "passed",
      facts,
      says: {},
      reason: null,
      detail: null,
      checks: [],
    } as const;

    setValue(cursor.last, block.step, { ...outcome, facts: { ...facts }, checks: [] });
    setValue(cursor.seen, block.step, { ...outcome, facts: { ...facts }, checks: [] });
    incrementValue(cursor.ended, block.step);
  },
};

/** A question without options accepts any text. */
export function isValidAnswer(options: Readonly<Record<string, string>>, answer: string): boolean {
  return Object.keys(options).length === 0 || Object.hasOwn(options, answer);
}
