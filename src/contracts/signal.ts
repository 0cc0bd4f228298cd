// signal: the type of live events: shown while they happen, never journaled and never folded.

/**
 * A live event: shown as it happens, never journaled, never folded, gone after a crash.
 * A signal is not an event with a flag: it is another type, so the two cannot be confused.
 */
export type LiveEvent =
  | { readonly signal: "said"; readonly attempt: string; readonly text: string }
  | { readonly signal: "thought"; readonly attempt: string; readonly text: string }
  | {
      readonly signal: "tool";
      readonly attempt: string;
      readonly title: string;
      readonly status: string;
      /** Which of the turn's calls it is: a call is reported again whenever its status changes. */
      readonly call?: string;
      /** As the Agent Client Protocol names it: read, edit, execute, … */
      readonly kind?: string;
      /** The first path it names. */
      readonly path?: string;
      /** Its command, or its arguments as JSON. */
      readonly input?: string;
      /** Reported once, when the call ends. */
      readonly output?: string;
    }
  | { readonly signal: "checking"; readonly attempt: string; readonly title: string; readonly command: string }
  /** A check that is still running: for how long, and the last line it printed. */
  | {
      readonly signal: "check_running";
      readonly attempt: string;
      readonly title: string;
      readonly elapsedMs: number;
      readonly line: string;
    }
  | { readonly signal: "usage"; readonly attempt: string; readonly tokens: number };
