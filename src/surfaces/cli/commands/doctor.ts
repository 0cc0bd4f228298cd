// doctor: command-line spec of `doctor`, which checks the machine and the project.

import type { Command } from "../spec.ts";

export const doctor: Command = {
  name: "doctor",
  summary: "Look whether this machine and this folder can hold a run, and what to do where not.",
  usage: "",
  details: ["Looks at git, the repository, the agents, the isolation (each with a self-test), the disk and the config. Changes nothing."],
  arguments: [],
  flags: [],
  takesRun: false,
  run: async (place) => (await import("../../../commands/doctor.ts")).doctor(place, {}),
};
