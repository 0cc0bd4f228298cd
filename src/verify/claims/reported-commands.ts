// reported-commands: extracts claims about commands that an agent says it ran, or shows the output
// of, and how they ended.

import { toClaimText, type CommandClaim } from "./reported-claim.ts";
import type { Transcript } from "./statements.ts";

/** What a command begins with, behind settings such as `CI=1`. */
const programs =
  /^(?:[A-Z_]+=\S+ +)*(?:npm|npx|pnpm|yarn|bunx?|node|deno|python3?|pytest|tox|nox|uv|poetry|go|cargo|make|just|mvnw?|gradle|bash|sh|tsc|eslint|oxlint|biome|jest|vitest|mocha|ava|tap|ruff|mypy|pyright|rspec|rake|bundle|dotnet|php|phpunit|composer|cmake|ctest|docker|test|git|\.{1,2}\/\S+)(?:\s|$)/;
const successPattern =
  /\b(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|success(?:ful|fully)?|green|clean|exit(?:s|ed)?(?: with)?(?: code| status)? 0|works)\b/i;
const failurePattern =
  /\b(?:fail(?:s|ed|ing|ures?)?|errors?|red|breaks?|broken|exit(?:s|ed)?(?: with)?(?: code| status)? [1-9]\d*)\b/i;

export const isCommand = (text: string): boolean => programs.test(text.trim());

/**
 * `npm test` passes; I ran `npm test` and it failed. Without a result there is nothing to compare.
 */
export function extractCommandClaims(sentence: string): readonly CommandClaim[] {
  const quotes = [...sentence.matchAll(/`([^`\n]{2,200})`([^`]{0,120})/g)];

  return quotes.flatMap(([, command = "", wordsBehind = ""]): CommandClaim[] => {
    const passed = isCommand(command) ? parseResult(wordsBehind) : null;
    if (passed === null) return [];
    return [{ kind: "command", text: toClaimText(sentence), command: command.trim(), passed }];
  });
}

/**
 * Whether words behind a command say that it passed; null if they say neither. The first of several
 * results counts.
 */
function parseResult(message: string): boolean | null {
  const withoutZeroCounts = message.replaceAll(/\b(?:no|0|zero) (?:fail\w*|errors?)\b/gi, "");
  const success = successPattern.exec(message);
  const failure = failurePattern.exec(withoutZeroCounts);

  if (failure === null) return success === null ? null : true;
  return success !== null && success.index < failure.index;
}

/** `2 failed`, `errors: 1`, `FAIL`, `exit code 1`, `TypeError:`. */
const failedOutput =
  /\b[1-9]\d*\s+(?:tests? )?(?:fail(?:ed|ing|ures?)|errors?)\b|\b(?:fail(?:ed|ures?)?|errors?)\s*[:=]?\s*[1-9]|^\s*(?:FAIL(?:ED)?|not ok|✗|✖|×)\b|\bexit(?:ed)?(?: with)?(?: code| status)?:?\s*[1-9]|^\s*\w*Error:/im;
/** `5 passed`, `PASS`, `✓`, `exit code 0`. */
const passedOutput =
  /\b\d+\s+(?:tests? )?pass(?:ed|ing)?\b|\bpass(?:ed)?\s*[:=]?\s*[1-9]|^\s*(?:PASS(?:ED)?|ok|OK|✓|✔)(?:\s|$|:)|\ball tests pass|\bexit(?:ed)?(?: with)?(?: code| status)?:?\s*0\b|\bsuccess/im;

/**
 * The result that quoted output shows: a counted or named failure outweighs everything that passed
 * beside it.
 */
export function extractTranscriptClaims(
  transcripts: readonly Transcript[],
): readonly CommandClaim[] {
  return transcripts
    .filter(({ command }) => isCommand(command))
    .flatMap(({ command, output }): CommandClaim[] => {
      const passed = parseOutput(output);
      if (passed === null) return [];

      const text = toClaimText(`$ ${command} → ${passed ? "passed" : "failed"}`);
      return [{ kind: "command", text, command, passed }];
    });
}

/** Whether quoted output shows that its command passed; null if it shows neither. */
function parseOutput(output: string): boolean | null {
  const withoutZeroCounts = output.replaceAll(
    /\b(?:no|0|zero) (?:fail\w*|errors?)\b|\b(?:fail\w*|errors?)\s*[:=]?\s*0\b/gi,
    "",
  );
  if (failedOutput.test(withoutZeroCounts)) return false;
  return passedOutput.test(output) ? true : null;
}
