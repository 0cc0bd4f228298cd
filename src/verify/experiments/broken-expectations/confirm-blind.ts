// confirm-blind: makes sure that a check is blind before it is called so: what it missed is noticed
// on the base, and missed again.
// Invariants K1 and on: verify/experiments/canary.ts.

import type { Lab } from "../lab.ts";
import { emptyNewTests } from "./emptied-files.ts";
import { findOnlyFlipLine, type Flip } from "./flip.ts";
import { runFlips } from "./run-flips.ts";

/** How often flips are tried on the base without those that it missed, and how many alone (K3). */
const roundsMax = 3;
const alonesMax = 3;

/**
 * Of the flips that the work's check missed, finds those that it notices on the base, and misses
 * again, together and alone.
 */
export async function confirmBlind(
  lab: Lab,
  flips: readonly Flip[],
): Promise<readonly Flip[] | "late"> {
  if (lab.before === null || flips.length === 0) return [];
  let suspects = await filterSamePlace(lab, flips);
  for (let round = 0; round < roundsMax && suspects.length > 0; round += 1) {
    const base = await runFlips(lab, suspects, { side: "base", before: lab.before });
    if (base === null) return "late";
    if (base.missed.length === 0) {
      const again = await runFlips(lab, suspects, { side: "work", before: lab.now }); // the very same flips on both sides
      if (again === null) return "late";
      return missesAlone(
        lab,
        again.missed.filter((flip) => !again.unloaded.includes(flip)), // what was not broken could not be noticed
      );
    }

    suspects = base.noticed;
  }

  return [];
}

/** Those that certainly break the same place on both sides, though the work changed their file. */
async function filterSamePlace(lab: Lab, flips: readonly Flip[]): Promise<readonly Flip[]> {
  const kept: Flip[] = [];
  for (const flip of flips) {
    const [was, is] = [await lab.textAt("base", flip.path), await lab.textAt("work", flip.path)];
    const isOnce = (text: string): boolean => findOnlyFlipLine(text.split("\n"), flip) !== -1;
    if (was !== null && is !== null && (was === is || (isOnce(was) && isOnce(is)))) kept.push(flip);
  }

  return kept;
}

/** Those that are missed alone, too: two in one test may cancel each other out. */
async function missesAlone(lab: Lab, missed: readonly Flip[]): Promise<readonly Flip[] | "late"> {
  if (missed.length < 2) return missed;
  const alone: Flip[] = [];
  for (const flip of missed.slice(0, alonesMax)) {
    const result = await runFlips(lab, [flip], { side: "work", before: lab.now });
    if (result === null) return "late";
    if (result.missed.length === 1 && result.unloaded.length === 0) alone.push(flip);
  }

  return alone;
}

/**
 * Whether a check misses flips on the base as well, as soon as there are as many test files, with
 * nothing in the new ones: its command does not look at all of them, and nobody is accused.
 */
export async function missesAnyway(lab: Lab, blind: readonly Flip[]): Promise<boolean> {
  const edits = await emptyNewTests(lab);
  if (edits.length === 0 || lab.before === null) return false;
  const base = await runFlips(lab, blind, { side: "base", before: lab.before, edits });
  return base !== null && base.missed.length === blind.length && base.unloaded.length === 0;
}
