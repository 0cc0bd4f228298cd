import { expect, test } from "vitest";
import type { Draft } from "../contracts/event.ts";
import type { RunView } from "../core/state.ts";
import { answerHere } from "./answer-here.ts";
import type { Hand } from "./open-run.ts";
import type { Place } from "./place.ts";

const human = { question: "Go on?", options: { A: "a new conversation", B: "go on" }, recommend: "A", leaves: "A" };

/** A run that rests with one question, and a person who answers it. */
function desk(answer: string | null | readonly (string | null)[], block: object = {}) {
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
    phases: [{ id: "1", name: "", group: "phases" }],
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
      const said = Array.isArray(answer) ? (answer as readonly (string | null)[])[asked.length] : (answer as string | null);
      asked.push(choices);
      return Promise.resolve(said ?? null);
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

test("a verdict that finds issues says which, and one that names none is not taken", async () => {
  const options = { pass: "it is good", fail: "it is not good", issues_found: "it can be put right" };
  const told = desk(["issues_found", " the colour is wrong "], { options });
  expect(await answerHere(told.place, told.hand)).toBe(true);
  expect(told.asked).toEqual([["pass", "fail", "issues_found"], []]);
  expect(told.appended[0]).toMatchObject({ answer: "issues_found", issues: ["the colour is wrong"] });
  const silent = desk(["issues_found", ""], { options });
  expect(await answerHere(silent.place, silent.hand)).toBe(false);
  expect(silent.appended).toEqual([]);
  const failed = desk(["fail", null], { options });
  expect(await answerHere(failed.place, failed.hand)).toBe(true);
  expect(failed.appended[0]).not.toHaveProperty("issues");
});
