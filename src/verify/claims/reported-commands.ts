// reported-commands: extracts claims about commands that an agent says it ran, or shows the output
// of, and how they ended.

import {
  commandLine,
  failedOutput,
  failureWord,
  passedOutput,
  successWord,
  zeroFailures,
  zeroFailuresInOutput,
} from "./command-patterns.ts";
import { toClaimText, type CommandClaim } from "./reported-claim.ts";
import type { Transcript } from "./statements.ts";

export const isCommand = (text: string): boolean => commandLine.test(text.trim());

/**
 * `npm test` passes; I ran `npm test` and it failed. Without a result there is nothing to compare.
 */
export function extractCommandClaims(sentence: string): readonly CommandClaim[] {
  const quotes = sentence.matchAll(/`([^`\n]{2,200})`([^`]{0,120})/g);
  const claims: CommandClaim[] = [];

  for (const [, command = "", wordsBehind = ""] of quotes) {
    const passed = isCommand(command) ? parseResultWords(wordsBehind) : null;
    if (passed === null) continue;
    claims.push({
      kind: "command",
      text: toClaimText(sentence),
      command: command.trim(),
      passed,
    });
  }

  return claims;
}

/**
 * Whether words behind a command say that it passed; null if they say neither. The first of several
 * results counts.
 */
function parseResultWords(words: string): boolean | null {
  const success = successWord.exec(words);
  const failure = failureWord.exec(words.replaceAll(zeroFailures, ""));

  if (failure === null) return success === null ? null : true;
  return success !== null && success.index < failure.index;
}

/**
 * The result that quoted output shows: a counted or named failure outweighs everything that passed
 * beside it.
 */
export function extractTranscriptClaims(
  transcripts: readonly Transcript[],
): readonly CommandClaim[] {
  const claims: CommandClaim[] = [];

  for (const { command, output } of transcripts) {
    const passed = isCommand(command) ? parseOutput(output) : null;
    if (passed === null) continue;
    const text = toClaimText(`$ ${command} → ${passed ? "passed" : "failed"}`);
    claims.push({ kind: "command", text, command, passed });
  }

  return claims;
}

/** Whether quoted output shows that its command passed; null if it shows neither. */
function parseOutput(output: string): boolean | null {
  if (failedOutput.test(output.replaceAll(zeroFailuresInOutput, ""))) return false;
  return passedOutput.test(output) ? true : null;
}
