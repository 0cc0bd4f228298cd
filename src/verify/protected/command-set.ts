// command-set: the commands that decide a run, whose files are protected, and the deciding parts of a file.

/** Named parts and their content, normalised so that equal means equal. */
export type Deciding = Readonly<Record<string, string>>;
/** The checks of a run, as far as they determine protected files. */
export type CommandSet = {
  /** The deciding commands. */
  readonly commands: readonly string[];
  /** The same, and what the base's scripts and rules expand them to. */
  readonly usedCommands: readonly string[];
  /** Whether dependencies are restored before checks, so that lock files and install scripts decide too. */
  readonly restores: boolean;
};
