// opening-prompt: composes the first prompt of a turn: its task, or, if an earlier try was cut off,
// how to continue. Pure.
//
// Invariant:
//   F1. A session that already has this very prompt never gets it again as if it were new: the
//       agent is asked to continue.

import type { TurnRequest } from "../ports/agent.ts";
import { toolNames } from "./answer-tools/tools.ts";

type PromptParts = Pick<TurnRequest, "prompt" | "returns" | "isInterrupted">;

/**
 * `holds`: whether the session has the prompt already. `hasTools`: whether the runner's own tools
 * are offered.
 */
export function composeOpeningPrompt(
  request: PromptParts,
  opened: { readonly isResumed: boolean; readonly holds: "yes" | "no" | "unknown" },
  hasTools: boolean,
): string {
  const toolNote = hasTools ? composeToolInstructions(request) : "";
  if (!request.isInterrupted) return `${request.prompt}${toolNote}`;
  if (opened.isResumed && opened.holds !== "no") {
    return `${composeContinuePrompt(request.prompt)}${toolNote}`;
  } // F1

  return `${startAfreshSentence}\n\n${request.prompt}${toolNote}`;
}

const startAfreshSentence =
  "An earlier try of the task below was cut off. The folder was set back to the state before that try: nothing of it is left. Begin afresh.";

function composeContinuePrompt(prompt: string): string {
  return [
    "You were cut off while you worked on the task below. The folder was set back to the state before you began it: what you",
    "had changed since then is gone. Look at what is there now, then go on until the task is done. What was to be handed back,",
    "said or promised at the end is still to be. For reference, the task as it was given to you:",
    "",
    ...prompt.split("\n").map((line) => (line === "" ? ">" : `> ${line}`)),
  ].join("\n");
}

function composeToolInstructions({ returns }: PromptParts): string {
  const submit =
    returns === null
      ? ""
      : ` Hand in what is asked for with \`${toolNames.submit}\` rather than in a block of JSON: it tells you at once what does not fit. The block is for the case that you find no such tool.`;

  return `\n\nThe runner offers you tools of its own (server autopilot).${submit} Use \`${toolNames.ask}\` only for a question without whose answer you cannot go on, and end your turn after it; \`${toolNames.note}\` leaves a note in the log.`;
}
