import type { Command } from "../spec.ts";

export const validate: Command = {
  name: "validate",
  summary: "Say what is wrong with files: config, flow, script, journal, roadmap, plan; file, line and rule.",
  usage: "PATH…",
  details: ["Recognises the format by itself and lists every violation, not only the first."],
  arguments: [{ name: "PATH", about: "a file or folder", many: true }],
  flags: [],
  takesRun: false,
  run: async (place, given) => (await import("../../../host/validate.ts")).validate(place, { paths: [...given.words] }),
};
