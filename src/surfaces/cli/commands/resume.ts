import { defined } from "../defined.ts";
import { type Command, restsWhenInterrupted } from "../spec.ts";

export const resume: Command = {
  name: "resume",
  summary: "Go on with a paused run, after checking that it may.",
  usage: "[--now] [--adopt-config] [--max-cycles N]",
  details: [
    "Checked first: the journal is intact, nobody else works on it, the isolation holds, budget is left, the branch is as it was left.",
  ],
  arguments: [],
  flags: [
    { name: "now", kind: "flag", about: "Do not wait for the circuit breaker's cooldown." },
    { name: "adopt-config", kind: "flag", about: "Go on with the config as it is now, not as recorded." },
    { name: "max-cycles", kind: "number", min: 1, placeholder: "N", about: "At most N cycles in this invocation.", standard: "20" },
  ],
  takesRun: true,
  onInterrupt: restsWhenInterrupted,
  run: async (place, given) =>
    (await import("../../../host/resume.ts")).resume(place, {
      now: given.flag("now"),
      adoptConfig: given.flag("adopt-config"),
      ...defined({ run: given.run, maxCycles: given.number("max-cycles") }),
    }),
};
