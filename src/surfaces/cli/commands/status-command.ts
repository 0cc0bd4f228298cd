// status-command: command-line spec of `status` without the code that it runs, so that the fast
// entry (status-entry.ts) can read a command line and load nothing else.

import type { Command } from "../spec.ts";

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
