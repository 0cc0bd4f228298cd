import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Draft } from "../contracts/event.ts";
import type { RunView } from "../core/state.ts";
import { block, runView, cursor } from "../views/run-view.test-support.ts";
import type { RunRequest } from "../ports/request-queue.ts";
import { askOpenQuestion } from "./ask-open-question.ts";
import { sendRequest } from "../project/requests/send-request.ts";
import type { OpenRun } from "./open-run.ts";
import { commandContext } from "../../test/support/command-context.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "asked-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const asked = {
  ...block({ "1": "error", "2": "roll over" }),
  hold: true,
  house: true,
  free: true,
  question: "W60?",
  recommend: null,
};

/**
 * A run that holds for a question, in somebody's hand; and a terminal at which nobody types unless
 * told to.
 */
function scene(typed: readonly string[] = []) {
  const run = runView({
    status: "paused",
    reason: "human_block_open",
    blocks: { [asked.block]: asked },
    cursors: { "after.land": cursor("after.land", []) },
  });
  const state = run as { -readonly [K in keyof RunView]: RunView[K] };
  const events: Draft[] = [];
  const shown: string[] = [];
  const waiting: (() => void)[] = [];
  const prompts: { readonly question: string; readonly choices: readonly string[] }[] = [];
  let drives = 0;

  const openRun = {
    folder,
    view: () => run,
    append: (event: Draft) => {
      events.push(event);
      if (event.event === "block_answered") state.blocks = {};
      if (event.event === "run_resumed") state.status = "running";
      if (event.event === "control_requested") state.asked = event.control;

      return Promise.resolve();
    },
    drive: () => {
      drives += 1;
      state.status = "stopped";
      return Promise.resolve("operator_stopped");
    },
  } as unknown as OpenRun;

  const lines = [...typed];
  const context = commandContext({
    cwd: folder,
    env: {},
    show: (line) => shown.push(line),
    ask: (question, choices, withdrawn) => {
      prompts.push({ question, choices });
      const line = lines.shift();
      if (line !== undefined) return Promise.resolve(line);

      return new Promise<null>((resolve) => {
        withdrawn?.addEventListener("abort", () => resolve(null), { once: true });
        for (const report of waiting.splice(0)) report();
      });
    },
  });

  return {
    openRun,
    context,
    events,
    shown,
    prompts,
    isAsked: () => new Promise<void>((resolve) => waiting.push(resolve)),
    drives: () => drives,
  };
}

const from = { request: "r1", actor: "operator:lee" };
const send = (request: RunRequest) => sendRequest(folder, request, { waitMs: 10_000 });

test("an answer from another terminal takes the question away, is journaled and acknowledged, and the run goes on", async () => {
  const { openRun, context, events, shown, isAsked } = scene();
  const asking = isAsked();
  const answering = askOpenQuestion(context, openRun);
  await asking;
  expect(
    await send({ ...from, event: "block_answered", block: asked.block, answer: "error" }),
  ).not.toBe("left");

  expect(await answering).toBe(true);
  expect(events).toMatchObject([
    { event: "block_answered", answer: "error", actor: "operator:lee" },
    { event: "run_resumed", actor: "operator:lee" },
  ]);

  expect(shown.at(-1)).toBe("! Answered elsewhere (lee): error");
});

test("a stop from another terminal takes the question away and brings the run to its end", async () => {
  const { openRun, context, events, shown, isAsked, drives } = scene();
  const asking = isAsked();
  const answering = askOpenQuestion(context, openRun);
  await asking;
  expect(await send({ ...from, event: "control_requested", control: "stop", now: false })).not.toBe(
    "left",
  );

  expect(await answering).toBe(false);
  expect(events).toMatchObject([{ event: "control_requested", control: "stop" }]);
  expect([drives(), shown.at(-1)]).toEqual([1, "! Stopped elsewhere (lee)"]);
});

test("a pause from another terminal takes the question away and leaves the run as it is", async () => {
  const { openRun, context, events, shown, isAsked } = scene();
  const asking = isAsked();
  const answering = askOpenQuestion(context, openRun);
  await asking;
  expect(await send({ ...from, event: "control_requested", control: "pause", now: false })).toBe(
    "gone",
  );

  expect(await answering).toBe(false);
  expect(events).toEqual([]);
  expect(shown.at(-1)).toBe("! Paused elsewhere (lee); autopilot resume continues");
});

test("what settles nothing is journaled, told, and the question comes back", async () => {
  const { openRun, context, events, prompts, isAsked } = scene();
  const first = isAsked();
  const answering = askOpenQuestion(context, openRun);
  await first;
  const again = isAsked();
  await send({
    ...from,
    event: "limit_raised",
    scope: "run",
    dimension: "tokens",
    to: 9_000_000,
    detail: "more",
  } as unknown as RunRequest);

  await again;
  expect(events).toMatchObject([{ event: "limit_raised" }]);
  await send({
    ...from,
    request: "r2",
    event: "block_answered",
    block: asked.block,
    answer: "error",
  });

  expect([await answering, prompts.length]).toEqual([true, 2]);
});

test("the options are shown by number; a number means its option, and other words count as they are", async () => {
  for (const [typed, answer] of [
    ["2", "roll over"],
    ["neither: ask me later", "neither: ask me later"],
  ] as const) {
    const { openRun, context, events, shown, prompts } = scene([typed]);
    expect(await askOpenQuestion(context, openRun)).toBe(true);
    expect(events[0]).toMatchObject({ event: "block_answered", answer });
    expect(shown).toEqual(
      expect.arrayContaining([
        "DECISION REQUIRED: W60?",
        "1) error",
        "2) roll over",
        "Or answer in your own words.",
      ]),
    );

    expect(prompts[0]?.choices).toEqual([]);
  }
});
