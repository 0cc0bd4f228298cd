// io: the interface to the terminal and the process around a command; tests pass in their own.

/**
 * `rest` is Ctrl-C: the command should come to rest. `end` is SIGTERM: nothing may be waited for.
 * `hangup`: the terminal is gone.
 */
export type Interrupt = { readonly kind: "rest" | "end" | "hangup"; readonly code: number };

/** The terminal and the process, as a command sees them. */
export type CommandIo = {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly user: string;
  readonly isTerminal: { readonly in: boolean; readonly out: boolean; readonly err: boolean };
  readonly columns: () => number;
  readonly rows: () => number;
  /** Writes at once and whole; a reader that has gone away isn't an error. */
  readonly write: (to: "out" | "err", text: string) => void;
  /**
   * Why part of the output could not be written (a full disk behind `> file`); null if all of it
   * went out.
   */
  readonly writeFailure: () => string | null;
  /** One line from the person; null at the end of input or when cancelled. */
  readonly readLine: (cancel: AbortSignal) => Promise<string | null>;
  /** Calls back at each interrupt; the returned function ends that. */
  readonly onInterrupt: (callback: (interrupt: Interrupt) => void) => () => void;
  /** Ends the process at once. */
  readonly leave: (code: number) => void;
};
