// pattern: matches regular expressions of a flow against text an agent wrote, within a time limit.
//
// A flow's author chose the pattern, but the agent chose the text, and together they can make a
// backtracking matcher run for years. Four guards:
//   P1. A pattern is at most patternCharsMax long, and the text at most what tree-facts reads (1
//       MiB).
//   P2. A pattern that starts with ^ and ends with $ and names no line break is about whole lines:
//       it is matched line by line, so its `\s` does not reach into the next line and a long file
//       is no harder than its longest line.
//   P3. Matching runs under a hard time limit in its own context. A match that does not finish has
//       failed, and says so.
//   P4. Many matches share a time limit, and a pattern that timed out twice is not tried a third
//       time: a thousand slow files are not waited for.

import { createContext, Script } from "node:vm";

export const patternCharsMax = 500;
const matchTimeoutMs = 500;
/** For all matches of one matcher. */
const matchesTimeoutMs = 20_000;
const timeoutsMax = 2;

export type Matches =
  | { readonly ok: true; readonly groups: readonly (readonly string[])[] }
  | { readonly ok: false; readonly why: string };

/** Why a pattern cannot be used; null if it can. */
export function findPatternFault(pattern: string): string | null {
  if (pattern.length > patternCharsMax) {
    return `a pattern of ${pattern.length} characters; at most ${patternCharsMax} are allowed`;
  } // P1

  try {
    return RegExp(pattern, "m").source === "" ? "an empty pattern" : null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A matcher whose matches share one time limit. P4 */
export function openMatcher(totalMs: number = matchesTimeoutMs): typeof findMatches {
  let remainingMs = totalMs;
  const timeouts = new Map<string, number>();
  return (pattern, text, matchesMax) => {
    const fault = findPatternFault(pattern);
    if (fault !== null) return { ok: false, why: fault };
    if ((timeouts.get(pattern) ?? 0) >= timeoutsMax) {
      return { ok: false, why: "a pattern that came to no end in other files" };
    }

    if (remainingMs <= 0) {
      return { ok: false, why: `patterns that were searched for longer than ${totalMs} ms in all` };
    }

    const startedMs = performance.now();
    const result = findMatches(pattern, text, matchesMax);
    remainingMs -= performance.now() - startedMs;
    if (!result.ok) timeouts.set(pattern, (timeouts.get(pattern) ?? 0) + 1);

    return result;
  };
}

/** The first `matchesMax` matches, each as the whole and its groups. */
export function findMatches(pattern: string, text: string, matchesMax: number): Matches {
  const fault = findPatternFault(pattern);
  if (fault !== null) return { ok: false, why: fault };
  const normalized = text.replaceAll("\r\n", "\n");
  const parts = isAboutLines(pattern) ? normalized.split("\n") : [normalized];

  try {
    const context = createContext(
      { pattern, parts, matchesMax },
      { codeGeneration: { strings: false, wasm: false } },
    );
    const json = script.runInContext(context, { timeout: matchTimeoutMs }) as string; // P3
    return { ok: true, groups: JSON.parse(json) as string[][] };
  } catch (error) {
    // The error comes from the other context, so it isn't an instance of this one's Error.
    const isSlow =
      typeof error === "object" &&
      error !== null &&
      "code" in error &&
      error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";

    return {
      ok: false,
      why: isSlow ? `the pattern was still searching after ${matchTimeoutMs} ms` : String(error),
    };
  }
}

/**
 * P2. Alternatives, an explicit line break and what could match one (but for `\s`) keep a pattern
 * on the whole text.
 */
function isAboutLines(pattern: string): boolean {
  if (!pattern.startsWith("^") || !pattern.endsWith("$") || pattern.endsWith("\\$")) return false;
  return !/\||\n|\\[nruxcSWDpP]|\[\^/.test(pattern);
}

// Strings go in and a string comes out, so that no object of the other context is kept here.
const script = new Script(`(() => {
  const matches = [];
  const expression = new RegExp(pattern, "gm");
  for (const part of parts) {
    expression.lastIndex = 0;
    for (let match; matches.length < matchesMax && (match = expression.exec(part)) !== null; ) {
      matches.push(Array.from(match, (group) => group ?? ""));
      if (match[0] === "") expression.lastIndex++;
    }
    if (matches.length >= matchesMax) break;
  }
  return JSON.stringify(matches);
})()`);
