// report: command-line spec of `report`, which shows what was asked, done, proved and left open.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import type { Command } from "../spec.ts";

export const report: Command = {
  name: "report",
  summary: "What was asked, done, proved and claimed, and what is open.",
  usage: "[--html FILE]",
  details: [
    "Keeps proof and the agent's claims apart. `autopilot verify` runs the proof again.",
    "--html writes one file to send around: what was asked, proof, change, cost and time. It needs no server and no script. In the folder of a portfolio: the whole portfolio.",
  ],
  arguments: [],
  flags: [
    {
      name: "html",
      kind: "text",
      placeholder: "FILE",
      about: "Write the report as one self-contained HTML file.",
    },
  ],
  takesRun: true,
  ofTask: "reads",
  run: async (context, input) => {
    const file = input.text("html");
    if (file !== undefined) {
      return (await import("../../../commands/report-html.ts")).reportHtml(context, {
        file,
        ...omitUndefined({ run: input.run }),
      });
    }

    return (await import("../../../commands/report.ts")).report(
      context,
      omitUndefined({ run: input.run }),
    );
  },
};
