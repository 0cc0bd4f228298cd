// overlap: whether two tasks may change the same file, by the globs they name. In doubt they may.

import { parseScope } from "../../runner/draft/objective-scope.ts";

/** An empty list means that the task may change anything. */
export function mayOverlap(left: readonly string[], right: readonly string[]): boolean {
  const others = parseIncludedGlobs(right);
  return parseIncludedGlobs(left).some((glob) => others.some((other) => canGlobsMeet(glob, other)));
}

/** Each list is parsed once, because a plan compares it with many others. */
const parsedGlobs = new WeakMap<readonly string[], readonly string[]>();

/**
 * The globs that a list includes, parsed as the task's run parses it. Excluded ones are dropped:
 * without them more overlaps, never less.
 */
function parseIncludedGlobs(touches: readonly string[]): readonly string[] {
  const cached = parsedGlobs.get(touches);
  if (cached !== undefined) return cached;
  const parsed = parseScope(touches);
  const globs =
    touches.length === 0 || "fault" in parsed
      ? ["**"]
      : parsed.scope.filter((glob) => !glob.startsWith("!"));
  parsedGlobs.set(touches, globs);

  return globs;
}

/**
 * Alternatives with a folder in them, `{a/b,c}`: the parts of such a glob cannot be compared one by
 * one.
 */
const splitAlternativesPattern = /[{(][^})]*\//;

/**
 * Whether one path may match both globs. They are compared folder by folder; only names that can't
 * both match keep them apart.
 */
function canGlobsMeet(left: string, right: string): boolean {
  if (splitAlternativesPattern.test(left) || splitAlternativesPattern.test(right)) return true;
  const [leftParts, rightParts] = [splitGlob(left), splitGlob(right)];
  for (let index = 0; index < Math.max(leftParts.length, rightParts.length); index++) {
    // A folder's glob has fewer parts than the paths in it.
    const [leftPart = "**", rightPart = "**"] = [leftParts[index], rightParts[index]];
    if (leftPart === "**" || rightPart === "**") return true;
    if (!canPartsMeet(leftPart, rightPart)) return false;
  }

  return true;
}

const splitGlob = (glob: string): readonly string[] =>
  glob.split("/").filter((part) => part !== "" && part !== ".");
/** A character that isn't plain in a glob: `*` in `*.ts`, `{` in `{a,b}`. */
const wildcardPattern = /[*?[\]{}()!+@|\\]/;

/**
 * Whether one name may match both: plain names must be the same; of others the plain beginnings and
 * ends are compared.
 */
function canPartsMeet(left: string, right: string): boolean {
  if (!wildcardPattern.test(left) && !wildcardPattern.test(right)) {
    return left.toLowerCase() === right.toLowerCase();
  } // a file system may be case-insensitive

  const [leftStart, rightStart] = [readPlainStart(left), readPlainStart(right)];
  const [leftEnd, rightEnd] = [readPlainEnd(left), readPlainEnd(right)];
  return (
    (leftStart.startsWith(rightStart) || rightStart.startsWith(leftStart)) &&
    (leftEnd.endsWith(rightEnd) || rightEnd.endsWith(leftEnd))
  );
}

/** `test-` of `test-*.ts`. */
const readPlainStart = (part: string): string =>
  (/^[^*?[\]{}()!+@|\\]*/.exec(part)?.[0] ?? "").toLowerCase();
/** `.ts` of `test-*.ts`. */
const readPlainEnd = (part: string): string =>
  (/[^*?[\]{}()!+@|\\]*$/.exec(part)?.[0] ?? "").toLowerCase();
