// doctor: command-line spec of `doctor`, which checks the machine and the project.

import type { Command } from "../spec.ts";

export const doctor: Command = {
  name: "doctor",
  summary: "Check this machine and repository.",
  usage: "",
  details: [
    "Looks at git, the repository, the agents, the isolation (each with a self-test), the disk and the config. Changes nothing.",
  ],
  arguments: [],
  flags: [],
  takesRun: false,
  run: async (context) => (await import("../../../commands/doctor.ts")).doctor(context, {}),
};
