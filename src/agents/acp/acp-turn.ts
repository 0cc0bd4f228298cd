// acp-turn: runs one turn of one agent over the Agent Client Protocol, from starting its process to
// ending its process tree.
//
// Invariants:
//   T1. Whatever happens, the process tree is ended before the result is returned (see
//       run-process.ts).
//   T2. The result is computed from what was observed; no claim of the agent makes a failed turn a
//       good one.
//   T3. What one prompt used is reported once: with `onAskAgain` if the agent is asked again, else
//       with the result (kept in converse.ts).

import { client, type ClientConnection, RequestError } from "@agentclientprotocol/sdk";
import { PassThrough } from "node:stream";
import type { TurnRequest, TurnResult } from "../../ports/agent.ts";
import { composeOpeningPrompt } from "../opening-prompt.ts";
import { runProcess } from "../run-process.ts";
import type { SpawnedAgent } from "../process/spawn-agent.ts";
import type { PreparedTurn } from "../prepared-turn.ts";
import { Collector } from "../turn/collector.ts";
import { converse } from "./converse.ts";
import { openWatch, TurnOver, type Watch } from "../turn/ending.ts";
import { createLayerRelativizer } from "../turn/path-in-layer.ts";
import { asRecord } from "../turn/untrusted-json.ts";
import { setMode } from "./session-mode.ts";
import { type TurnEnd, computeOutcome } from "../turn/outcome.ts";
import { PermissionAnswers, judgeCall, toPermissionResponse } from "./permission.ts";
import { createFailedTurn } from "../turn/failed-turn.ts";
import { openSession } from "./session.ts";
import { openWire, type Wire } from "./wire.ts";

export async function runAcpTurn(
  request: TurnRequest,
  prepared: PreparedTurn,
): Promise<TurnResult> {
  const outcome = await runProcess(
    prepared,
    { layer: request.layer, hasInput: true },
    async (spawned) => {
      const value = await runConversation(request, prepared, spawned);
      return { value, isAtRest: value.kind === "ended" };
    },
  );
  if ("problem" in outcome) {
    return {
      kind: "failed",
      reason: "agent_unavailable",
      detail: outcome.problem,
      said: "",
      usage: null,
    };
  }

  const { value, warnings } = outcome; // T1
  return value.kind === "ended" ? { ...value, warnings: [...value.warnings, ...warnings] } : value;
}

async function runConversation(
  request: TurnRequest,
  prepared: PreparedTurn,
  spawned: SpawnedAgent,
): Promise<TurnResult> {
  const collector = new Collector(request.attempt, request.onLiveEvent);
  const watch = openWatch(request, prepared.limits, () => collector.tools.hasOpen());

  const wire = openWire(
    spawned.stdout,
    spawned.stdin ?? new PassThrough(),
    { update: (params) => collector.take(params), life: watch.noteLife },
    prepared.limits.wire,
  );
  watch.follow(spawned, wire);
  watch.followMeter(prepared.metering);
  const answers = new PermissionAnswers();
  const permissionClient = createPermissionClient(request, prepared, watch, collector, answers);
  const connection = permissionClient.connect(wire.stream);

  try {
    const connected = { request, prepared, spawned, collector, watch, answers, connection };
    const result = await runSession(connected);
    if (result.kind !== "ended") return result;

    const outputWarnings = listOutputWarnings(wire, collector);
    return { ...result, warnings: [...result.warnings, ...answers.warnings(), ...outputWarnings] };
  } catch (error) {
    const end = toTurnEnd(error);
    if (end === null) throw error;
    return toResultBeforeSession(end, prepared, spawned, collector); // T2
  } finally {
    collector.close();
    watch.close();
    connection.close();
  }
}

/** A connection to an agent, and what observes it. */
type ConnectedAgent = {
  readonly request: TurnRequest;
  readonly prepared: PreparedTurn;
  readonly spawned: SpawnedAgent;
  readonly collector: Collector;
  readonly watch: Watch;
  readonly answers: PermissionAnswers;
  readonly connection: ClientConnection;
};

