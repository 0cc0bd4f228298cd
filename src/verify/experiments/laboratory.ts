// laboratory: what an experiment on a check needs of the world around it, and the words for what came of it.

import type { Experiment } from "../../contracts/evidence.ts";
import type { Observed } from "./noticed.ts";

/** `work`: what is judged, as it is judged. `base`: before the work began. */
export type Side = "work" | "base";
export type Edit = { readonly path: string; readonly text: string };

/** What an experiment needs of the world around it. */
export type Laboratory = {
  /** Runs the check in a fresh checkout with these files in the place of its own, and those gone; null if it was cancelled or took too long. */
  readonly run: (side: Side, edits: readonly Edit[], gone?: readonly string[], command?: string) => Promise<Observed | null>;
  /**
   * The same for the work with nothing changed that means anything: it must pass, so it counts as a repetition too. `isSure`: also if it
   * fails.
   */
  readonly again: (edits: readonly Edit[], isSure?: boolean) => Promise<Observed | null>;
  readonly textAt: (side: Side, path: string) => Promise<string | null>;
  readonly pathsAt: (side: Side) => Promise<readonly string[]>;
  /** The command, and what the base's scripts and rules make of it. */
  readonly used: readonly string[];
  /** Paths the work changed. */
  readonly changed: readonly string[];
  /** The result of the check before the work began; null if nobody knows enough of it to compare with. */
  readonly before: Observed | null;
  /** Whether it failed then. */
  readonly wasRed: boolean;
  /** Its result now. */
  readonly now: Observed;
  /** What nobody who is judged can foresee. */
  readonly seed: string;
};

export const noticed = (detail: string): Experiment => ({ outcome: "noticed", detail });
export const unknown = (detail: string): Experiment => ({ outcome: "unknown", detail });
export const late = unknown("it took longer than an experiment may");
export const blindReported = (detail: string): Experiment => ({ outcome: "missed", detail });
