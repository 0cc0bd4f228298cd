// dialect: the type of what differs between commands that print a line of JSON per event. Such a
// command is started for every prompt, and configured by its arguments.

import type { Allowance } from "../../ports/agent.ts";
import type { TurnEnd } from "../turn/outcome.ts";
import type { JsonObject } from "../turn/untrusted-json.ts";
import type { PermissionMode } from "../profiles/profile.ts";
import type { StdioServer } from "../answer-tools/tools.ts";

/** One prompt for a command. */
export type PromptRequest = {
  /** Its command line. */
  readonly argv: readonly string[];
  readonly prompt: string;
  /** The session: to be opened under this name, or resumed; null if the command names it itself. */
  readonly session: { readonly name: string; readonly isResumed: boolean } | null;
  readonly mode: PermissionMode;
  readonly allowanceLeft: Allowance;
  readonly tools: StdioServer | null;
};

/** One line of output, translated to the Agent Client Protocol's updates where it has one. */
export type ParsedLine = {
  readonly session?: string;
  readonly updates?: readonly JsonObject[];
  /** The usage, as reported. */
  readonly usage?: JsonObject;
  /** In US dollars: the session's so far. */
  readonly costUsd?: number;
  readonly warnings?: readonly string[];
  /** An error message that may or may not end the run. */
  readonly errorText?: string;
  /** It reports that it has ended. */
  readonly end?: TurnEnd;
};

export type Dialect = {
  /** Whether the runner names a new session, or the command does. */
  readonly runnerNamesSession: boolean;
  /** The arguments to start it with, and its stdin, if the prompt is too long for an argument. */
  readonly composeCommand: (request: PromptRequest) => {
    readonly argv: readonly string[];
    readonly input: string | null;
  };
  /** What one line of output means. */
  readonly parseLine: (line: JsonObject) => ParsedLine;
  /** The messages by which it reports an unknown session. */
  readonly unknownSessionPattern: RegExp;
};

/** JSON-RPC's code for an error without a better one. */
export const internalErrorCode = -32603;

/**
 * A longer prompt goes to the command's stdin: a single argument may have 128 KiB, and the others
 * need room too.
 */
export const argumentBytesMax = 100 * 1024;
export const isTooLongForArgument = (prompt: string): boolean =>
  Buffer.byteLength(prompt) > argumentBytesMax;

export const toMessageUpdate = (text: string): JsonObject => ({
  sessionUpdate: "agent_message_chunk",
  content: { type: "text", text: `${text}\n` },
});
export const toThoughtUpdate = (text: string): JsonObject => ({
  sessionUpdate: "agent_thought_chunk",
  content: { type: "text", text },
});
