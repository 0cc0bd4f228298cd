// trace: command-line spec of `trace`, which shows tool calls, commands and decisions span by span.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import type { Command } from "../spec.ts";

export const trace: Command = {
  name: "trace",
  summary:
    "What agents and the runner did in each phase, span by span: tool calls, commands, decisions.",
  usage: "[RUN] [--phase ID]",
  details: [
    "Spans come from what happened, not from what an agent says. A roadmap keeps them in .planning/phases/<id>/TRACE.jsonl;",
    "those of any other run come from its journal and transcripts. With RUN only what happened while that run worked.",
  ],
  arguments: [{ name: "RUN", about: "a run's id", isOptional: true }],
  flags: [{ name: "phase", kind: "text", placeholder: "ID", about: "Only this phase." }],
  takesRun: true,
  ofTask: "reads",
  run: async (context, input) =>
    (await import("../../../commands/trace.ts")).trace(
      context,
      omitUndefined({ run: input.words[0] ?? input.run, phase: input.text("phase") }),
    ),
};
