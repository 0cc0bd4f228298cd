// describe-command-end: describes for a person how a check's command ended: timeout, missing tool,
// leftover processes.

import type { CheckStatus } from "../contracts/evidence.ts";
import { unreachable } from "../kit/unreachable.ts";
import { readLastLines, type Output } from "./bounded-output.ts";

export type CommandEnd = {
  readonly status: CheckStatus | "cancelled";
  readonly ending: {
    readonly code: number | null;
    readonly signal: string | null;
    readonly error: string | null;
  };
  readonly timeoutMs: number;
  readonly leftBehind: number;
  readonly survivors: number;
  readonly output: Output;
};

/**
 * What a person should know about a command's end beyond its exit code. Empty if there is nothing.
 */
export function describeCommandEnd(command: CommandEnd): string {
  return [
    describeEnd(command),
    describeTerminalNeed(command),
    describeLeftovers(command),
    describeOmission(command),
  ]
    .filter((sentence) => sentence !== "")
    .join("; ");
}

function describeEnd({ status, ending, timeoutMs }: CommandEnd): string {
  switch (status) {
    case "timed_out":
      return `did not end within ${timeoutMs / 1000} s and was ended`;
    case "cancelled":
      return "called off";
    case "not_found":
      return "exit 127: a command it names was not found; is it installed, and are its dependencies restored?";
    case "not_runnable":
      return ending.error === null
        ? "exit 126: a file it names cannot be executed; is it marked executable?"
        : `could not be started: ${ending.error}`;
    case "failed":
      return ending.signal === null ? "" : `ended by ${ending.signal}`;
    case "flaky":
      return "it passed and failed on one and the same tree";
    case "passed":
      return "";
    default:
      return unreachable(status);
  }
}

/**
 * Checks have no terminal and no input; a command that needs one fails, and rarely says that this
 * is why.
 */
function describeTerminalNeed({ status, output }: CommandEnd): string {
  if (status === "passed" || status === "cancelled") return "";
  const terminalMessages =
    /\/dev\/tty|not a (tty|terminal)|inappropriate ioctl|no (controlling )?(tty|terminal)|stdin is not/i;
  const lastLines = readLastLines(output, searchedLinesMax, searchedBytesMax);

  return terminalMessages.test(lastLines)
    ? "it asked for a terminal, and checks run without one and with empty input"
    : "";
}

const searchedLinesMax = 40;
const searchedBytesMax = 4096;

function describeLeftovers({ leftBehind, survivors }: CommandEnd): string {
  if (survivors > 0) return `${survivors} of its processes could not be ended`;
  if (leftBehind === 0) return "";
  return leftBehind === 1
    ? "it left a process running, which was ended"
    : `it left ${leftBehind} processes running, which were ended`;
}

function describeOmission({ output }: CommandEnd): string {
  return output.omittedBytes === 0
    ? ""
    : `it wrote ${output.totalBytes} bytes, of which the beginning and the end are kept`;
}
