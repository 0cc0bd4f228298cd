// without-work: an experiment takes the agent's changes out, except for its tests, and runs the
// check again: a check that still passes does not depend on the work. Here: which files are put
// back and which removed, and the words of the result.

import type { Experiment } from "../../contracts/evidence.ts";
import type { Difference } from "../../ports/workspace.ts";
import { findProtectionRow } from "../protected/kinds.ts";
import { keyOfCode } from "../protected/same-code.ts";
import type { Lab } from "./lab.ts";
import { findTestCases } from "./source-text/test-cases.ts";

/** What is restored to remove the work: paths as they were, and paths that did not exist. */
export type RemovedWork = {
  readonly paths: readonly string[];
  readonly without: readonly string[];
};

/**
 * The part of a change that is neither a test nor test setup; null if removing it would show
 * nothing that the base does not.
 */
export function findWork(differences: readonly Difference[]): RemovedWork | null {
  const isTestOrSetup = ({ path }: Difference): boolean =>
    findProtectionRow(path) !== null && findProtectionRow(path)?.part !== "rust_source";
  const source = differences.filter((difference) => !isTestOrSetup(difference));
  if (source.length === 0) return null;

  return {
    paths: source.filter(({ kind }) => kind !== "added").map(({ path }) => path),
    without: source.filter(({ kind }) => kind === "added").map(({ path }) => path),
  };
}

/** Whether the work added anything to tests; to take some out is no proof of its own. */
export async function addsToTests(
  differences: readonly Difference[],
  textAt: Lab["textAt"],
): Promise<boolean> {
  const tests = differences.filter(
    ({ kind, path }) => kind !== "deleted" && isTestOrSnapshot(path),
  );
  for (const { path } of tests) {
    const [was, is] = [await textAt("base", path), await textAt("work", path)];
    const earlier = new Set(
      findTestCases(path, was ?? "").map(({ text }) => keyOfCode(path, text)),
    );
    const cases = findTestCases(path, is ?? "");
    const earlierLines = new Set((was ?? "").split("\n"));
    const hasMore =
      cases.length === 0
        ? (is ?? "\0").split("\n").some((line) => !earlierLines.has(line))
        : cases.some(({ text }) => !earlier.has(keyOfCode(path, text)));
    if (hasMore) return true;
  }

  return false;
}

const isTestOrSnapshot = (path: string): boolean => {
  const row = findProtectionRow(path);
  return (row?.kind === "test" || row?.kind === "snapshot") && row.part === undefined;
};

/** What the run without the work shows: a check that still passes missed it. */
export const reportWithoutWork = (passed: boolean): Experiment =>
  passed
    ? {
        outcome: "missed",
        detail: "it passes as well with the work taken out and only its new tests left in",
      }
    : { outcome: "noticed", detail: "it fails with the work taken out" };

/**
 * If it fails as soon as the work's functions return something else, it also fails without them.
 */
export const reportMutation = (text: string): Experiment => ({
  outcome: "noticed",
  detail: `it fails when ${text} answers something else`,
});
