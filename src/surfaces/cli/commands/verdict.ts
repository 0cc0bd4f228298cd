// verdict: command-line spec of `verdict`, which records a person's verdict on a phase.

import { humanVerdicts } from "../../../contracts/human-verdict.ts";
import { omitUndefined } from "../../../kit/omit-undefined.ts";
import type { Command } from "../spec.ts";

export const verdict: Command = {
  name: "verdict",
  summary: "Judge a phase yourself.",
  usage: 'PHASE pass|fail|issues_found [--issue "…"]…',
  details: [
    "pass completes the phase, fail fails it and blocks what depends on it, issues_found sends the issues to the debugger.",
    "`autopilot inbox` lists the phases that wait. The verdict is recorded under your name; `autopilot resume` continues.",
  ],
  arguments: [
    { name: "PHASE", about: "the phase's id" },
    { name: "VERDICT", about: "what you found", values: humanVerdicts },
  ],
  flags: [
    {
      name: "issue",
      kind: "text",
      placeholder: "TEXT",
      isRepeatable: true,
      about: "What is wrong, in your own words.",
    },
  ],
  takesRun: true,
  run: async (context, input) => {
    const [phase = "", verdictWord = ""] = input.words;
    const word = humanVerdicts.find((humanVerdict) => humanVerdict === verdictWord) ?? "pass"; // the parser lets no other word through
    return (await import("../../../commands/roadmap/verdict.ts")).verdict(context, {
      phase,
      verdict: word,
      issues: input.texts("issue") ?? [],
      ...omitUndefined({ run: input.run }),
    });
  },
};
