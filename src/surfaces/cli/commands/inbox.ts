import { defined } from "../defined.ts";
import type { Command } from "../spec.ts";

export const inbox: Command = {
  name: "inbox",
  summary: "Every question that waits for a person.",
  usage: "",
  details: ["Each with its answers, the recommended one, and the command that gives it."],
  arguments: [],
  flags: [],
  takesRun: true,
  run: async (place, given) => (await import("../../../commands/inbox-list.ts")).inbox(place, defined({ run: given.run })),
};
