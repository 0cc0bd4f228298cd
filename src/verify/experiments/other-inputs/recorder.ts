// recorder: the type of a recorder, which changes source files so that their functions record their
// answers, and its limits.

import type { Edit } from "../lab.ts";
import type { TestFile } from "../without-runner/plain-program.ts";

export type RecorderInput = {
  /** The files with the functions. */
  readonly files: readonly TestFile[];
  /** Which functions are meant, by name. */
  readonly isWanted: (name: string) => boolean;
  /** Texts that tests write out, each with others near it. */
  readonly near: ReadonlyMap<string, readonly string[]>;
  /** A word that is in no file, and the variable with the path of the record. */
  readonly uniqueName: string;
};
/**
 * So many calls of one function are recorded (in Rust: of one thread; in Java their number is not
 * limited); later ones are only passed on.
 */
export const callsMax = 200;
/** In C and Java so many different inputs are recorded, of all functions of a file together. */
export const inputsMax = 400;

/**
 * Only functions whose parameters are all plain values are recorded: an object could carry the
 * answer.
 */
export type Recorder = (input: RecorderInput) => {
  readonly edits: readonly Edit[];
  readonly functions: readonly string[];
};
