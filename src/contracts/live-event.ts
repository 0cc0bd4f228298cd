// live-event: the type of live events, which are shown as they happen, are never journaled, and are
// gone after a crash. It is a type of its own, so that a live event cannot be confused with an
// event of the journal.

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
  | {
      readonly signal: "checking";
      readonly attempt: string;
      readonly title: string;
      readonly command: string;
    }
  /** A check that is still running: for how long, and the last line it printed. */
  | {
      readonly signal: "check_running";
      readonly attempt: string;
      readonly title: string;
      readonly elapsedMs: number;
      readonly line: string;
    }
  | { readonly signal: "usage"; readonly attempt: string; readonly tokens: number };
