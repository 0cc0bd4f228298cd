// ack: command-line spec of `ack`, which acknowledges a preview so that `go` may run it.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import type { Command } from "../spec.ts";

export const ack: Command = {
  name: "ack",
  summary: "Confirm a preview, so that `go` may execute it.",
  usage: "ID",
  details: ["The preview ends with its ID. A unique prefix is enough."],
  arguments: [{ name: "ID", about: "the preview's id" }],
  flags: [],
  takesRun: true,
  run: async (context, input) =>
    (await import("../../../commands/ack.ts")).ack(context, {
      id: input.words[0] ?? "",
      ...omitUndefined({ run: input.run }),
    }),
};
