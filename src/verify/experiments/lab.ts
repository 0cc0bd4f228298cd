// lab: what an experiment on a check can use: runs of the check with changed files, texts of files,
// earlier results; and how it reports its own result.

import type { Experiment } from "../../contracts/evidence.ts";
import type { Observed } from "./broken-expectations/noticed-flips.ts";

/** `work`: what is judged. `base`: before the work began. */
export type Side = "work" | "base";
export type Edit = { readonly path: string; readonly text: string };

/** A program of the work that makes data which checks ask for (made-data.ts). */
export type MadeData = {
  readonly program: string;
  /** Changed files that the program writes as they were committed. */
  readonly paths: readonly string[];
};

/** How many changed or judging files one experiment reads at most. */
export const filesReadMax = 60;

export type Lab = {
  /**
   * Runs the check in a fresh checkout with these files replaced and those deleted; null if it was
   * cancelled or took too long.
   */
  readonly run: (
    side: Side,
    edits: readonly Edit[],
    gone?: readonly string[],
    command?: string,
  ) => Promise<Observed | null>;
  /**
   * Runs the work with edits that change no meaning: it must pass, so it counts as a repetition.
   * `countsFailure`: also if it fails.
   */
  readonly repeat: (edits: readonly Edit[], countsFailure?: boolean) => Promise<Observed | null>;
  /** The text of a file as it is judged on this side; null if there is none, or it is no text. */
  readonly textAt: (side: Side, path: string) => Promise<string | null>;
  readonly pathsAt: (side: Side) => Promise<readonly string[]>;
  /** The command, and what the base's scripts and rules expand it to. */
  readonly commands: readonly string[];
  /** Paths that the work added or changed. */
  readonly changedPaths: readonly string[];
  /**
   * The result of the check before the work began; null if too little is known of it to compare
   * with.
   */
  readonly before: Observed | null;
  /** Whether the check failed before the work began. */
  readonly wasRed: boolean;
  /** The result of the check now. */
  readonly now: Observed;
  /** A program of the work that makes data which checks ask for; null if there is none. */
  readonly made?: MadeData | null;
  /**
   * What random choices are drawn from. It holds the name of the commit, which the code in that
   * commit cannot predict.
   */
  readonly seed: string;
};

export const reportNoticed = (detail: string): Experiment => ({ outcome: "noticed", detail });
export const reportUnknown = (detail: string): Experiment => ({ outcome: "unknown", detail });
export const lateResult = reportUnknown("it took longer than an experiment may");
export const reportMissed = (detail: string): Experiment => ({ outcome: "missed", detail });
