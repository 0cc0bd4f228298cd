// verdict: command-line spec of `verdict`, which records a person's verdict on a phase.

import { humanVerdicts } from "../../../contracts/human-verdict.ts";
import { defined } from "../defined.ts";
import type { Command } from "../spec.ts";

export const verdict: Command = {
  name: "verdict",
  summary: "Judge a phase yourself.",
  usage: 'PHASE pass|fail|issues_found [--issue "…"]…',
  details: [
    "pass: the phase is completed. fail: it is failed, and what depends on it is blocked. issues_found: the issues go to the debugger, and the phase is looked at again.",
    "`autopilot inbox` lists the phases that wait. The verdict is journaled with your name; `autopilot resume` goes on.",
  ],
  arguments: [
    { name: "PHASE", about: "the phase's id" },
    { name: "VERDICT", about: "what you found", values: humanVerdicts },
  ],
  flags: [{ name: "issue", kind: "text", placeholder: "TEXT", many: true, about: "What is wrong, in your own words." }],
  takesRun: true,
  run: async (context, input) => {
    const [phase = "", verdictWord = ""] = input.words;
    const word = humanVerdicts.find((humanVerdict) => humanVerdict === verdictWord) ?? "pass"; // the parser lets no other word through
    return (await import("../../../commands/roadmap/verdict.ts")).verdict(context, {
      phase,
      verdict: word,
      issues: input.texts("issue") ?? [],
      ...defined({ run: input.run }),
    });
  },
};
