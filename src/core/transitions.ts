// transitions: decides which commands are allowed in which run state, and how one is refused.

import { type RunStatus, runStates, runTransitions } from "../contracts/objective.ts";

/**
 * The state that a command leads to; the other commands read, or ask for something within a state.
 */
const targets = {
  go: "running",
  resume: "running",
  pause: "paused",
  stop: "stopped",
} as const satisfies Record<string, RunStatus>;
const statesOfCommand = {
  ack: ["draft"],
  raise: ["running", "paused"],
  answer: ["running", "paused"],
} as const satisfies Record<string, readonly RunStatus[]>;

export type RunCommand = keyof typeof targets | keyof typeof statesOfCommand;

export const isTransition = (from: RunStatus, to: RunStatus): boolean =>
  runTransitions.some(([source, target]) => source === from && target === to);

/**
 * The states from which a command is possible. Resuming a run that says `running` and has no owner
 * isn't a transition, so it is not judged here.
 */
export function statesAllowing(command: RunCommand): readonly RunStatus[] {
  if (command === "go") return ["draft", "paused", "running"]; // It starts a draft, resumes a paused run, continues a running one.
  if (command === "resume") return ["paused"];
  if (command in targets) {
    return runStates.filter((from) => isTransition(from, targets[command as keyof typeof targets]));
  }

  return statesOfCommand[command as keyof typeof statesOfCommand];
}

/** Null if the command is possible; else the refusal, with the states from which it would be. */
export function findCommandRefusal(
  command: RunCommand,
  status: RunStatus,
): null | {
  readonly reason_code: "invalid_state_transition";
  readonly allowed_from: readonly RunStatus[];
} {
  const allowed_from = statesAllowing(command);
  return allowed_from.includes(status)
    ? null
    : { reason_code: "invalid_state_transition", allowed_from };
}
