// flow-show: command-line spec of `flow show`, which shows a flow's phases, steps, roles and
// options.

import { omitUndefined } from "../../../../kit/omit-undefined.ts";
import type { Command } from "../../spec.ts";

export const flowShow: Command = {
  name: "flow show",
  summary: "One flow: its phases, steps, roles, limits and options.",
  usage: "NAME",
  details: ["The options are given with `autopilot go --flow NAME --option name=value`."],
  arguments: [{ name: "NAME", about: "the flow's name", names: "flows" }],
  flags: [],
  takesRun: false,
  run: async (context, input) =>
    (await import("../../../../commands/flows.ts")).showFlow(
      context,
      omitUndefined({ name: input.words[0] }),
    ),
};
