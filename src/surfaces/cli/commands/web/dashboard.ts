// dashboard: command-line spec of `dashboard`, which shows everything here in a browser on this
// machine.

import { dashboardPortDefault } from "../../../../contracts/config-defaults.ts";
import { omitUndefined } from "../../../../kit/omit-undefined.ts";
import type { Command } from "../../spec.ts";

export const dashboard: Command = {
  name: "dashboard",
  summary: "See runs, answer questions and look at diffs in a browser.",
  usage: "[--port N] [--open]",
  details: [
    `Listens on 127.0.0.1 only; the link holds a token that ends with the server. From elsewhere, use an SSH tunnel: ssh -L ${dashboardPortDefault}:127.0.0.1:${dashboardPortDefault} HOST.`,
    "While a run works at isolation none or clone, the page is read-only until you type the code shown here.",
  ],
  arguments: [],
  flags: [
    {
      name: "port",
      kind: "number",
      placeholder: "N",
      min: 1,
      max: 65_535,
      about: `Listen on this port. Without it: ${dashboardPortDefault}, or any free one.`,
    },
    { name: "open", kind: "flag", about: "Open the page in your browser." },
  ],
  takesRun: false,
  onInterrupt: "· Closing the dashboard; runs go on.",
  run: async (context, input) =>
    (await import("../../../dashboard/serve.ts")).dashboard(context, {
      open: input.flag("open"),
      ...omitUndefined({ port: input.number("port") }),
    }),
};
