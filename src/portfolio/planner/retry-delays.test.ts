// What is tried again by itself, and what a person is asked.

import { expect, test } from "vitest";
import { type ReasonCode, reasonCodes } from "../../contracts/reason.ts";
import { formatIsoTime, parseIsoTime } from "../../kit/iso-time.ts";
import { findRetryPolicy } from "../../project/respond.ts";
import { delayOrAsk } from "../worker/try-again.ts";
import type { PlanFacts } from "./plan-actions.ts";
import { plan } from "./plan.ts";
import { dispatched, project, task, written } from "./portfolio.test-support.ts";

const id = "task-a-000001";
const place = { ownFolder: "/portfolio" };
const begun = "2026-01-01T00:00:10.000Z";
const later = (ms: number, from = begun): string => formatIsoTime((parseIsoTime(from) ?? 0) + ms);
const facts = (now: string): PlanFacts => ({
  now,
  jobs: 4,
  withoutWorker: new Set(),
  perAgent: {},
  agent: "codex",
});

const scene = () =>
  written(
    { event: "project_created", project_id: "proj-a", fields: project() },
    { event: "task_created", task_id: id, project_id: "proj-a", status: "ready", fields: task() },
  );

/** Fails it, as often as it is tried again; how often that was, and what was asked in the end. */
function failing(code: ReasonCode, times: number) {
  const { state, write } = scene();
  let now = begun;

  for (let tried = 0; tried < times; tried++) {
    const found = state.tasks[id];
    if (found === undefined) throw new Error("no task");
    const changes = delayOrAsk(place, { state, now: () => now }, found, {
      doing: "start",
      failure: { code, message: "it went wrong." },
    });
    write(...changes);
    const [change] = changes;
    if (change?.event !== "task_delayed") return { state, tried, asked: true };
    expect(plan(state, facts(now)).actions, "not before its time").toEqual([]);
    now = change.until;
    expect(plan(state, facts(now)).actions).toMatchObject([{ do: "dispatch", task_id: id }]);
  }

  return { state, tried: times, asked: false };
}

test("an outage is never a question: the task is tried again for as long as it lasts", () => {
  const outages = reasonCodes.filter((code) => findRetryPolicy(code) === "always");
  expect(outages).toEqual(
    expect.arrayContaining([
      "store_unreachable",
      "hub_unreachable",
      "disk_full",
      "lease_lost",
      "run_locked",
      "journal_unwritable",
    ]),
  );

  for (const code of outages) {
    const { state, asked } = failing(code, 50);
    expect([code, asked, state.tasks[id]?.status]).toEqual([code, false, "ready"]);
    expect(state.tasks[id]?.delay).toMatchObject({ reason: code, tries: 50 });
  }
});

test("what may be an outage or not is tried three times again, then a person is asked once", () => {
  const { state, tried } = failing("workspace_unusable", 50);
  expect(tried).toBe(3);
  expect(state.tasks[id]).toMatchObject({ status: "blocked_human", delay: null });
  expect(Object.values(state.blocks).map(({ question }) => question)).toEqual([
    "Work could not be started: it went wrong. Try again?",
  ]);
});

test("what is about the task is asked at once", () => {
  for (const code of [
    "not_a_repository",
    "agent_unavailable",
    "portfolio_input_invalid",
  ] as const) {
    expect(failing(code, 50)).toMatchObject({ tried: 0, asked: true });
  }
});

test("a task that waits keeps its paths and its place, frees its slot, and says what it waits for and since when", () => {
  const { state, write } = scene();
  const other = "task-b-000002";
  write({
    event: "task_created",
    task_id: other,
    project_id: "proj-a",
    status: "ready",
    fields: task(),
  });

  write(dispatched(id, 1));
  const running = state.tasks[id];
  if (running === undefined) throw new Error("no task");
  const failure = { code: "hub_unreachable", message: "the hub is away." } as const;
  write(...delayOrAsk(place, { state, now: () => begun }, running, { doing: "start", failure }));
  const { waiting, actions } = plan(state, { ...facts(begun), jobs: 1 });
  expect(actions).toEqual([]);
  expect(waiting.find(({ task_id }) => task_id === id)).toMatchObject({
    code: "delayed",
    because: expect.stringMatching(
      /^it could not be started: the hub is away; since 2026-01-01T00:00:05\S+, tried once, again at 2026-01-01T00:00:12/,
    ) as string,
  });

  expect(waiting.find(({ task_id }) => task_id === other)).toMatchObject({ code: "overlap" });
  expect(plan(state, { ...facts(later(2_000)), jobs: 1 }).actions).toMatchObject([
    { do: "dispatch", task_id: id, is_resumed: true },
  ]);
});

test("a clock that was set back keeps no task waiting", () => {
  const { state, write } = scene();
  const failure = { code: "store_unreachable", message: "away." } as const;
  const found = state.tasks[id];
  if (found === undefined) throw new Error("no task");
  write(
    ...delayOrAsk(place, { state, now: () => later(3_600_000) }, found, {
      doing: "start",
      failure,
    }),
  );

  expect(plan(state, facts(begun)).actions).toMatchObject([{ do: "dispatch", task_id: id }]);
});

test("a result that can't be taken in is looked at again, and never started anew", () => {
  const { state, write } = scene();
  write(dispatched(id, 1));
  const running = state.tasks[id];
  if (running === undefined) throw new Error("no task");
  write(
    ...delayOrAsk(place, { state, now: () => begun }, running, {
      doing: "result",
      failure: { code: "disk_full", message: "no room." },
    }),
  );

  for (const now of [begun, later(3_600_000)]) expect(plan(state, facts(now)).actions).toEqual([]);
});
