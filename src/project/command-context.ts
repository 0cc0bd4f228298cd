// command-context: the context a command runs in: folder, environment, user, terminal and interruption.

/** Why a place is interrupted where nothing may be waited for, not even the end of a turn. */
export const atOnce = "at once";

/** Where a command was given, and how to speak to whoever gave it. */
export type CommandContext = {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly user: string;
  /** The program that gave the command where no person did; it acts as `agent:<name>`. Set by the channel, never from what was asked. */
  readonly agent?: string;
  readonly isTerminal: boolean;
  /** Progress for people, never part of the answer. */
  readonly show: (line: string) => void;
  /** A line that replaces the one before it, if there is a terminal. */
  readonly live: (line: string) => void;
  /** Lines that replace those before them, below what is shown, if there is a terminal; how many there is room for. */
  readonly board?: { readonly rows: () => number; readonly draw: (lines: readonly string[]) => void };
  /** Asks a person; null if nobody can be asked, or where the question was withdrawn. */
  readonly ask: (question: string, choices: readonly string[], withdrawn?: AbortSignal) => Promise<string | null>;
  /** Aborted when the person at the terminal interrupts, or the system asks the process to end; then its reason is `atOnce`. */
  readonly interrupted: AbortSignal;
  /** Whoever gave the command tells people of what comes of it: runs tell nobody themselves. */
  readonly isTold?: boolean;
  /** Aborted when they interrupt once more: what a run does now is not waited for either. */
  readonly hurried?: AbortSignal;
  /** What the pause of an interrupted run says, where it isn't a person's. */
  readonly pauseDetail?: string;
};

/** Who acts, as the journal writes it down. */
export const actorOf = ({ user, agent }: Pick<CommandContext, "user" | "agent">): string =>
  agent === undefined ? `operator:${user}` : `agent:${agent}`;
