// pr: command-line specs of `pr` and `pr watch`, which open a finished run's pull request and carry
// it to its merge.

import {
  pullRequestEveryDefault,
  pullRequestTriesDefault,
} from "../../../../contracts/config-defaults.ts";
import type { ForgeTool } from "../../../../contracts/forge/pull-request.ts";
import { parseInterval } from "../../../../kit/every.ts";
import { respond } from "../../../../project/respond.ts";
import { omitUndefined } from "../../../../kit/omit-undefined.ts";
import { type Command, pausesWhenInterrupted } from "../../spec.ts";

/** `--every` may not be shorter: code hosts limit how often they are asked. */
const everyMsMin = 30_000;
const runArgument = {
  name: "RUN",
  about: "the run; without it the current one",
  isOptional: true,
} as const;

export const prCommands: readonly Command[] = [
  {
    name: "pr",
    summary: "Open a pull request for a finished run, through your own gh or glab.",
    usage: "[RUN] [--draft] [--remote NAME] [--base BRANCH]",
    details: [
      "Pushes the run's branch, never by force, and opens the pull request with the proof and the commands that check it again. Given twice, it is the same one.",
      "Only work that was wholly proved is opened as ready. With gaps it is a draft that names them; without proof it needs --draft.",
      "`--land pr` does this at the end of a run.",
    ],
    arguments: [runArgument],
    flags: [
      { name: "draft", kind: "flag", about: "Open it as a draft, whatever was proved." },
      {
        name: "remote",
        kind: "text",
        placeholder: "NAME",
        about: "Which remote.",
        defaultText: "the branch's, else origin",
      },
      {
        name: "base",
        kind: "text",
        placeholder: "BRANCH",
        about: "Merge into this branch.",
        defaultText: "the one the run began on",
      },
      {
        name: "with",
        kind: "enum",
        values: ["gh", "glab"],
        about: "gh or glab, if the host's name doesn't tell.",
      },
    ],
    takesRun: true,
    run: async (context, input) =>
      (await import("../../../../commands/pr/pr.ts")).pr(context, {
        ...omitUndefined({
          run: input.words[0] ?? input.run,
          draft: input.flag("draft") || undefined,
          remote: input.text("remote"),
          base: input.text("base"),
          tool: input.text("with") as ForgeTool | undefined,
        }),
      }),
  },
  {
    name: "pr watch",
    summary: "Carry a pull request to its merge: work on red CI and review comments.",
    usage: "[RUN] [--every 2m] [--tries N] [--once]",
    details: [
      "What CI and people who may write to the project found is handed to an agent as data, in a run of its own that begins at the pull request's commit. What it proves is pushed, never by force.",
      "Ends when the pull request is merged or closed, when somebody else pushed, when the tries are used up, or when the follow-up needs you. Killed, it goes on where it was.",
    ],
    arguments: [runArgument],
    flags: [
      {
        name: "every",
        kind: "text",
        placeholder: "TIME",
        about: "How often to look: 30s at least.",
        defaultText: pullRequestEveryDefault,
      },
      {
        name: "tries",
        kind: "number",
        min: 1,
        placeholder: "N",
        about: "At most N follow-ups in all.",
        defaultText: String(pullRequestTriesDefault),
      },
      { name: "once", kind: "flag", about: "Look once, do what follows from it, and end." },
      {
        name: "agent",
        kind: "text",
        placeholder: "NAME",
        about: "Who works on it.",
        defaultText: "who worked before",
      },
      {
        name: "isolation",
        kind: "text",
        placeholder: "LEVEL",
        about: "What confines the agent.",
        defaultText: "as before",
      },
      {
        name: "max-budget",
        kind: "text",
        placeholder: "BUDGET",
        about: "What each follow-up may use.",
        defaultText: "the flow's",
      },
    ],
    takesRun: true,
    ...pausesWhenInterrupted,
    run: async (context, input) => {
      const everyMs = parseInterval(input.text("every") ?? pullRequestEveryDefault, everyMsMin);
      if (typeof everyMs === "string") return respond("usage", { message: `--every: ${everyMs}` });
      return (await import("../../../../commands/pr/pr.ts")).watchPr(context, {
        everyMs,
        tries: input.number("tries") ?? pullRequestTriesDefault,
        once: input.flag("once"),
        ...omitUndefined({
          run: input.words[0] ?? input.run,
          agent: input.text("agent"),
          isolation: input.text("isolation"),
          maxBudget: input.text("max-budget"),
        }),
      });
    },
  },
];
