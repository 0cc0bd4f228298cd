// inbox: command-line spec of `inbox`, which lists questions that wait for a person.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import type { Command } from "../spec.ts";

export const inbox: Command = {
  name: "inbox",
  summary: "Questions waiting for you.",
  usage: "",
  details: [
    "With the possible answers and the command that gives the recommended one. In a portfolio's folder: of all its projects.",
  ],
  arguments: [],
  flags: [],
  takesRun: true,
  run: async (context, input) => {
    const { isPortfolioMeant } = await import("../../../commands/portfolio/is-portfolio-meant.ts");
    if (isPortfolioMeant(context.cwd, omitUndefined({ run: input.run }))) {
      return (await import("../../../commands/portfolio/inbox.ts")).portfolioInbox(context);
    }

    return (await import("../../../commands/inbox-list.ts")).inbox(
      context,
      omitUndefined({ run: input.run }),
    );
  },
};
