// turn: one turn of one agent over the Agent Client Protocol, from starting its process to ending it with all it began.
//
// Invariants:
//   T1. Whatever happens, the process tree is ended before the result is given.
//   T2. The result is computed from what was seen; no word of the agent makes a failed turn a good one.
//   T3. What one prompt used is told once: with `onAskAgain` where the agent is asked again, else with the result.

import { client, type ClientConnection, RequestError } from "@agentclientprotocol/sdk";
import { setTimeout as wait } from "node:timers/promises";
import type { TurnOrder, TurnResult } from "../../ports/agent.ts";
import { endTree } from "../process/end-tree.ts";
import type { Guardian } from "../process/guardian.ts";
import { belongsToTurn, type Mark } from "../process/mark.ts";
import { type Command, spawnAgent, type Spawned } from "../process/spawn.ts";
import type { AgentProfile } from "../profiles.ts";
import { Collector } from "./collector.ts";
import { converse, type ReturnOf } from "./converse.ts";
import { openWatch, TurnOver } from "./ending.ts";
import { insideOf } from "./inside.ts";
import type { AcpLimits } from "./limits.ts";
import { recordOf } from "./loose.ts";
import { permit } from "./permission.ts";
import { endedBy, failed, type Left, refusedWith } from "./result.ts";
import { openSession } from "./session.ts";
import { namedBy } from "./tool-calls.ts";
import { openWire } from "./wire.ts";

/** What a turn is played with, besides its order. */
export type Seat = {
  readonly profile: AgentProfile;
  readonly argv: readonly string[];
  readonly mark: Mark;
  readonly home: string | null;
  readonly wrap: ((command: Command) => Command) | null;
  readonly guardian: Guardian;
  readonly returnOf: ReturnOf;
  readonly limits: AcpLimits;
};

export async function playTurn(order: TurnOrder, seat: Seat): Promise<TurnResult> {
  if (order.cancel.aborted) return { kind: "cut", by: "cancel", detail: "The turn was cancelled before it began.", usage: null };
  const { profile, argv, mark, home, wrap } = seat;
  const spawned = await spawnAgent({ argv, cwd: order.layer, mark, home, wrap, passEnv: profile.passEnv, env: profile.env });
  if ("problem" in spawned)
    return {
      kind: "failed",
      reason: "agent_unavailable",
      detail: `The agent cannot be started: ${spawned.problem}.`,
      said: "",
      usage: null,
    };
  const group = spawned.child.pid ?? 0;
  seat.guardian.watch(group);
  let result: TurnResult | null = null;
  try {
    result = await talk(order, seat, spawned);
  } finally {
    // An agent that has answered may put its things in order; one that was cut off has had its time.
    if (result?.kind === "ended") await leaveQuietly(spawned, profile.stop.eofMs);
    const left = await endTree(spawned.child, belongsToTurn(mark), { graceMs: seat.limits.termGraceMs }); // T1
    seat.guardian.forget(group);
    if (left > 0 && result?.kind === "ended")
      result = { ...result, warnings: [...result.warnings, `${left} of its processes could not be ended`] };
  }
  return result;
}

async function talk(order: TurnOrder, seat: Seat, spawned: Spawned): Promise<TurnResult> {
  const collector = new Collector(order.attempt, order.onSignal);
  const watch = openWatch(order, seat.limits, () => collector.tools.hasOpen());
  const wire = openWire(
    spawned.child.stdout,
    spawned.child.stdin,
    { update: (params) => collector.take(params), life: watch.life },
    seat.limits.wire,
  );
  watch.follow(spawned, wire);
  const connection = answerQuestions(order, collector).connect(wire.stream);
  const state = { session: null as string | null };
  const left = (usage: Left["usage"] = null): Left => ({
    isOpen: state.session !== null,
    said: collector.said,
    stderr: spawned.stderrTail(),
    usage,
  });
  try {
    const opened = await openSession(connection.agent, watch, collector, order, seat.profile, seat.limits);
    if ("problem" in opened) return failed("agent_unavailable", `The agent cannot be used: ${opened.problem}.`, left());
    await order.onSession(opened.session);
    state.session = opened.session;
    const result = await converse({ order, seat, connection, watch, collector, left, ...opened });
    return result.kind === "ended"
      ? { ...result, warnings: [...opened.warnings, ...result.warnings, ...noticed(wire.garbage(), collector)] }
      : result;
  } catch (error) {
    if (error instanceof RequestError) return refusedWith(error, left());
    if (!(error instanceof TurnOver)) throw error;
    return endedBy(error.ending, left()); // T2
  } finally {
    watch.close();
    connection.close();
  }
}

/** An agent asks before it uses a tool; everything else it may ask for was not offered. */
function answerQuestions(
  order: TurnOrder,
  collector: Collector,
): { connect: (stream: ReturnType<typeof openWire>["stream"]) => ClientConnection } {
  const isInside = insideOf(order.layer);
  return client({ name: "autopilot" }).onRequest("session/request_permission", ({ params }) => {
    const call = collector.tools.merge(recordOf(params.toolCall));
    const isAllowed = call === null || namedBy(call).every(isInside);
    return permit(params.options, order.cancel.aborted ? "cancelled" : isAllowed ? "allowed" : "refused");
  });
}

function noticed(garbage: { readonly lines: number; readonly bytes: number }, collector: Collector): readonly string[] {
  return [
    ...(garbage.lines > 0
      ? [`${garbage.lines} lines (${garbage.bytes} bytes) on its stdout were no protocol messages and were ignored`]
      : []),
    ...(collector.beyondChars > 0 ? [`${collector.beyondChars} characters of its answer were beyond the limit and were dropped`] : []),
  ];
}

async function leaveQuietly({ child, exited }: Spawned, eofMs: number): Promise<void> {
  child.stdin.end();
  if (eofMs <= 0) return;
  const timer = new AbortController();
  await Promise.race([exited, wait(eofMs, undefined, { signal: timer.signal }).catch(() => undefined)]);
  timer.abort();
}
