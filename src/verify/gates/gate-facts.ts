// gate-facts: the types of the facts that artifact gates are judged by, and of those still to be
// found out.

import type { ProofFailure } from "../../ports/verifier.ts";
import type { Matches } from "./pattern.ts";
import type { Entry, Text } from "./tree-facts.ts";

/** What artifact rules are judged by. */
export type GateFacts = {
  readonly files: ReadonlyMap<string, Entry>;
  /** False: the tree was too large to list, so absence cannot be concluded. */
  readonly isWhole: boolean;
  readonly read: (path: string) => Text | null;
  /** Searches a text for a pattern, within a time limit. */
  readonly match: (pattern: string, text: string, matchesMax: number) => Matches;
  /** The paths this visit changed. */
  readonly changed: ReadonlySet<string>;
  /**
   * Whether `path` was last changed in a later commit than `than`; null: history does not show it;
   * undefined: not looked up yet.
   */
  readonly isNewer: (path: string, than: string) => boolean | null | undefined;
  /** How a command ended; undefined: it has not been run yet. */
  readonly commandResult: (
    command: string,
  ) => { readonly hasPassed: boolean; readonly ending: string } | undefined;
};

export type FilePair = readonly [path: string, than: string];

/**
 * What must be looked up before a judgement is final: commands to run, pairs of files whose order
 * history shows.
 */
export type MissingFacts = {
  readonly commands: readonly string[];
  readonly undecidedPairs: readonly FilePair[];
};

/**
 * A failure as the judge sees it. `isUnsure`: the rule could not be judged at all (a pattern that
 * timed out, a file beyond the bound). A gate fails either way, but a condition that cannot be
 * judged must not quietly choose a branch.
 */
export type GateFinding = ProofFailure & { readonly isUnsure: boolean };
