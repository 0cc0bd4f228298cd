// command-context: the context a command runs in: folder, environment, user, terminal and
// interruption.

/**
 * The reason with which `interrupted` is aborted if the command may wait for nothing, not even the
 * end of a turn.
 */
export const stopAtOnce = "at once";

/** Where a command was given, and how to talk to the person who gave it. */
export type CommandContext = {
  /** The folder that the command works in. */
  readonly cwd: string;
  /**
   * The folder the command was given in, if `cwd` is another: paths that a person names are
   * relative to it.
   */
  readonly callerFolder?: string;
  /** The environment; a sandboxed process gets parts of it only. */
  readonly env: NodeJS.ProcessEnv;
  /** The name of the person at this machine, for the journal. */
  readonly user: string;
  /**
   * The program that gave the command if no person did; it acts as `agent:<name>`. Set by the
   * channel, never by the request.
   */
  readonly agent?: string;
  /** Whether a person can be asked and shown a live line. */
  readonly isTerminal: boolean;
  /** Progress for people, never part of the response. */
  readonly show: (line: string) => void;
  /** A line that replaces the one before it, on a terminal. */
  readonly showLive: (line: string) => void;
  /** Lines that replace those before them, at the bottom of a terminal; `rowsMax`: how many fit. */
  readonly board?: {
    readonly rowsMax: () => number;
    readonly draw: (lines: readonly string[]) => void;
  };
  /** Asks a person; null if there is no terminal, or the question was withdrawn. */
  readonly ask: (
    question: string,
    choices: readonly string[],
    withdrawn?: AbortSignal,
  ) => Promise<string | null>;
  /**
   * Aborted when the person at the terminal interrupts. When the system ends the process, the abort
   * reason is `stopAtOnce`.
   */
  readonly interrupted: AbortSignal;
  /** The caller notifies people of the results: runs send no notices themselves. */
  readonly callerNotifies?: boolean;
  /** Aborted at a second interrupt: the run's current action is not waited for either. */
  readonly interruptedAgain?: AbortSignal;
  /** The reason for the pause of an interrupted run, if it isn't a person's. */
  readonly pauseDetail?: string;
};

/** The actor, as the journal records it. */
export const toActor = ({ user, agent }: Pick<CommandContext, "user" | "agent">): string =>
  agent === undefined ? `operator:${user}` : `agent:${agent}`;
