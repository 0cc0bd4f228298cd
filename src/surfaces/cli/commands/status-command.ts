// status-command: the help and flags of `status`, kept apart from its code so that the fast path
// loads little.

import type { Command } from "../spec.ts";

/**
 * `status` without its code. `status` starts from two files, and the fast one must not load what
 * only the other needs.
 */
export const statusCommand: Omit<Command, "run"> = {
  name: "status",
  summary: "Where the run is, and what it needs.",
  usage: "",
  details: [
    "Reads the journal only. Never waits for a running run, never changes anything.",
    "Without a run it says what you could start here: a roadmap, another tool's run.",
  ],
  arguments: [],
  flags: [],
  takesRun: true,
  ofTask: "reads",
};
