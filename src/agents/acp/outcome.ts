// outcome: computes the result of a prompt from everything that was observed. Pure.
//
// Invariants:
//   O1. An agent's `end_turn` is not trusted: the meter's calls, the profile's probes and an answer without text, action and usage all
//       overrule it.
//   O2. What the runner did itself (cancel, deadline, budget) is reported as that, whatever the agent answered. A provider that had failed
//       by then is reported instead of the deadline, because waiting helps there and trying again does not.
//   O3. A provider that refuses the login makes the agent unusable: the user must log in.

import { unreachable } from "../../kit/never.ts";
import { visible } from "../../kit/visible.ts";
import type { TurnResult } from "../../ports/agent.ts";
import type { ModelCall } from "../../ports/meter.ts";
import type { FailureProbe } from "../profiles/profile.ts";
import type { Ending } from "./ending.ts";
import { type JsonObject, asRecord, asString } from "./untrusted-json.ts";
import { type AgentError, failingCall, type Fault, faultOfCall, faultOfError, faultOfProbes, hasHungUp } from "./provider-fault.ts";
import { findReset } from "./reset-time.ts";
import { clip, failed, type Left, stoppedBy, describeEnding } from "./result.ts";

/** How the prompt ended, as observed. */
export type End = Ending | { readonly by: "stop"; readonly stop: string } | ({ readonly by: "error" } & AgentError);

export type TurnObservations = Left & {
  readonly end: End;
  /** The agent's text since the last prompt. */
  readonly answer: string;
  readonly tools: number;
  /** Requests for permission that were refused. */
  readonly refusals: number;
  /** Updates and answers that carried a `_meta`. */
  readonly metas: readonly JsonObject[];
  readonly calls: readonly ModelCall[];
  readonly probes: readonly FailureProbe[];
  /** False if no model is behind the agent, so that silence means nothing. */
  readonly hasProvider: boolean;
  readonly loginHint: string;
  readonly nowMs: number;
};

/** `answered`: the prompt ended normally, and its text counts. */
export type Computed = { readonly kind: "answered"; readonly warnings: readonly string[] } | Exclude<TurnResult, { kind: "ended" }>;

export function outcomeOf(seen: TurnObservations): Computed {
  const { end } = seen;
  switch (end.by) {
    case "cancel":
      return { kind: "cut", by: "cancel", detail: "The turn was cancelled.", usage: seen.usage }; // O2
    case "budget":
      return { kind: "cut", by: "budget", detail: clip(visible(end.says)), usage: seen.usage }; // O2
    case "deadline": {
      const fault = metered(seen); // O2
      const detail = `The turn took longer than ${end.minutes} minutes and was cancelled.`;
      return fault === null ? { kind: "cut", by: "deadline", detail, usage: seen.usage } : byProvider(fault, seen);
    }
    case "provider":
    case "stall":
    case "exit": {
      const fault = metered(seen) ?? (seen.isOpen ? faultOfProbes(onStderr(seen.probes), seen) : null);
      return fault === null ? failed(endingReason(end, seen), describeEnding(end, seen), seen) : byProvider(fault, seen);
    }
    case "mute":
    case "bounds":
    case "wire":
      return failed(endingReason(end, seen), describeEnding(end, seen), seen);
    case "error":
      return ofError(end, seen);
    case "stop":
      return ofStop(end.stop, seen);
    default:
      return unreachable(end);
  }
}

function endingReason(end: Ending, seen: Left): "agent_failed" | "agent_unavailable" | "agent_timeout" {
  if (end.by === "stall" || end.by === "provider") return "agent_timeout";
  if (end.by === "mute") return "agent_unavailable";
  return end.by === "wire" || seen.isOpen ? "agent_failed" : "agent_unavailable";
}

function metered({ calls }: TurnObservations): Fault | null {
  const failing = failingCall(calls);
  return failing === null ? null : faultOfCall(failing.call);
}

const onStderr = (probes: readonly FailureProbe[]): readonly FailureProbe[] => probes.filter(({ where }) => where === "stderr");

function ofError(error: AgentError, seen: TurnObservations): Computed {
  const fault = metered(seen) ?? faultOfError(error) ?? faultOfProbes(onStderr(seen.probes), seen);
  if (fault !== null) return byProvider(fault, seen);
  const sentence = `The agent answered with error ${error.code}: ${error.message}${detailsOf(error.data)}`;
  return failed(seen.isOpen ? "agent_failed" : "agent_unavailable", visible(sentence), seen);
}

function ofStop(stop: string, seen: TurnObservations): Computed {
  const { answer, tools, usage, calls } = seen;
  const failing = failingCall(calls);
  const probed = faultOfProbes(seen.probes, seen);
  const isMute = answer.trim() === "" && tools === 0;
  if (failing !== null) {
    const fault = faultOfCall(failing.call);
    // A side call (a title, a summary) of another model failed, and the agent's own model answered: worth a warning, no more.
    const isAside = failing.hasOther && stop === "end_turn" && probed === null && !isMute;
    // An agent that has its answer may drop its other requests.
    const isHangUp = hasHungUp(failing.call) && stop === "end_turn" && !isMute;
    if (!isAside && !isHangUp) return byProvider(fault, seen); // O1
    return { kind: "answered", warnings: isAside ? [visible(`one of its calls failed: ${fault.words}`)] : [] };
  }
  if (stop !== "end_turn") return stoppedBy(stop, seen, seen.refusals);
  const isMetered = calls.length > 0;
  if (probed !== null && !isMetered) return byProvider(probed, seen); // O1
  const isEmpty = isMute && usage === null && !isMetered && seen.hasProvider;
  if (isEmpty) {
    const words = "the agent ended its turn without a word, a tool call or any usage, as some do when the model provider fails";
    return byProvider({ fault: "service", words, retryAt: null }, seen); // O1
  }
  return {
    kind: "answered",
    warnings: isMute && usage === null ? ["it ended its turn without a word, a tool call or any reported usage"] : [],
  };
}

function byProvider({ fault, words: text, retryAt }: Fault, seen: TurnObservations): Computed {
  if (fault === "access") {
    const hint = seen.loginHint === "" ? "It needs to be logged in." : `It needs to be logged in: ${seen.loginHint}`;
    return failed("agent_unavailable", `${visible(`The model provider or the agent refused the login: ${text}`)} ${hint}`, seen); // O3
  }
  const sentences = {
    limit: "The model provider's limit is used up",
    service: "The model provider is out of order",
    request: "The model provider refused the request",
  };
  const resetAt = fault === "request" ? null : (retryAt ?? findReset(text, seen.nowMs) ?? findReset(seen.answer.slice(-2000), seen.nowMs));
  const detail = clip(visible(`${sentences[fault]}: ${text}`));
  return { kind: "cut", by: "provider", fault, resetAt, detail, hasWorked: seen.tools > 0, usage: seen.usage };
}

function detailsOf(data: unknown): string {
  const more = asRecord(data);
  const details = asString(more["details"]) ?? asString(more["message"]) ?? asString(data);
  return details === null ? "" : ` (${details})`;
}
