import { expect, test } from "vitest";
import type { Event } from "../contracts/event.ts";
import { drafted, entryOf } from "./run-view.test-support.ts";
import { sumTruth, openRunTruth, truthPage } from "./truth.ts";

const usage = { tokens: 1, calls: 1, minutes: 0, source: "reported" as const };
const attempt = "1@1/execute#1";
const turn: Event = {
  event: "turn_ended",
  actor: "agent:scripted",
  reason_code: "ok",
  attempt,
  agent: "scripted",
  stop: "end_turn",
  says: {},
  said: "",
  promised: false,
  announced_more: false,
  confidence: null,
  usage,
};
const begun: Event = {
  event: "step_started",
  actor: "system",
  reason_code: "ok",
  walk: "1",
  step: "execute",
  attempt,
  kind: "agent",
  try: 1,
};
const claims = (...verdicts: readonly ("true" | "false" | "unverifiable")[]): Event => ({
  event: "claims_checked",
  actor: "system",
  reason_code: "ok",
  attempt,
  agent: "scripted",
  role: "executor",
  claims: verdicts.map((verdict, n) => ({
    kind: "done",
    text: `claim ${n}`,
    verdict,
    why: "because",
  })),
});

const reported = (...events: readonly Event[]) => {
  const run = openRunTruth();
  [drafted(), begun, turn, ...events].forEach((event, seq) => run.read(entryOf(event, seq)));
  return run;
};

test("what could be decided makes the share, over all runs, by agent and role", () => {
  const [row, ...more] = sumTruth([
    reported(claims("true", "unverifiable")),
    reported(claims("true", "false"), claims("true")),
  ]);
  expect(more).toEqual([]);
  expect(row).toMatchObject({
    agent: "scripted",
    model: null,
    role: "executor",
    true: 3,
    false: 1,
    unverifiable: 1,
    share_true: 0.75,
    runs: 2,
    turns: 2,
  });

  expect(row?.last_false).toMatchObject([{ attempt, text: "claim 1", why: "because" }]);
});

test("models are told apart, and only the last false claims are kept", () => {
  const other: Event = {
    ...(claims("true") as Extract<Event, { event: "claims_checked" }>),
    model: "m1",
  };

  const rows = sumTruth([
    reported(claims(...Array.from({ length: 20 }, () => "false" as const)), other),
  ]);
  expect(rows.map(({ model, share_true }) => [model, share_true])).toEqual([
    [null, 0],
    ["m1", 1],
  ]);

  expect(rows[0]?.last_false).toHaveLength(5);
});

test("an agent of which nothing could be decided has no share", () => {
  const rows = sumTruth([reported(claims("unverifiable"))]);
  expect(rows[0]?.share_true).toBeNull();
  expect(truthPage(rows)).toEqual([
    "✓ scripted as executor: nothing could be decided, 1 unverifiable; 1 turn in 1 run",
  ]);

  expect(truthPage(sumTruth([reported(claims("false"))]))[1]).toContain("“claim 0” because");
});
