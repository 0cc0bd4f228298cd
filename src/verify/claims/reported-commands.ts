// reported-commands: extracts what an agent says or shows of commands that it ran, and how they ended.

import { claimText, type CommandClaim } from "./said-claim.ts";
import type { Transcript } from "./statements.ts";

const programs =
  /^(?:[A-Z_]+=\S+ +)*(?:npm|npx|pnpm|yarn|bunx?|node|deno|python3?|pytest|tox|nox|uv|poetry|go|cargo|make|just|mvnw?|gradle|bash|sh|tsc|eslint|oxlint|biome|jest|vitest|mocha|ava|tap|ruff|mypy|pyright|rspec|rake|bundle|dotnet|php|phpunit|composer|cmake|ctest|docker|test|git|\.{1,2}\/\S+)(?:\s|$)/;
const successPattern =
  /\b(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|success(?:ful|fully)?|green|clean|exit(?:s|ed)?(?: with)?(?: code| status)? 0|works)\b/i;
const failurePattern = /\b(?:fail(?:s|ed|ing|ures?)?|errors?|red|breaks?|broken|exit(?:s|ed)?(?: with)?(?: code| status)? [1-9]\d*)\b/i;

export const isCommand = (text: string): boolean => programs.test(text.trim());

/** `npm test` passes; I ran `npm test` and it failed. Without a result there is nothing to compare. */
export function commandClaims(sentence: string): readonly CommandClaim[] {
  return [...sentence.matchAll(/`([^`\n]{2,200})`([^`]{0,120})/g)].flatMap(([, command = "", after = ""]): CommandClaim[] => {
    const passed = isCommand(command) ? parseResult(after) : null;
    return passed === null ? [] : [{ kind: "command", text: claimText(sentence), command: command.trim(), passed }];
  });
}

function parseResult(message: string): boolean | null {
  const success = successPattern.exec(message);
  const failure = failurePattern.exec(message.replaceAll(/\b(?:no|0|zero) (?:fail\w*|errors?)\b/gi, ""));
  if (success === null && failure === null) return null;
  return failure === null || (success !== null && success.index < failure.index);
}

/** The result that quoted output shows: a counted or named failure outweighs everything that passed beside it. */
export function transcriptClaims(transcripts: readonly Transcript[]): readonly CommandClaim[] {
  return transcripts
    .filter(({ command }) => isCommand(command))
    .flatMap(({ command, output }): CommandClaim[] => {
      const withoutZeroCounts = output.replaceAll(/\b(?:no|0|zero) (?:fail\w*|errors?)\b|\b(?:fail\w*|errors?)\s*[:=]?\s*0\b/gi, "");
      const hasFailed =
        /\b[1-9]\d*\s+(?:tests? )?(?:fail(?:ed|ing|ures?)|errors?)\b|\b(?:fail(?:ed|ures?)?|errors?)\s*[:=]?\s*[1-9]|^\s*(?:FAIL(?:ED)?|not ok|✗|✖|×)\b|\bexit(?:ed)?(?: with)?(?: code| status)?:?\s*[1-9]|^\s*\w*Error:/im.test(
          withoutZeroCounts,
        );
      const hasPassed =
        /\b\d+\s+(?:tests? )?pass(?:ed|ing)?\b|\bpass(?:ed)?\s*[:=]?\s*[1-9]|^\s*(?:PASS(?:ED)?|ok|OK|✓|✔)(?:\s|$|:)|\ball tests pass|\bexit(?:ed)?(?: with)?(?: code| status)?:?\s*0\b|\bsuccess/im.test(
          output,
        );
      if (!hasFailed && !hasPassed) return [];
      return [{ kind: "command", text: claimText(`$ ${command} → ${hasFailed ? "failed" : "passed"}`), command, passed: !hasFailed }];
    });
}
