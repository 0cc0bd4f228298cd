// command-set: the types of the commands that decide a run, whose files are protected, and of the
// parts of a file that decide.

/**
 * The parts of a file that decide, by name. Their content is normalised, so that equal texts mean
 * the same.
 */
export type DecidingParts = Readonly<Record<string, string>>;
/** What the checks of a run execute, from which follows which files and parts of files decide. */
export type CommandSet = {
  /** The deciding commands. */
  readonly commands: readonly string[];
  /** The same, and what the base's scripts and rules expand them to. */
  readonly usedCommands: readonly string[];
  /**
   * Whether dependencies are restored before checks, so that lock files and install scripts decide
   * too.
   */
  readonly restores: boolean;
};
