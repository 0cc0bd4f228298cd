// live-line: renders one live event as the line that a person sees while a run works.

import type { LiveEvent } from "../contracts/signal.ts";
import { unreachable } from "../kit/never.ts";
import { compactDuration, describeAttempt, figure, oneLine } from "./wording.ts";

const lineCharsMax = 120;

/** A live event as a line; null if it has no text to show. */
export function liveLine(signal: LiveEvent): string | null {
  switch (signal.signal) {
    case "said":
    case "thought": {
      const text = oneLine(signal.text, lineCharsMax);
      if (text === "") return null;
      return signal.signal === "said" ? `  “${text}”` : `  … ${text}`;
    }
    case "tool":
      return toolLine(signal);
    case "checking":
      return signal.title === signal.command
        ? `  · checking ${oneLine(signal.command, lineCharsMax)}`
        : `  · checking ${oneLine(signal.title, 60)}: ${oneLine(signal.command, lineCharsMax)}`;
    case "check_running": {
      const line = oneLine(signal.line, lineCharsMax);
      return `  · ${oneLine(signal.title, 60)}, ${compactDuration(signal.elapsedMs)}${line === "" ? "" : `: ${line}`}`;
    }
    case "usage":
      return `  · ${figure(signal.tokens)} tokens so far in ${describeAttempt(signal.attempt)}`;
    default:
      return unreachable(signal);
  }
}

function toolLine({ status, title }: Extract<LiveEvent, { signal: "tool" }>): string {
  const suffix = status === "" ? "" : ` (${oneLine(status, 20)})`;
  return `  ${status === "failed" ? "✗" : "·"} ${oneLine(title, lineCharsMax)}${suffix}`;
}
