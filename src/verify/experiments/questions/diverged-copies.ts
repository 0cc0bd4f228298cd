// diverged-copies: finds files that were the same as another before the work, and are not now: a fix
// in a copy that `npm run vendor` overwrites, or in one app's copy of a module and not in the other's.
//
// Invariants:
//   C1. Only programs of some length count: many small files are alike by chance.
//   C2. Files with a name in common are read first, then those in folders for copies; others only
//       while there are few.

import { listSome } from "../../../kit/list-some.ts";
import { isProgramText } from "../../protected/kinds.ts";
import { type QuestionContext, readSources } from "./question-context.ts";

const charsMin = 200;
const readMax = 200;
/** Folders for copies: a list; other files come after them. */
const forCopies =
  /(?:^|\/)(?:vendor(?:ed)?|third[_-]party|generated|gen|dist|copies|mirror|shared)\//i;

export async function findDivergedCopies(context: QuestionContext): Promise<string | null> {
  const { lab } = context;
  const changed = (await readSources(context)).filter(
    ({ was }) => was !== null && was.length >= charsMin, // C1
  );
  if (changed.length === 0) return null;
  const copiesOf = new Map(changed.map(({ was }) => [was, new Set<string>()]));
  for (const { path, was } of changed) copiesOf.get(was)?.add(path);
  const changedPaths = changed.map(({ path }) => path);
  const paths = (await lab.pathsAt("base")).filter(isProgramText);

  for (const other of listCandidates(changedPaths, paths)) {
    copiesOf.get(await lab.textAt("base", other))?.add(other);
  }

  const diverged: string[] = [];
  for (const copies of copiesOf.values()) {
    const texts = await Promise.all([...copies].map((path) => lab.textAt("work", path)));
    const left = texts.filter((text) => text !== null); // one that is gone is no copy any more
    if (new Set(left).size > 1) diverged.push(listSome([...copies]));
  }

  return diverged.length === 0
    ? null
    : `${diverged.join("; ")} were the same before the work, and differ now`;
}

/** C2 */
function listCandidates(changed: readonly string[], paths: readonly string[]): readonly string[] {
  const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
  const endingOf = (path: string): string => path.slice(path.lastIndexOf("."));
  const [names, endings] = [new Set(changed.map(nameOf)), new Set(changed.map(endingOf))];
  const isOfCopy = changed.some((path) => forCopies.test(path));
  const rank = (other: string): number => {
    if (names.has(nameOf(other))) return 0;
    return isOfCopy || forCopies.test(other) ? 1 : 2;
  };

  return paths
    .filter((path) => endings.has(endingOf(path)) && !changed.includes(path))
    .toSorted((one, other) => rank(one) - rank(other))
    .slice(0, readMax);
}
