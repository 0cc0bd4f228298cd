import { expect, test } from "vitest";
import type { Draft } from "../contracts/event.ts";
import type { RunView } from "../core/state.ts";
import { answerHere } from "./answer-here.ts";
import type { Hand } from "./open-run.ts";
import type { Place } from "./place.ts";

const human = { question: "Go on?", options: { A: "a new conversation", B: "go on" }, recommend: "A", leaves: "A" };

/** A run that rests with one question, and a person who answers it. */
function desk(answer: string | null, block: object = {}) {
  const open = {
    block: "block:1@1/ask#1",
    walk: "1",
    step: "ask",
    hold: true,
    house: false,
    show: [],
    code: "session_boundary",
    ...human,
    ...block,
  };
  const run = {
    status: "paused",
    seq: 7,
    blocks: { [open.block]: open },
    walks: { "1": { path: "1", kind: "phase", phase: "1", last: {} } },
    drafted: { flow: { flow: "x", version: 1, phases: [{ id: "1", steps: [{ id: "ask", human }] }] } },
  } as unknown as RunView;
  const appended: Draft[] = [];
  const shown: string[] = [];
  const asked: (readonly string[])[] = [];
  const hand = { view: () => run, append: (event: Draft) => Promise.resolve(void appended.push(event)) } as unknown as Hand;
  const place = {
    user: "ann",
    show: (line: string) => void shown.push(line),
    ask: (_question: string, choices: readonly string[]) => {
      asked.push(choices);
      return Promise.resolve(answer);
    },
  } as unknown as Place;
  return { hand, place, appended, shown, asked };
}

test("on a terminal the box is a prompt, and an answer goes on at once", async () => {
  const { hand, place, appended, shown, asked } = desk("B");
  expect(await answerHere(place, hand)).toBe(true);
  expect(shown).toContain("DECISION REQUIRED: Go on?");
  expect(asked).toEqual([["A", "B"]]);
  expect(appended).toMatchObject([
    { event: "block_answered", answer: "B", actor: "operator:ann" },
    { event: "run_resumed", from_state: "paused", to_state: "running" },
  ]);
});

test("the answer that leaves is written down and ends the invocation", async () => {
  const { hand, place, appended } = desk("A");
  expect(await answerHere(place, hand)).toBe(false);
  expect(appended).toMatchObject([{ event: "block_answered", answer: "A" }]);
});

test("nobody answers: nothing is written, the question stays", async () => {
  const { hand, place, appended } = desk(null);
  expect(await answerHere(place, hand)).toBe(false);
  expect(appended).toEqual([]);
});

test("a question of the house, or one that takes words, is asked the same way", async () => {
  const house = desk("A", { house: true, options: { A: "retry the step", C: "stop the run" } });
  expect(await answerHere(house.place, house.hand)).toBe(true);
  const words = desk("port 8080", { house: true, options: {} });
  expect(await answerHere(words.place, words.hand)).toBe(true);
  expect(words.asked).toEqual([[]]);
  expect(words.appended[0]).toMatchObject({ answer: "port 8080" });
});
