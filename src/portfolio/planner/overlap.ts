// overlap: whether two tasks may change the same file, by the globs they name. In doubt they may.

import { parseScope } from "../../runner/draft/objective-scope.ts";

/** `touches` empty: it may change anything. */
export function mayOverlap(left: readonly string[], right: readonly string[]): boolean {
  const others = includedIn(right);
  return includedIn(left).some((one) => others.some((other) => globsMeet(one, other)));
}

/** Each list is read once: a plan compares many. */
const includedGlobs = new WeakMap<readonly string[], readonly string[]>();

/** What a list lets a task change, read as its run reads it. What is excluded only makes that less. */
function includedIn(touches: readonly string[]): readonly string[] {
  const known = includedGlobs.get(touches);
  if (known !== undefined) return known;
  const read = parseScope(touches);
  const globs = touches.length === 0 || "fault" in read ? ["**"] : read.scope.filter((glob) => !glob.startsWith("!"));
  includedGlobs.set(touches, globs);
  return globs;
}

/** Alternatives that have a folder in them: what stands at a place is unknown. */
const hasSplitAlternatives = /[{(][^})]*\//;

/** Compared from the front, part by part: only plain parts that differ keep two globs apart. */
function globsMeet(left: string, right: string): boolean {
  if (hasSplitAlternatives.test(left) || hasSplitAlternatives.test(right)) return true;
  const [a, b] = [partsOf(left), partsOf(right)];
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const [one, other] = [a[at], b[at]];
    // A folder's glob ends earlier than what is in it.
    if (one === undefined || other === undefined || one === "**" || other === "**") return true;
    if (!partsMeet(one, other)) return false;
  }
  return true;
}

const partsOf = (glob: string): readonly string[] => glob.split("/").filter((part) => part !== "" && part !== ".");
const wild = /[*?[\]{}()!+@|\\]/;

/** Two parts of one place: plain ones must be the same; of others the plain beginnings and ends are compared. */
function partsMeet(one: string, other: string): boolean {
  const [isWild, isOtherWild] = [wild.test(one), wild.test(other)];
  if (!isWild && !isOtherWild) return one.toLowerCase() === other.toLowerCase(); // a file system may be case-insensitive
  return endsMeet(startOf(one), startOf(other), false) && endsMeet(endOf(one), endOf(other), true);
}

const startOf = (part: string): string => (/^[^*?[\]{}()!+@|\\]*/.exec(part)?.[0] ?? "").toLowerCase();
const endOf = (part: string): string => (/[^*?[\]{}()!+@|\\]*$/.exec(part)?.[0] ?? "").toLowerCase();

function endsMeet(one: string, other: string, isAtEnd: boolean): boolean {
  const length = Math.min(one.length, other.length);
  const cut = (text: string): string => (isAtEnd ? text.slice(text.length - length) : text.slice(0, length));
  return cut(one) === cut(other);
}
