// dialect: what a command that prints a line of JSON an event differs in. It is started again for every prompt, and told everything by its words.

import type { Allowance } from "../../ports/agent.ts";
import type { End } from "../acp/outcome.ts";
import type { JsonObject } from "../acp/untrusted-json.ts";
import type { Mode } from "../profiles/profile.ts";
import type { StdioServer } from "../returns/tools.ts";

/** One prompt for a command. */
export type PromptRequest = {
  /** The words that start it. */
  readonly argv: readonly string[];
  readonly prompt: string;
  /** The session: to be opened under this name, or taken up; null if the command names it itself. */
  readonly session: { readonly name: string; readonly isResumed: boolean } | null;
  readonly mode: Mode;
  readonly left: Allowance;
  readonly tools: StdioServer | null;
};

/** What one line says, in the words of the Agent Client Protocol where it has any. */
export type ReadLine = {
  readonly session?: string;
  readonly updates?: readonly JsonObject[];
  /** What was used, as it is there. */
  readonly usage?: JsonObject;
  /** In US dollars: the session's so far. */
  readonly costUsd?: number;
  readonly warnings?: readonly string[];
  /** A complaint that may or may not end the run. */
  readonly errorText?: string;
  /** It says that it has come to its end. */
  readonly end?: End;
};

export type Dialect = {
  /** Whether the runner names a new session. */
  readonly namesSession: boolean;
  /** The words to start it with, and what it is given to read, where the prompt is too long for a word. */
  readonly command: (asked: PromptRequest) => { readonly argv: readonly string[]; readonly input: string | null };
  readonly readLine: (line: JsonObject) => ReadLine;
  /** The words by which it says that it knows no such session. */
  readonly unknownSession: RegExp;
};

/** A single word of a command may not be longer, and the others want room too. */
export const argumentBytesMax = 100 * 1024;
export const isTooLong = (prompt: string): boolean => Buffer.byteLength(prompt) > argumentBytesMax;

export const messageUpdate = (text: string): JsonObject => ({
  sessionUpdate: "agent_message_chunk",
  content: { type: "text", text: `${text}\n` },
});
export const thoughtUpdate = (text: string): JsonObject => ({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text } });
