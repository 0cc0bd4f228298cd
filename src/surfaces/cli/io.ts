/** The terminal and the process around a command, as `main` needs them; tests hand in their own. */
export type Io = {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly user: string;
  readonly isTerminal: { readonly in: boolean; readonly out: boolean; readonly err: boolean };
  readonly columns: () => number;
  readonly rows: () => number;
  /** Writes at once and whole; a reader that has gone away is no error. */
  readonly write: (to: "out" | "err", text: string) => void;
  /** One line from the person; null at the end of input or when called off. */
  readonly readLine: (cancel: AbortSignal) => Promise<string | null>;
  /** Calls back at each interrupt; the returned function ends that. */
  readonly onInterrupt: (callback: (code: number) => void) => () => void;
  /** Ends the process at once. */
  readonly leave: (code: number) => void;
};