/** Opens the session, sets its mode and converses in it. */
async function runSession(connected: ConnectedAgent): Promise<TurnResult> {
  const { request, prepared, spawned, collector, watch, answers, connection } = connected;
  const { profile, model, limits, tools } = prepared;
  const { agent } = connection;

  const opened = await openSession(
    { agent, watch, collector, profile, limits },
    { ...request, tools },
  );
  if ("problem" in opened) {
    return createFailedTurn("agent_unavailable", `The agent cannot be used: ${opened.problem}.`, {
      isOpen: false,
      said: collector.said,
      stderr: spawned.stderrTail(),
      usage: null,
    });
  }

  const modeWarnings = await setMode({ agent, watch, limits }, opened, {
    mode: profile.modes[profile.mode],
    model,
    modelOption: profile.modelOption,
  });
  await request.onSession(opened.session, opened.how);

  const isResumed = opened.how !== "new";
  const opening = { isResumed, holds: opened.holds };
  const result = await converse({
    request,
    prepared,
    connection,
    watch,
    collector,
    answers,
    session: opened.session,
    isResumed,
    openingPrompt: composeOpeningPrompt(request, opening, tools !== null),
    stderr: spawned.stderrTail,
  });
  if (result.kind !== "ended") return result;

  return { ...result, warnings: [...opened.warnings, ...modeWarnings, ...result.warnings] };
}

/** How the turn ended, if this error says so. */
function toTurnEnd(error: unknown): TurnEnd | null {
  if (error instanceof TurnOver) return error.ending;
  if (!(error instanceof RequestError)) return null;
  return { by: "error", code: error.code, message: error.message, data: error.data };
}

/** The result of a turn that ended before its session opened. */
function toResultBeforeSession(
  end: TurnEnd,
  prepared: PreparedTurn,
  spawned: SpawnedAgent,
  collector: Collector,
): TurnResult {
  const turnOutcome = computeOutcome({
    end,
    isOpen: false,
    said: collector.said,
    answer: "",
    stderr: spawned.stderrTail(),
    usage: null,
    toolCount: 0,
    refusals: 0,
    metas: [],
    modelCalls: prepared.metering.calls(),
    probes: prepared.profile.probes,
    hasProvider: true,
    loginHint: prepared.profile.hints.login,
    nowMs: Date.now(),
  });
  if (turnOutcome.kind !== "answered") return turnOutcome;
  return createFailedTurn("agent_failed", "The agent answered what it was not asked.", {
    isOpen: false,
    said: "",
    stderr: "",
    usage: null,
  });
}

/** A client that answers requests for permission to use a tool; the agent may make no others. */
function createPermissionClient(
  request: TurnRequest,
  prepared: PreparedTurn,
  watch: Watch,
  collector: Collector,
  answers: PermissionAnswers,
): { connect: (stream: Wire["stream"]) => ClientConnection } {
  const toLayerPath = createLayerRelativizer(request.layer);
  const rules = {
    isInside: (path: string) => toLayerPath(path) !== null,
    isInScope: (path: string) => prepared.isInScope(toLayerPath(path) ?? ""),
    mayFetch: prepared.mayFetch,
  };

  return client({ name: "autopilot" }).onRequest("session/request_permission", ({ params }) => {
    const call = collector.tools.merge(asRecord(params.toolCall));
    const judgement = judgeCall(call, rules);
    const judgedVerdict = judgement === "allowed" ? "allowed" : "refused";
    const isCancelled = request.cancel.aborted || watch.isOver();
    const verdict = isCancelled ? "cancelled" : judgedVerdict;
    const whyRefused = judgement === "allowed" ? "" : judgement.refused;
    answers.add(verdict, whyRefused);

    return toPermissionResponse(params.options, verdict);
  });
}

function listOutputWarnings(wire: Wire, collector: Collector): readonly string[] {
  const warnings: string[] = [];
  const { lines, bytes } = wire.garbage();
  if (lines > 0) {
    warnings.push(
      `${lines} lines (${bytes} bytes) on its stdout were no protocol messages and were ignored`,
    );
  }

  if (collector.droppedChars > 0) {
    warnings.push(
      `${collector.droppedChars} characters of its answer were beyond the limit and were dropped`,
    );
  }

  return warnings;
}
