// turn: runs one turn of one agent over the Agent Client Protocol, from starting its process to ending its process tree.
//
// Invariants:
//   T1. Whatever happens, the process tree is ended before the result is returned (see play-process.ts).
//   T2. The result is computed from what was observed; no claim of the agent makes a failed turn a good one.
//   T3. What one prompt used is reported once: with `onAskAgain` if the agent is asked again, else with the result.

import { client, type ClientConnection, RequestError } from "@agentclientprotocol/sdk";
import { PassThrough } from "node:stream";
import type { TurnRequest, TurnResult } from "../../ports/agent.ts";
import { openingPrompt } from "../opening-prompt.ts";
import { playProcess } from "../play-process.ts";
import type { Spawned } from "../process/spawn.ts";
import type { TurnEnvironment } from "../turn-environment.ts";
import { Collector } from "./collector.ts";
import { converse } from "./converse.ts";
import { openWatch, TurnOver, type Watch } from "./ending.ts";
import { pathInLayer } from "./path-in-layer.ts";
import { asRecord } from "./untrusted-json.ts";
import { setMode } from "./mode.ts";
import { type End, outcomeOf } from "./outcome.ts";
import { Answers, judgeCall, permit } from "./permission.ts";
import { failed } from "./result.ts";
import { openSession } from "./session.ts";
import { openWire, type Wire } from "./wire.ts";

export async function acpTurn(request: TurnRequest, environment: TurnEnvironment): Promise<TurnResult> {
  const played = await playProcess(environment, { layer: request.layer, hasInput: true }, async (spawned) => {
    const value = await talk(request, environment, spawned);
    return { value, isAtRest: value.kind === "ended" };
  });
  if ("problem" in played) return { kind: "failed", reason: "agent_unavailable", detail: played.problem, said: "", usage: null };
  const { value, warnings } = played; // T1
  return value.kind === "ended" ? { ...value, warnings: [...value.warnings, ...warnings] } : value;
}

async function talk(request: TurnRequest, environment: TurnEnvironment, spawned: Spawned): Promise<TurnResult> {
  const collector = new Collector(request.attempt, request.onLiveEvent);
  const watch = openWatch(request, environment.limits, () => collector.tools.hasOpen());
  const wire = openWire(
    spawned.stdout,
    spawned.stdin ?? new PassThrough(),
    { update: (params) => collector.take(params), life: watch.life },
    environment.limits.wire,
  );
  watch.follow(spawned, wire);
  watch.follows(environment.metering);
  const answers = new Answers();
  const connection = answerQuestions(request, environment, watch, collector, answers).connect(wire.stream);
  const beforeSession = (end: End): TurnResult => unopened(end, environment, spawned, collector);
  try {
    const { agent } = connection;
    const opened = await openSession(
      agent,
      watch,
      collector,
      { ...request, tools: environment.tools },
      environment.profile,
      environment.limits,
    );
    if ("problem" in opened) {
      const left = { isOpen: false, said: collector.said, stderr: spawned.stderrTail(), usage: null };
      return failed("agent_unavailable", `The agent cannot be used: ${opened.problem}.`, left);
    }
    const { profile, model, limits } = environment;
    const wanted = { mode: profile.modes[profile.mode], model, modelOption: profile.modelOption };
    const unset = await setMode(agent, watch, opened.session, opened.offered, wanted, limits.sessionMs);
    await request.onSession(opened.session, opened.how);
    const isResumed = opened.how !== "new";
    const result = await converse({
      request,
      environment,
      connection,
      watch,
      collector,
      answers,
      session: opened.session,
      isResumed,
      openingPrompt: openingPrompt(request, { isResumed, holds: opened.holds }, environment.tools !== null),
      stderr: spawned.stderrTail,
    });
    if (result.kind !== "ended") return result;
    const warnings = [...opened.warnings, ...unset, ...result.warnings, ...answers.warnings(), ...noticed(wire, collector)];
    return { ...result, warnings };
  } catch (error) {
    if (error instanceof RequestError) return beforeSession({ by: "error", code: error.code, message: error.message, data: error.data });
    if (!(error instanceof TurnOver)) throw error;
    return beforeSession(error.ending); // T2
  } finally {
    collector.close();
    watch.close();
    connection.close();
  }
}

/** The result of a turn that ended before its session opened. */
function unopened(end: End, environment: TurnEnvironment, spawned: Spawned, collector: Collector): TurnResult {
  const computed = outcomeOf({
    end,
    isOpen: false,
    said: collector.said,
    answer: "",
    stderr: spawned.stderrTail(),
    usage: null,
    tools: 0,
    refusals: 0,
    metas: [],
    calls: environment.metering.calls(),
    probes: environment.profile.probes,
    hasProvider: true,
    loginHint: environment.profile.hints.login,
    nowMs: Date.now(),
  });
  if (computed.kind !== "answered") return computed;
  return failed("agent_failed", "The agent answered what it was not asked.", { isOpen: false, said: "", stderr: "", usage: null });
}

/** An agent asks before it uses a tool; no other requests were offered to it. */
function answerQuestions(
  request: TurnRequest,
  environment: TurnEnvironment,
  watch: Watch,
  collector: Collector,
  answers: Answers,
): { connect: (stream: Wire["stream"]) => ClientConnection } {
  const wayTo = pathInLayer(request.layer);
  const rules = {
    isInside: (path: string) => wayTo(path) !== null,
    isInScope: (path: string) => environment.isInScope(wayTo(path) ?? ""),
    mayFetch: environment.mayFetch,
  };
  return client({ name: "autopilot" }).onRequest("session/request_permission", ({ params }) => {
    const call = collector.tools.merge(asRecord(params.toolCall));
    const judged = judgeCall(call, rules);
    const verdict = request.cancel.aborted || watch.isOver() ? "cancelled" : judged === "allowed" ? "allowed" : "refused";
    answers.add(verdict, judged === "allowed" ? "" : judged.refused);
    return permit(params.options, verdict);
  });
}

function noticed(wire: Wire, collector: Collector): readonly string[] {
  const { lines, bytes } = wire.garbage();
  return [
    ...(lines > 0 ? [`${lines} lines (${bytes} bytes) on its stdout were no protocol messages and were ignored`] : []),
    ...(collector.beyondChars > 0 ? [`${collector.beyondChars} characters of its answer were beyond the limit and were dropped`] : []),
  ];
}
