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
const readMax = 100;
const forCopies =
  /(?:^|\/)(?:vendor(?:ed)?|third[_-]party|generated|gen|dist|copies|mirror|shared)\//i;

export async function findDivergedCopies(context: QuestionContext): Promise<string | null> {
  const { lab } = context;
  const changed = (await readSources(context)).filter(
    ({ was }) => was !== null && was.length >= charsMin, // C1
  );
  if (changed.length === 0) return null;
  const paths = (await lab.pathsAt("base")).filter(isProgramText);
  const groups = new Map<string, ReadonlySet<string>>();

  for (const { path, was } of changed) {
    if (was === null || groups.has(was)) continue;
    const copies = new Set([path]);
    for (const other of listCandidates(path, paths)) {
      if ((await lab.textAt("base", other)) === was) copies.add(other);
    }
    groups.set(was, copies);
  }

  const diverged: string[] = [];
  for (const copies of groups.values()) {
    const texts = await Promise.all([...copies].map((path) => lab.textAt("work", path)));
    const left = texts.filter((text) => text !== null); // one that is gone is no copy any more
    if (new Set(left).size > 1) diverged.push(listSome([...copies]));
  }

  return diverged.length === 0
    ? null
    : `${diverged.join("; ")} were the same before the work, and differ now`;
}

/** C2 */
function listCandidates(path: string, paths: readonly string[]): readonly string[] {
  const nameOf = (one: string): string => one.slice(one.lastIndexOf("/") + 1);
  const ending = path.slice(path.lastIndexOf("."));
  const others = paths.filter((other) => other !== path && other.endsWith(ending));
  const rank = (other: string): number =>
    nameOf(other) === nameOf(path) ? 0 : forCopies.test(other) || forCopies.test(path) ? 1 : 2;

  return others.toSorted((one, other) => rank(one) - rank(other)).slice(0, readMax);
}
