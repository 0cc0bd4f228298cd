// outcome: computes the result of a prompt from everything that was observed. Pure.
//
// Invariants:
//   O1. An agent's `end_turn` is not trusted: the meter's calls, the profile's probes and an answer
//       without text, action and usage all overrule it.
//   O2. What the runner did itself (cancel, deadline, budget) is reported as that, whatever the
//       agent answered. A provider that had failed by then is reported instead of the deadline,
//       because waiting helps there and trying again does not.
//   O3. A provider that refuses the login makes the agent unusable: the user must log in.

import { unreachable } from "../../kit/unreachable.ts";
import { visible } from "../../kit/visible.ts";
import type { TurnResult } from "../../ports/agent.ts";
import type { ModelCall } from "../../ports/meter.ts";
import type { FailureProbe } from "../profiles/profile.ts";
import type { Ending } from "./ending.ts";
import { type JsonObject, asRecord, asString } from "./untrusted-json.ts";
import {
  type AgentError,
  findFailingCall,
  type Fault,
  classifyCall,
  classifyError,
  findProbedFault,
  hasHungUp,
} from "./provider-fault.ts";
import { findReset } from "./reset-time.ts";
import {
  clipDetail,
  createFailedTurn,
  type TurnRemains,
  createStoppedTurn,
  describeEnding,
} from "./failed-turn.ts";

/** How much of an answer's end is searched for the time of a reset. */
const resetTailChars = 2_000;

/** How a prompt ended: by one of the endings, by the agent's answer (`stop`), or by its error. */
export type TurnEnd =
  | Ending
  | { readonly by: "stop"; readonly stop: string }
  | ({ readonly by: "error" } & AgentError);

export type TurnObservations = TurnRemains & {
  readonly end: TurnEnd;
  /** The agent's text since the last prompt. */
  readonly answer: string;
  /** How many tools it called since then. */
  readonly toolCount: number;
  /** Requests for permission that were refused. */
  readonly refusals: number;
  /** Updates and answers that carried a `_meta`. */
  readonly metas: readonly JsonObject[];
  readonly modelCalls: readonly ModelCall[];
  readonly probes: readonly FailureProbe[];
  /** False if no model is behind the agent, so that silence means nothing. */
  readonly hasProvider: boolean;
  readonly loginHint: string;
  readonly nowMs: number;
};

/** `answered`: the prompt ended normally, and its text counts. */
export type TurnOutcome =
  | { readonly kind: "answered"; readonly warnings: readonly string[] }
  | Exclude<TurnResult, { kind: "ended" }>;

/** What a prompt came to. */
export function computeOutcome(observed: TurnObservations): TurnOutcome {
  const { end } = observed;
  switch (end.by) {
    case "cancel":
      return {
        kind: "cut",
        by: "cancel",
        detail: "The turn was cancelled.",
        usage: observed.usage,
      }; // O2
    case "budget":
      return {
        kind: "cut",
        by: "budget",
        detail: clipDetail(visible(end.says)),
        usage: observed.usage,
      }; // O2
    case "deadline": {
      const fault = findMeteredFault(observed); // O2
      const detail = `The turn took longer than ${end.minutes} minutes and was cancelled.`;
      return fault === null
        ? { kind: "cut", by: "deadline", detail, usage: observed.usage }
        : toFaultOutcome(fault, observed);
    }
    case "provider":
    case "stall":
    case "exit": {
      const fault =
        findMeteredFault(observed) ??
        (observed.isOpen ? findProbedFault(selectStderrProbes(observed.probes), observed) : null);
      return fault === null
        ? createFailedTurn(toEndingReason(end, observed), describeEnding(end, observed), observed)
        : toFaultOutcome(fault, observed);
    }
    case "mute":
    case "bounds":
    case "wire":
      return createFailedTurn(
        toEndingReason(end, observed),
        describeEnding(end, observed),
        observed,
      );
    case "error":
      return toErrorOutcome(end, observed);
    case "stop":
      return toStopOutcome(end.stop, observed);
    default:
      return unreachable(end);
  }
}

