// A promise is said of a tree. It stands while that tree does, also when later turns say nothing,
// and falls with the next change.

import { expect, test } from "vitest";
import type { CursorView, RunView } from "../../core/state.ts";
import type { FunctionInput } from "../../ports/functions.ts";
import { completion } from "./completion.ts";

type Facts = Readonly<Record<string, string | boolean>>;

/** One judgement after a turn with these facts; the criterion passes on the newest tree. */
async function judged(execute: Facts, tree: string, before: Facts = {}, accept: Facts = {}) {
  const result = {
    check: {
      id: "criterion:c1",
      kind: "criterion",
      title: "c",
      command: "true",
      source: "objective",
    },
    status: "passed",
  };

  const input = {
    state: {
      drafted: {
        objective: {
          completion_mode: "promise",
          done_criteria: [{ id: "c1", text: "it works", check: "true" }],
        },
        base: { tree: "base" },
      },
      checks: { "criterion:c1": { baseline: { ...result, status: "failed" }, latest: result } },
      tip: { tree },
    } as unknown as RunView,
    cursor: {
      last: { execute: { facts: execute }, accept: { facts: accept } },
    } as unknown as CursorView,
    previous: { facts: before },
    sees: { execute: { facts: execute } },
  } as unknown as FunctionInput<RunView, CursorView>;
  return (await completion.perform(input)).facts as Facts;
}

test("a promise stands when a later turn changes nothing and says nothing, and falls with the next change", async () => {
  const first = await judged({ promised: true, changed: true }, "one");
  expect(first).toMatchObject({ complete: true });
  expect(await judged({ promised: false, changed: false }, "one", first)).toMatchObject({
    complete: true,
  });

  expect(await judged({ promised: false, changed: true }, "two", first)).toMatchObject({
    complete: false,
    why: "completion_promise_missing",
  });
});

test("a promise with an announcement of more, and none at all, do not stand later", async () => {
  const more = await judged({ promised: true, announced_more: true, changed: true }, "one");
  expect(more).toMatchObject({ complete: false, why: "continuation_pending" });
  expect(await judged({ promised: false, changed: false }, "one", more)).toMatchObject({
    why: "completion_promise_missing",
  });
});

test("a person takes the proved tree without the promise, and only that tree", async () => {
  const silent = { promised: false, changed: true };
  const first = await judged(silent, "one");
  expect(first).toMatchObject({ complete: false, only_promise: true, verdict: "unverified" });
  expect(await judged(silent, "one", first, { answer: "A" })).toMatchObject({
    complete: true,
    verdict: "verified",
  });

  expect(await judged(silent, "one", first, { answer: "B" })).toMatchObject({
    complete: false,
    only_promise: true,
  });

  expect(await judged(silent, "two", first, { answer: "A" })).toMatchObject({
    complete: false,
    only_promise: true,
  });

  expect(await judged(silent, "one", {}, { answer: "A" })).toMatchObject({ complete: false });
});
