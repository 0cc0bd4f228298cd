// foreign-equality: asks whether Rust tests pass if numbers compare only with numbers: the code
// under test can return a type that is equal to whatever it likes.
//
// Invariants:
//   O1. Types are compared only if the work added an equality between two of them.

import { findAssertions } from "../broken-expectations/assertion-flips.ts";
import {
  type QuestionContext,
  readChanged,
  type RaisedQuestion,
  readJudgingFiles,
  editTexts,
} from "./question-context.ts";

/**
 * Asks whether Rust tests pass if numbers compare only with numbers, in case the work adds an
 * equality to a type.
 */
export async function askNumberTypes(context: QuestionContext): Promise<RaisedQuestion | null> {
  const changed = await readChanged(context, (path) => path.endsWith(".rs"));
  const addsTypeEquality = changed.some(({ was, is }) => addsEquality(was, is));
  const edits = addsTypeEquality
    ? editTexts(await readJudgingFiles(context, /\.rs$/), requireNumberTypes)
    : [];
  const paths = edits.map(({ path }) => path);

  return edits.length === 0
    ? null
    : {
        whether: `${paths.join(", ")} compares numbers with numbers`,
        change: { edits },
        gap: describeNumberTypes(paths),
      };
}

/** How many equalities with another type a Rust source defines: `impl PartialEq<i32> for Money`. */
const countEqualities = (text: string): number =>
  [...text.matchAll(/\bPartialEq\s*<(?!\s*Self\s*>)/g)].length;

/** Whether the work added one (O1). */
export const addsEquality = (was: string | null, is: string): boolean =>
  countEqualities(is) > countEqualities(was ?? "");

/** A Rust test in which a number equals only a number of its own type; null if it compares none. */
export function requireNumberTypes(path: string, text: string): string | null {
  if (!path.endsWith(".rs")) return null;
  const numbers = findAssertions(path, text, "n").flatMap(({ values: [expected, actual] = [] }) => {
    if (expected === undefined || actual === undefined) return [];
    const value = text.slice(expected.from, expected.to);
    return /^-?\d[\d_]*(?:\.\d+)?$/.test(value) ? [{ ...actual, value }] : [];
  });

  let changed = text;
  for (const { from, to, value } of numbers.toSorted((left, right) => right.from - left.from)) {
    const typed = `{ let [got, _] = [${changed.slice(from, to)}, ${value}]; got }`;
    changed = changed.slice(0, from) + typed + changed.slice(to);
  }

  return changed === text ? null : changed;
}

export const describeNumberTypes = (paths: readonly string[]): string =>
  `its tests (${paths.join(", ")}) compare numbers with answers of another type, by an equality that the work brought, so a person has to look at that`;
