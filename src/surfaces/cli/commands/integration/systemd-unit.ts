// systemd-unit: command-line spec of `service`, which prints a systemd unit and a cron line that
// start a portfolio.

import { parseInterval } from "../../../../kit/every.ts";
import { respond } from "../../../../project/respond.ts";
import type { Command } from "../../spec.ts";

/** `--every` may not be shorter. */
const everyMsMin = 60_000;

export const systemdUnit: Command = {
  name: "service",
  summary: "Print a systemd unit and a cron line that keep this portfolio going.",
  usage: "[--every 15m]",
  details: [
    "Prints only: nothing is installed or started. Keys of agents aren't part of it; put them where the unit finds them.",
  ],
  arguments: [],
  flags: [
    {
      name: "every",
      kind: "text",
      placeholder: "TIME",
      about: "How often work begins.",
      defaultText: "15m",
    },
  ],
  takesRun: false,
  run: async (context, input) => {
    const every = input.text("every") ?? "15m";
    const parsed = parseInterval(every, everyMsMin);
    if (typeof parsed === "string") return respond("usage", { message: `--every: ${parsed}` });

    return (await import("../../../../commands/portfolio/print-unit.ts")).printUnit(context, {
      every,
    });
  },
};
