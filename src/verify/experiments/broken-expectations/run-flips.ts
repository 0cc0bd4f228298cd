// run-flips: runs a check with expectations made wrong, and finds out which it noticed.
// Invariants K1 and on: verify/experiments/canary.ts.

import { createPlacebos } from "../equivalent-tests/equivalent-tests.ts";
import type { Edit, Lab, Side } from "../lab.ts";
import { applyFlips, type Flip } from "./flip.ts";
import { findNoticedFlips, type FlipOutcome, type Observed } from "./noticed-flips.ts";

export type FlipRun = {
  readonly side: Side;
  /** The check's result without the flips. */
  readonly before: Observed;
  /** Files that only get a blank line (K4). */
  readonly placebos?: readonly string[];
  /** What is changed besides. */
  readonly edits?: readonly Edit[];
};

/**
 * Runs the check with these flips; null if it took too long. A flip that does not fit the file
 * counts as missed and unread.
 */
export async function runFlips(
  lab: Lab,
  flips: readonly Flip[],
  { side, before, placebos = [], edits: others = [] }: FlipRun,
): Promise<FlipOutcome | null> {
  const texts = new Map<string, string>();
  const edits: Edit[] = [...others];
  const unusable = new Set<Flip>();

  for (const path of new Set(flips.map((flip) => flip.path))) {
    const fileFlips = flips.filter((flip) => flip.path === path);
    const text = (await lab.textAt(side, path)) ?? "";
    const fitting: Flip[] = [];
    for (const flip of fileFlips) {
      if (applyFlips(text, [...fitting, flip]) === null) unusable.add(flip);
      else fitting.push(flip);
    }

    if (fitting.length === 0) continue;
    texts.set(path, text);
    edits.push({ path, text: applyFlips(text, fitting) ?? text });
  }

  const usable = flips.filter((flip) => !unusable.has(flip));
  if (usable.length === 0) {
    return { noticed: [], missed: flips, otherFailures: [], unloaded: flips };
  }

  const unflipped = placebos.filter((path) => !texts.has(path));
  const observed = await lab.run(side, [...edits, ...(await createPlacebos(lab, side, unflipped))]);
  if (observed === null) return null;
  const result = findNoticedFlips(usable, before, observed, texts);

  return {
    ...result,
    missed: [...result.missed, ...unusable],
    unloaded: [...result.unloaded, ...unusable],
  };
}