function toEndingReason(
  end: Ending,
  observed: TurnRemains,
): "agent_failed" | "agent_unavailable" | "agent_timeout" {
  if (end.by === "stall" || end.by === "provider") return "agent_timeout";
  if (end.by === "mute") return "agent_unavailable";
  return end.by === "wire" || observed.isOpen ? "agent_failed" : "agent_unavailable";
}

function findMeteredFault({ modelCalls }: TurnObservations): Fault | null {
  const failing = findFailingCall(modelCalls);
  return failing === null ? null : classifyCall(failing.call);
}

const selectStderrProbes = (probes: readonly FailureProbe[]): readonly FailureProbe[] =>
  probes.filter(({ where }) => where === "stderr");

function toErrorOutcome(error: AgentError, observed: TurnObservations): TurnOutcome {
  const fault =
    findMeteredFault(observed) ??
    classifyError(error) ??
    findProbedFault(selectStderrProbes(observed.probes), observed);
  if (fault !== null) return toFaultOutcome(fault, observed);
  const sentence = `The agent answered with error ${error.code}: ${error.message}${describeErrorData(error.data)}`;

  return createFailedTurn(
    observed.isOpen ? "agent_failed" : "agent_unavailable",
    visible(sentence),
    observed,
  );
}

function toStopOutcome(stop: string, observed: TurnObservations): TurnOutcome {
  const { answer, toolCount, usage, modelCalls } = observed;
  const failing = findFailingCall(modelCalls);
  const probedFault = findProbedFault(observed.probes, observed);
  const hasDoneNothing = answer.trim() === "" && toolCount === 0;

  if (failing !== null) {
    const fault = classifyCall(failing.call);
    // Only a side call (a title, a summary) of another model failed, and the agent's own model
    // answered: that is only a warning.
    const isSideCall =
      failing.hasOther && stop === "end_turn" && probedFault === null && !hasDoneNothing;
    // An agent that has its answer may drop its other requests.
    const isHangUp = hasHungUp(failing.call) && stop === "end_turn" && !hasDoneNothing;
    if (!isSideCall && !isHangUp) return toFaultOutcome(fault, observed); // O1

    return {
      kind: "answered",
      warnings: isSideCall ? [visible(`one of its calls failed: ${fault.message}`)] : [],
    };
  }

  if (stop !== "end_turn") return createStoppedTurn(stop, observed, observed.refusals);
  const isMetered = modelCalls.length > 0;
  if (probedFault !== null && !isMetered) return toFaultOutcome(probedFault, observed); // O1
  const isEmpty = hasDoneNothing && usage === null && !isMetered && observed.hasProvider;
  if (isEmpty) {
    const words =
      "the agent ended its turn without a word, a tool call or any usage, as some do when the model provider fails";
    return toFaultOutcome({ fault: "service", message: words, retryAt: null }, observed); // O1
  }

  return {
    kind: "answered",
    warnings:
      hasDoneNothing && usage === null
        ? ["it ended its turn without a word, a tool call or any reported usage"]
        : [],
  };
}

function toFaultOutcome(
  { fault, message: text, retryAt }: Fault,
  observed: TurnObservations,
): TurnOutcome {
  if (fault === "access") {
    const hint =
      observed.loginHint === ""
        ? "It needs to be logged in."
        : `It needs to be logged in: ${observed.loginHint}`;

    return createFailedTurn(
      "agent_unavailable",
      `${visible(`The model provider or the agent refused the login: ${text}`)} ${hint}`,
      observed,
    ); // O3
  }

  const sentences = {
    limit: "The model provider's limit is used up",
    service: "The model provider is out of order",
    request: "The model provider refused the request",
  };

  const resetAt =
    fault === "request"
      ? null
      : (retryAt ??
        findReset(text, observed.nowMs) ??
        findReset(observed.answer.slice(-resetTailChars), observed.nowMs));

  const detail = clipDetail(visible(`${sentences[fault]}: ${text}`));
  return {
    kind: "cut",
    by: "provider",
    fault,
    resetAt,
    detail,
    hasWorked: observed.toolCount > 0,
    usage: observed.usage,
  };
}

function describeErrorData(data: unknown): string {
  const fields = asRecord(data);
  const details = asString(fields["details"]) ?? asString(fields["message"]) ?? asString(data);
  return details === null ? "" : ` (${details})`;
}
