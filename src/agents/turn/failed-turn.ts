// failed-turn: builds the result of a turn that went wrong, with its message. Pure.

import { unreachable } from "../../kit/unreachable.ts";
import { visible } from "../../kit/visible.ts";
import type { ReportedUsage, TurnResult } from "../../ports/agent.ts";
import type { ProcessExit } from "../process/spawn-agent.ts";
import type { Ending } from "./ending.ts";
import { wholeHead, wholeTail } from "../../kit/whole-words.ts";

const detailCharsMax = 4000;
const stderrCharsMax = 2000;

/** What is left of a turn that went wrong. `isOpen`: whether its session was open. */
export type TurnRemains = {
  readonly isOpen: boolean;
  readonly said: string;
  readonly stderr: string;
  readonly usage: ReportedUsage;
};
type Failed = Extract<TurnResult, { kind: "failed" }>;

/** The sentence about what ended a turn. */
export function describeEnding(ending: Ending, remains: TurnRemains): string {
  switch (ending.by) {
    case "cancel":
      return "The turn was cancelled.";
    case "deadline":
      return `The turn took longer than ${ending.minutes} minutes and was cancelled.`;
    case "budget":
      return ending.says;
    case "provider":
      return "The model provider failed again and again, and the turn was ended.";
    case "stall":
      return `The agent gave no sign of life for ${formatSeconds(ending.ms)} with no tool at work, and was ended.`;
    case "mute":
      return `The agent did not answer ${ending.asked} within ${formatSeconds(ending.ms)}.`;
    case "bounds":
      return `The agent took more of the machine than it may, and was ended. ${ending.says}`;
    case "wire":
      return `The agent ${ending.says}, and was ended.`;
    case "exit":
      return `${describeExit(ending.exit)} ${remains.isOpen ? "before it answered" : "before a session was open"}.`;
    default:
      return unreachable(ending);
  }
}

/** The result of an agent that stopped for another reason than `end_turn`. */
export function createStoppedTurn(stop: string, remains: TurnRemains, refusals = 0): Failed {
  const meanings: Readonly<Record<string, string>> = {
    refusal: "refused the task",
    max_tokens: "ran into its model's token limit",
    max_turn_requests: "ran into its own limit of model calls",
    cancelled:
      refusals > 0
        ? "gave up its turn after it was refused a permission"
        : "cancelled its own turn, though nobody asked it to",
  };

  return createFailedTurn(
    "agent_failed",
    `The agent ${meanings[stop] ?? "stopped for a reason unknown here"} (${visible(stop)}).`,
    remains,
  );
}

export function createFailedTurn(
  reason: "agent_failed" | "agent_unavailable" | "agent_timeout" | "return_invalid",
  sentence: string,
  remains: TurnRemains,
): Failed {
  const tail = wholeTail(remains.stderr.trim(), stderrCharsMax);
  const stderr =
    tail === "" ? "" : `\nLast on its stderr:\n${tail.split("\n").map(visible).join("\n")}`;
  return {
    kind: "failed",
    reason,
    detail: clipDetail(`${sentence}${stderr}`),
    said: remains.said,
    usage: remains.usage,
  };
}

function describeExit(exit: ProcessExit | null): string {
  if (exit === null) return "The agent closed its output";
  return exit.signal === null
    ? `The agent's process exited with code ${exit.code ?? "unknown"}`
    : `The agent's process was killed by ${exit.signal}`;
}

const formatSeconds = (ms: number): string =>
  ms >= 1000 ? `${Math.round(ms / 1000)} s` : `${ms} ms`;
export const clipDetail = (text: string): string =>
  text.length <= detailCharsMax ? text : `${wholeHead(text, detailCharsMax)}…`;
