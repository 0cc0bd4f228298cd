// status-command: the help and flags of `status`, kept apart from its code so that the fast path loads little.

import type { Command } from "../spec.ts";

/** `status` without its doing: it has two entries, and the quick one must not load what only the other needs. */
export const statusCommand: Omit<Command, "run"> = {
  name: "status",
  summary: "Where the run is, and what it needs.",
  usage: "",
  details: [
    "Reads only the journal: it never waits for a run that works and never changes anything.",
    "Where there is no run it says what lies here to be taken up: a roadmap, another tool's run.",
  ],
  arguments: [],
  flags: [],
  takesRun: true,
  readsRun: true,
};
