// named: the commands whose files are protected from the agent's changes, as types.

/** Named parts and what they say, written so that equal means equal. */
export type Deciding = Readonly<Record<string, string>>;
/** What the checks of a run are, as far as files are judged by it. */
export type Named = {
  /** The commands that decide. */
  readonly commands: readonly string[];
  /** The same, and what the base's scripts and rules make of them. */
  readonly used: readonly string[];
  /** Whether dependencies are restored before checks, so that lock files and install scripts decide too. */
  readonly restores: boolean;
};
