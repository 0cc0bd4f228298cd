// noticed: which of the expectations that were broken on purpose a check has reported. Pure.
//
// Invariants:
//   N1. A failing test is the answer to one broken expectation: the nearest one at or below the line that names it.
//   N2. A check that names its failures must name this one. One that names none, and counts none, is judged by its end alone.

import type { TestTally } from "../../contracts/evidence.ts";
import type { Flip } from "./flips.ts";

/** What one run of a check came to. */
export type Observed = {
  readonly passed: boolean;
  readonly failed: ReadonlySet<string>;
  readonly tests: TestTally | null;
};

export type Noticed = {
  readonly noticed: readonly Flip[];
  readonly missed: readonly Flip[];
  /** Tests that fail beside those that were broken and did not before. */
  readonly beside: readonly string[];
};

/** `texts`: the files the flips are in, by path, as they were before. */
export function noticedBy(
  flips: readonly Flip[],
  before: Pick<Observed, "failed" | "tests">,
  now: Observed,
  texts: ReadonlyMap<string, string>,
): Noticed {
  if (now.passed) return { noticed: [], missed: flips, beside: [] };
  const names = [...now.failed].filter((name) => !before.failed.has(name));
  if (names.length === 0) {
    const counted = now.tests === null ? null : now.tests.failed - (before.tests?.failed ?? 0);
    const isEnough = counted === null || (now.tests?.ran === 0 && now.tests.failed === 0) ? before.tests === null : counted >= flips.length;
    return isEnough ? { noticed: flips, missed: [], beside: [] } : { noticed: [], missed: flips, beside: [] }; // N2
  }
  const found = new Set<Flip>();
  const unplaced: string[] = [];
  for (const name of names) {
    const flip = flipNamedBy(name, flips, texts);
    if (flip === "file") continue;
    if (flip === null) unplaced.push(name);
    else found.add(flip);
  }
  // A name that stands in no file was put together while running (a table of cases, say): it answers for one that is still open.
  const open = flips.filter((flip) => !found.has(flip));
  for (const flip of open.slice(0, unplaced.length)) found.add(flip);
  return {
    noticed: flips.filter((flip) => found.has(flip)),
    missed: flips.filter((flip) => !found.has(flip)),
    beside: unplaced.slice(open.length),
  };
}

/** The flip a failing test's name speaks of (N1); `file` where it only names a file or a group that holds one. */
function flipNamedBy(name: string, flips: readonly Flip[], texts: ReadonlyMap<string, string>): Flip | "file" | null {
  if (flips.some(({ path }) => name === path || name.endsWith(`/${path}`) || path.endsWith(`/${name}`))) return "file";
  const leaf = leafOf(name);
  const near: { readonly flip: Flip; readonly distance: number }[] = [];
  for (const [path, text] of texts) {
    const here = flips.filter((flip) => flip.path === path).toSorted((one, other) => one.line - other.line);
    if (here.length === 0 || (namesAnotherFile(name, path) && !name.includes(path))) continue;
    for (const line of linesWith(text, leaf)) {
      const flip = here.find((one) => one.line >= line);
      if (flip !== undefined) near.push({ flip, distance: flip.line - line });
    }
  }
  return near.toSorted((one, other) => one.distance - other.distance)[0]?.flip ?? null;
}

/** The test's own name, without the suites, files and arguments around it. */
function leafOf(name: string): string {
  const leaf = name.split(/ > |::| › /).at(-1) ?? name;
  const method = /^(\w+) \([\w.]+\)/.exec(leaf)?.[1]; // unittest
  const subject = /^\S+ (Test\w+(?:\/.*)?)$/.exec(leaf)?.[1]?.split("/")[0]; // go: package and test
  return (method ?? subject ?? leaf).replace(/\[.*\]$/, "").trim();
}

const namesAnotherFile = (name: string, path: string): boolean =>
  /[\w./-]+\.(?:[cm]?[jt]sx?|py|rb|php)\b/.test(name) && !name.includes(path.split("/").at(-1) ?? path);

function linesWith(text: string, leaf: string): readonly number[] {
  if (leaf === "") return [];
  const isWord = /^\w+$/.test(leaf);
  return text.split("\n").flatMap((line, at) => {
    const index = line.indexOf(leaf);
    if (index === -1) return [];
    const isApart = !isWord || (!/\w/.test(line[index - 1] ?? "") && !/\w/.test(line[index + leaf.length] ?? ""));
    return isApart ? [at + 1] : [];
  });
}
