// result: what a turn that went wrong came to, in the port's words. Pure.

import type { RequestError } from "@agentclientprotocol/sdk";
import { unreachable } from "../../kit/never.ts";
import { visible } from "../../kit/visible.ts";
import type { ReportedUsage, TurnResult } from "../../ports/agent.ts";
import type { Exit } from "../process/spawn.ts";
import type { Ending } from "./ending.ts";
import { recordOf, textOf } from "./loose.ts";

const detailCharsMax = 4000;
const stderrCharsMax = 2000;

/** How far the conversation had come, and what is left of it. */
export type Left = { readonly isOpen: boolean; readonly said: string; readonly stderr: string; readonly usage: ReportedUsage };

export function endedBy(ending: Ending, left: Left): TurnResult {
  const { said, usage } = left;
  switch (ending.by) {
    case "cancel":
      return { kind: "cut", by: "cancel", detail: "The turn was cancelled.", usage };
    case "deadline":
      return { kind: "cut", by: "deadline", detail: `The turn took longer than ${ending.minutes} minutes and was cancelled.`, usage };
    case "stall":
      return failed("agent_timeout", `The agent gave no sign of life for ${seconds(ending.ms)} with no tool at work, and was ended.`, left);
    case "mute":
      return failed("agent_unavailable", `The agent did not answer ${ending.asked} within ${seconds(ending.ms)}.`, left);
    case "wire":
      return { kind: "failed", reason: "agent_failed", detail: `The agent ${ending.says}, and was ended.`, said, usage };
    case "exit":
      return failed(
        left.isOpen ? "agent_failed" : "agent_unavailable",
        `${exitOf(ending.exit)} ${left.isOpen ? "before it answered" : "before a session was open"}.`,
        left,
      );
    default:
      return unreachable(ending);
  }
}

/** The agent answered with an error. A provider's limit is told apart, because waiting helps there. */
export function refusedWith(error: RequestError, left: Left): TurnResult {
  const sentence = `The agent answered with error ${error.code}: ${error.message}${detailsOf(error.data)}`;
  if (isProviderLimit(error))
    return { kind: "cut", by: "provider", fault: "limit", resetAt: null, detail: clip(visible(sentence)), usage: left.usage };
  const isAuth = error.code === -32000;
  return failed(
    isAuth || !left.isOpen ? "agent_unavailable" : "agent_failed",
    `${visible(sentence)}${isAuth ? " It needs to be logged in." : ""}`,
    left,
  );
}

/** The agent stopped for another reason than having come to its end. */
export function stoppedBy(stop: string, left: Left): TurnResult {
  const meanings: Readonly<Record<string, string>> = {
    refusal: "refused the task",
    max_tokens: "ran into its model's token limit",
    max_turn_requests: "ran into its own limit of model calls",
    cancelled: "cancelled its own turn, though nobody asked it to",
  };
  return failed("agent_failed", `The agent ${meanings[stop] ?? "stopped for a reason unknown here"} (${visible(stop)}).`, left);
}

export function failed(
  reason: "agent_failed" | "agent_unavailable" | "agent_timeout" | "return_invalid",
  sentence: string,
  left: Left,
): TurnResult {
  const tail = left.stderr.trim().slice(-stderrCharsMax);
  const stderr = tail === "" ? "" : `\nLast on its stderr:\n${tail.split("\n").map(visible).join("\n")}`;
  return { kind: "failed", reason, detail: clip(`${sentence}${stderr}`), said: left.said, usage: left.usage };
}

function isProviderLimit(error: RequestError): boolean {
  const kind = textOf(recordOf(error.data)["errorKind"]) ?? "";
  return [429, 503, 529].includes(error.code) || /rate_limit|overloaded|usage_limit/.test(kind) || limitWords.test(error.message);
}
const limitWords = /\brate.?limit|too many requests|usage limit|quota (?:was |is )?exceeded|exceeded (?:your |the )?quota|\boverloaded\b/i;

function exitOf(exit: Exit | null): string {
  if (exit === null) return "The agent closed its output";
  return exit.signal === null
    ? `The agent's process exited with code ${exit.code ?? "unknown"}`
    : `The agent's process was killed by ${exit.signal}`;
}

function detailsOf(data: unknown): string {
  const details = textOf(recordOf(data)["details"]) ?? textOf(data);
  return details === null ? "" : ` (${details})`;
}

const seconds = (ms: number): string => (ms >= 1000 ? `${Math.round(ms / 1000)} s` : `${ms} ms`);
const clip = (text: string): string => (text.length <= detailCharsMax ? text : `${text.slice(0, detailCharsMax)}…`);
