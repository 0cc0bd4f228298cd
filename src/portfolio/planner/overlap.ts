// overlap: whether two tasks may change the same file, by the globs they name. In doubt they may.

import { parseScope } from "../../runner/draft/objective-scope.ts";

/** `touches` empty: it may change anything. */
export function mayOverlap(left: readonly string[], right: readonly string[]): boolean {
  const others = includedGlobsOf(right);
  return includedGlobsOf(left).some((glob) => others.some((other) => globsMeet(glob, other)));
}

/** Each list is parsed once, because a plan compares it with many others. */
const parsedGlobs = new WeakMap<readonly string[], readonly string[]>();

/** The globs that a list includes, parsed as the task's run parses it. Excluded ones are dropped: without them more overlaps, never less. */
function includedGlobsOf(touches: readonly string[]): readonly string[] {
  const cached = parsedGlobs.get(touches);
  if (cached !== undefined) return cached;
  const parsed = parseScope(touches);
  const globs = touches.length === 0 || "fault" in parsed ? ["**"] : parsed.scope.filter((glob) => !glob.startsWith("!"));
  parsedGlobs.set(touches, globs);
  return globs;
}

/** Alternatives with a folder in them, `{a/b,c}`: the parts of such a glob cannot be compared one by one. */
const hasSplitAlternatives = /[{(][^})]*\//;

/** Whether one path may match both globs. Compared folder by folder: only plain names that differ keep two globs apart. */
function globsMeet(left: string, right: string): boolean {
  if (hasSplitAlternatives.test(left) || hasSplitAlternatives.test(right)) return true;
  const [leftParts, rightParts] = [splitGlob(left), splitGlob(right)];
  for (let index = 0; index < Math.max(leftParts.length, rightParts.length); index++) {
    const [a, b] = [leftParts[index], rightParts[index]];
    // A folder's glob has fewer parts than the paths in it.
    if (a === undefined || b === undefined || a === "**" || b === "**") return true;
    if (!partsMeet(a, b)) return false;
  }
  return true;
}

const splitGlob = (glob: string): readonly string[] => glob.split("/").filter((part) => part !== "" && part !== ".");
const wild = /[*?[\]{}()!+@|\\]/;

/** Whether one name may match both: plain parts must be the same; of others the plain beginnings and ends are compared. */
function partsMeet(left: string, right: string): boolean {
  if (!wild.test(left) && !wild.test(right)) return left.toLowerCase() === right.toLowerCase(); // a file system may be case-insensitive
  const [leftStart, rightStart] = [startOf(left), startOf(right)];
  const [leftEnd, rightEnd] = [endOf(left), endOf(right)];
  return (
    (leftStart.startsWith(rightStart) || rightStart.startsWith(leftStart)) && (leftEnd.endsWith(rightEnd) || rightEnd.endsWith(leftEnd))
  );
}

const startOf = (part: string): string => (/^[^*?[\]{}()!+@|\\]*/.exec(part)?.[0] ?? "").toLowerCase();
const endOf = (part: string): string => (/[^*?[\]{}()!+@|\\]*$/.exec(part)?.[0] ?? "").toLowerCase();
