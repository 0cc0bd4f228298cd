// next-action: the type of what decide returns: the next action, as data.

import type { Draft, EventOf } from "../contracts/event.ts";
import type { AttemptId } from "../contracts/ids.ts";

/** The next action, as data. The engine carries it out. */
export type NextAction =
  /** Write this event; nothing else happens. */
  | { readonly do: "record"; readonly event: Draft }
  /** Write this intent, then execute the attempt. */
  | {
      readonly do: "attempt";
      readonly event: Omit<EventOf<"step_started">, "actor" | "reason_code">;
    }
  /** Inspect an attempt that a crash left open, and follow the recovery table. */
  | { readonly do: "settle"; readonly attempt: AttemptId }
  /** Cancel a live attempt. */
  | { readonly do: "cancel"; readonly attempt: AttemptId }
  /** Survey the artifacts, once per opening. */
  | { readonly do: "survey" }
  /** Read the phases from the user's documents. */
  | { readonly do: "read"; readonly reader: string }
  /** Actions are under way: wait for one, or for a request. */
  | { readonly do: "wait" }
  /** Nothing more in this invocation. */
  | { readonly do: "rest"; readonly why: string };
