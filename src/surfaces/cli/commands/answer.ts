// answer: command-line spec of `answer`, which answers an open question of a run.

import { defined } from "../defined.ts";
import type { Command } from "../spec.ts";

export const answer: Command = {
  name: "answer",
  summary: "Answer a question.",
  usage: "[--block ID] ANSWER…",
  details: [
    "Without --block the one question that is open; in the folder of a portfolio, of all its projects and runs. The answer is journaled with your name; `autopilot resume` goes on.",
  ],
  arguments: [{ name: "ANSWER", about: "one of the question's answers, or your own words where it takes them", many: true }],
  flags: [{ name: "block", kind: "text", placeholder: "ID", about: "Which question, where more than one is open." }],
  takesRun: true,
  run: async (context, input) => {
    const answerInput = { text: input.words.join(" "), ...defined({ run: input.run, block: input.text("block") }) };
    const { isPortfolioMeant } = await import("../../../commands/portfolio/meant.ts");
    if (isPortfolioMeant(context.cwd, answerInput))
      return (await import("../../../commands/portfolio/answer.ts")).answerPortfolio(context, answerInput);
    return (await import("../../../commands/answer.ts")).answer(context, answerInput);
  },
};
