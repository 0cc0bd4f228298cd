// answer: command-line spec of `answer`, which answers an open question of a run.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import type { Command } from "../spec.ts";

export const answer: Command = {
  name: "answer",
  summary: "Answer a question.",
  usage: "[--block ID] ANSWER…",
  details: [
    "Without --block it answers the only open question; in a portfolio's folder, of all its projects. The answer is recorded under your name; `autopilot resume` continues.",
  ],
  arguments: [
    {
      name: "ANSWER",
      about: "one of the answers, or your own words if the question takes them",
      isRepeatable: true,
    },
  ],
  flags: [
    {
      name: "block",
      kind: "text",
      placeholder: "ID",
      about: "Which question, if several are open.",
    },
  ],
  takesRun: true,
  run: async (context, input) => {
    const answerInput = {
      text: input.words.join(" "),
      ...omitUndefined({ run: input.run, block: input.text("block") }),
    };

    const { isPortfolioMeant } = await import("../../../commands/portfolio/is-portfolio-meant.ts");
    if (isPortfolioMeant(context.cwd, answerInput)) {
      return (await import("../../../commands/portfolio/answer.ts")).answerPortfolio(
        context,
        answerInput,
      );
    }

    return (await import("../../../commands/answer.ts")).answer(context, answerInput);
  },
};
