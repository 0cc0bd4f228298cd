// command-set: the type of the commands that a run is judged by. Which files are protected, and
// which parts of files, follows from them.

export type CommandSet = {
  /** The commands of the run's checks. */
  readonly commands: readonly string[];
  /** The same, and what the base's scripts and rules expand them to. */
  readonly usedCommands: readonly string[];
  /**
   * Whether dependencies are restored before checks, so that lock files and install scripts are
   * protected too.
   */
  readonly restores: boolean;
};
