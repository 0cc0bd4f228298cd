// build-switch: the types of a source that is switched to another build (build-conditions.ts).
// Pure.

import type { TextChange } from "../source-text/apply-changes.ts";

/** What is on in every build of the project, so that it stays on (build-conditions.ts). */
export type BuildFacts = {
  /** A feature of a Cargo package. */
  readonly isFeatureOn: (feature: string) => boolean;
  /** A macro of a C build. */
  readonly isMacroOn: (name: string) => boolean;
  /** A macro that is defined only in other builds than the check's. */
  readonly isMacroOfOthers: (name: string) => boolean;
  /** A name of C that is known to more than tests. */
  readonly isLinked: (name: string) => boolean;
};

export type BuildSource = BuildFacts & {
  readonly text: string;
  /** The text without comments and strings, with the same positions. */
  readonly code: string;
  /** Whether the work wrote one of the lines between two positions. */
  readonly isNew: (from: number, to: number) => boolean;
  /** Code that only tests may need stays on. */
  readonly isGentle: boolean;
};

/** `prefix`: lines before the text. `off`: what is off, as a person reads it. */
export type SwitchedBuild = {
  readonly changes: readonly TextChange[];
  readonly prefix?: string;
  readonly off: readonly string[];
};
