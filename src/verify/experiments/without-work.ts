// without-work: whether a check's pass depends on the work. The work's source is taken out, its new tests are left in, and the check is
// run once more. Pure, except for the run it asks for.

import type { Experiment } from "../../contracts/evidence.ts";
import type { Difference } from "../../ports/workspace.ts";
import { rowOf } from "../protected/kinds.ts";

/** What is put back to take the work out: paths as they were, and paths that were not there. */
export type TakenOut = { readonly paths: readonly string[]; readonly without: readonly string[] };

/** What of a change is neither a test nor what tests are run with; null if taking it out would tell nothing that the base does not. */
export function workIn(differences: readonly Difference[]): TakenOut | null {
  const isOfTests = ({ path }: Difference): boolean => rowOf(path) !== null && rowOf(path)?.part !== "rust_source";
  const source = differences.filter((one) => !isOfTests(one));
  if (source.length === 0 || !differences.some((one) => one.kind !== "deleted" && isTest(one.path))) return null;
  return {
    paths: source.filter(({ kind }) => kind !== "added").map(({ path }) => path),
    without: source.filter(({ kind }) => kind === "added").map(({ path }) => path),
  };
}

const isTest = (path: string): boolean => {
  const row = rowOf(path);
  return (row?.kind === "test" || row?.kind === "snapshot") && row.part === undefined;
};

export const withoutWork = (passed: boolean): Experiment =>
  passed
    ? { outcome: "missed", detail: "it passes as well with the work taken out and only its new tests left in" }
    : { outcome: "noticed", detail: "it fails with the work taken out" };

/** Where it fails as soon as the work's functions answer something else, it fails without them too. */
export const answersMatter = (words: string): Experiment => ({
  outcome: "noticed",
  detail: `it fails when ${words} answers something else`,
});
