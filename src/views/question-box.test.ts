import { expect, test } from "vitest";
import { renderQuestionBox, type Question } from "./question-box.ts";

const question: Question = {
  block: "block:6@1/boundary#1",
  question: "Decompose complete — start implementation?",
  options: {
    A: "Start a new conversation for implementation (recommended for context freshness)",
    B: "Continue implementation in this conversation",
  },
  recommend: "A",
  why: "implementation is the longest phase, fresh context helps",
  show: { tasks: 12, batches: 4, points: 31 },
  code: "session_boundary",
};

test("a question is the published format's Choose box, with what is to be known above the answers", () => {
  expect(renderQuestionBox(question).join("\n")).toBe(`══════════════════════════════════════
DECISION REQUIRED: Decompose complete — start implementation?
══════════════════════════════════════
  tasks: 12
  batches: 4
  points: 31
══════════════════════════════════════
A) Start a new conversation for implementation (recommended for context freshness)
B) Continue implementation in this conversation
══════════════════════════════════════
Recommendation: A — implementation is the longest phase, fresh context helps
══════════════════════════════════════`);
});

test("of several phases the one that asks is named", () => {
  expect(
    renderQuestionBox({ ...question, phase: "Phase 3 (Login)", question: "Is it good?" })[1],
  ).toBe("DECISION REQUIRED: Phase 3 (Login): Is it good?");
});

test("with nothing to show it is the published format's box, line by line", () => {
  expect(
    renderQuestionBox({ ...question, show: {} }).filter((line) => /^═+$/.test(line)),
  ).toHaveLength(4);
});

test("a question without answers takes words, and nobody's text makes a line of its own", () => {
  const box = renderQuestionBox({
    ...question,
    options: {},
    recommend: null,
    why: null,
    show: { summary: "a\n\u001b[2Jb" },
    question: "Which port?",
  });
  expect(box).toContain(
    "Answer in your own words: autopilot answer --block 'block:6@1/boundary#1' \"…\"",
  );

  expect(box.join("\n")).not.toContain("\u001b");
  expect(box.some((line) => line.startsWith("b"))).toBe(false);
});
