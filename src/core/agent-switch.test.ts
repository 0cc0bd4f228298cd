// Who plays a role that names agents in order.

import { expect, test } from "vitest";
import type { EventOf } from "../contracts/event.ts";
import { canSwitchAgent, recordProviderLimit, findAgentSwitch } from "./agent-switch.ts";
import type { Run } from "./state.ts";

const [ten, noon, three] = [
  "2026-01-01T10:00:00.000Z",
  "2026-01-01T12:00:00.000Z",
  "2026-01-01T15:00:00.000Z",
];
const runWith = (cast: object): Run =>
  ({ drafted: { cast: { executor: cast } } }) as unknown as Run;
const inOrder = () =>
  runWith({
    agent: "claude",
    rank: 0,
    instead: [
      { agent: "codex", rank: 1 },
      { agent: "gemini", rank: 2 },
    ],
  });
const limit = (fault: "limit" | "access", until?: string): EventOf<"step_interrupted"> =>
  ({
    event: "step_interrupted",
    by: "provider",
    fault,
    ...(until === undefined ? {} : { until }),
  }) as EventOf<"step_interrupted">;
const play = (run: Run, now: string): string | null => {
  const switched = findAgentSwitch(run, "executor", now);
  if (switched === null) return null;
  run.drafted = { ...run.drafted, cast: { ...run.drafted.cast, [switched.role]: switched.player } };

  return `${switched.from} > ${switched.to}`;
};

test("the next one plays while an agent is at its limit, in the order named, and the first again at its reset", () => {
  const run = inOrder();
  expect(play(run, ten)).toBeNull();
  recordProviderLimit(run, "executor", limit("limit", three), ten);
  expect(play(run, ten)).toBe("claude > codex");
  recordProviderLimit(run, "executor", limit("limit", noon), ten);
  expect(play(run, ten)).toBe("codex > gemini");
  expect(play(run, ten)).toBeNull();
  expect(play(run, noon)).toBe("gemini > codex");
  expect(play(run, three)).toBe("codex > claude");
  expect(run.drafted.cast["executor"]?.instead?.map(({ agent }) => agent)).toEqual([
    "codex",
    "gemini",
  ]);
});

test("where all are at their limits the one that plays waits; a limit without a time is one of half an hour", () => {
  const run = runWith({ agent: "claude", rank: 0, instead: [{ agent: "codex", rank: 1 }] });
  recordProviderLimit(run, "executor", limit("limit"), ten);
  expect(play(run, ten)).toBe("claude > codex");
  recordProviderLimit(run, "executor", limit("limit", three), ten);
  expect([play(run, ten), play(run, "2026-01-01T10:30:00.000Z")]).toEqual([null, "codex > claude"]);
});

test("a refused key lets nobody else go on, nor does a role that names one agent", () => {
  const run = inOrder();
  recordProviderLimit(run, "executor", limit("access"), ten);
  expect([run.limited, findAgentSwitch(run, "executor", ten)]).toEqual([undefined, null]);
  const single = runWith({ agent: "claude" });
  recordProviderLimit(single, "executor", limit("limit", three), ten);
  expect([single.limited, findAgentSwitch(single, "executor", ten)]).toEqual([undefined, null]);
});

test("a parked run goes on at once only where the role that was held up has another", () => {
  const run = inOrder();
  recordProviderLimit(run, "executor", limit("limit", three), ten);
  run.parked = { fault: "limit", until: three, detail: "", times: 1, role: "executor" };
  expect(canSwitchAgent(run, ten)).toBe(true);
  delete run.parked.role;
  expect(canSwitchAgent(run, ten)).toBe(false);
});
