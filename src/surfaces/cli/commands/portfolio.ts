// portfolio: command-line specs of `portfolio` and its subcommands, which work on many projects at
// once.

import { omitUndefined } from "../../../kit/omit-undefined.ts";
import type { Command } from "../spec.ts";
import {
  budgetFlag,
  dayBudgetFlag,
  describeMisplacedFlags,
  objectiveFlag,
  priorityFlag,
  readProjectFlags,
  readTaskFlags,
  repoFlag,
  slotsFlag,
  taskFlags,
  unprovedFlag,
} from "./integration/portfolio-flags.ts";
import {
  hubFlag,
  importSpec,
  readPoolFlags,
  poolFlags,
  interruptMessages,
  runSpec,
  takeSpec,
  targetFlag,
} from "./integration/portfolio-work.ts";

const taskArgument = { name: "TASK", about: "a task's id" };

const subcommand = (name: string, spec: Omit<Command, "name" | "takesRun">): Command => ({
  name: `portfolio ${name}`,
  takesRun: false,
  ...spec,
});

export const portfolio: Command = {
  name: "portfolio",
  summary:
    "Work on many projects at once: a planner, workers, and a merge queue that keeps each branch green.",
  usage:
    "[init | take | adopt | add | import | status | tick | run | inbox | answer | watch | ready | retry | cancel | edit | pause | resume | rebuild | compact]",
  details: [
    "A portfolio lies in a folder: its projects and tasks in .openclaw-autopilot/, its journal in .autopilot/portfolio/. Alone it shows how it stands.",
    "Every task is an ordinary run in a copy of its repository. It is done when its criteria hold on the merged tree and the branch holds its work.",
  ],
  arguments: [],
  flags: [],
  takesRun: false,
  run: async (context) =>
    (await import("../../../commands/portfolio/show.ts")).showPortfolio(context, {}),
};

export const portfolioCommands: readonly Command[] = [
  portfolio,
  subcommand("init", {
    summary: "Make a portfolio in this folder, or take up the one that another tool left.",
    usage: "[NAME] [--budget BUDGET] [--day-budget BUDGET]",
    details: [],
    arguments: [{ name: "NAME", about: "what it is called", isOptional: true }],
    flags: [budgetFlag, dayBudgetFlag],
    run: async (context, input) =>
      (await import("../../../commands/portfolio/add.ts")).initPortfolio(
        context,
        omitUndefined({
          name: input.words[0],
          budget: input.text("budget"),
          dayBudget: input.text("day-budget"),
        }),
      ),
  }),
  subcommand("take", takeSpec),
  subcommand("adopt", {
    summary: "Show what a portfolio from elsewhere would do, and make it yours.",
    usage: "[--yes]",
    details: [
      "Its repositories, agents and commands are shown first. It stays paused until `autopilot portfolio resume`.",
    ],
    arguments: [],
    flags: [{ name: "yes", kind: "flag", about: "Don't ask." }],
    run: async (context, input) =>
      (await import("../../../commands/portfolio/adopt.ts")).adoptPortfolio(context, {
        yes: input.flag("yes"),
      }),
  }),
  subcommand("add", {
    summary: "Add a project, or a task to one.",
    usage:
      'project NAME --repo DIR --objective "…" | task PROJECT "objective" --accept "text :: command" …',
    details: ["--json answers with the id of what was made."],
    arguments: [
      { name: "WHAT", about: "project or task" },
      { name: "NAME", about: "the project's name or id" },
      { name: "OBJECTIVE", about: "what a task is to reach", isRepeatable: true, isOptional: true },
    ],
    flags: [
      repoFlag,
      objectiveFlag,
      priorityFlag,
      budgetFlag,
      targetFlag,
      hubFlag,
      slotsFlag,
      unprovedFlag,
      ...taskFlags,
      { name: "propose", kind: "flag", about: "Only propose the task." },
    ],
    run: async (context, input) => {
      const add = await import("../../../commands/portfolio/add.ts");
      const { refuseUsage } = await import("../../../commands/portfolio/portfolio-input.ts");
      const [what, name = "", ...words] = input.words;
      const wrong =
        what === "project" || what === "task" ? describeMisplacedFlags(input, what) : null;
      if (wrong !== null) return refuseUsage(wrong);
      if (what === "task" && words.length > 0 && input.text("objective") !== undefined) {
        return refuseUsage("The objective is given twice: as words and with --objective.");
      }

      if (what === "project") {
        return add.addProject(context, {
          name: [name, ...words].join(" "),
          ...readProjectFlags(input),
        });
      }

      if (what === "task") {
        return add.addTask(context, {
          project: name,
          objective: input.text("objective") ?? words.join(" "),
          ...readTaskFlags(input),
          propose: input.flag("propose"),
        });
      }

      return refuseUsage(
        `autopilot portfolio add takes project or task, not ${what ?? "nothing"}.`,
      );
    },
  }),
  subcommand("import", importSpec),
  subcommand("status", {
    summary: "Show what runs, what waits and why, and what has landed.",
    usage: "",
    details: [],
    arguments: [],
    flags: poolFlags,
    run: async (context, input) =>
      (await import("../../../commands/portfolio/show.ts")).showPortfolio(
        context,
        readPoolFlags(input),
      ),
  }),
  subcommand("tick", {
    summary: "Plan once and do it: one tick of the planner.",
    usage: "[--dry-run] [--jobs N]",
    details: [
      "--dry-run does nothing and says what would be done, and for every other task why it waits.",
    ],
    arguments: [],
    flags: [{ name: "dry-run", kind: "flag", about: "Only say what would be done." }, ...poolFlags],
    ...interruptMessages,
    run: async (context, input) =>
      (await import("../../../commands/portfolio/tick.ts")).tickPortfolio(context, {
        ...readPoolFlags(input),
        dryRun: input.flag("dry-run"),
      }),
  }),
  subcommand("run", runSpec),
  subcommand("inbox", {
    summary: "Every question of every project and run that waits for you.",
    usage: "",
    details: [],
    arguments: [],
    flags: [],
    run: async (context) =>
      (await import("../../../commands/portfolio/inbox.ts")).portfolioInbox(context),
  }),
  subcommand("answer", {
    summary: "Answer a question of the portfolio or of one of its runs.",
    usage: "[--block ID] ANSWER…",
    details: ["Without --block the one question that is open."],
    arguments: [
      { name: "ANSWER", about: "one of the answers, or your own words", isRepeatable: true },
    ],
    flags: [
      { name: "block", kind: "text", placeholder: "ID", about: "Which question." },
      {
        name: "content",
        kind: "text",
        placeholder: "HASH",
        about: "The content you were shown; an answer to a question that changed is refused.",
      },
    ],
    run: async (context, input) =>
      (await import("../../../commands/portfolio/answer.ts")).answerPortfolio(context, {
        text: input.words.join(" "),
        ...omitUndefined({ block: input.text("block"), content: input.text("content") }),
      }),
  }),
  subcommand("watch", {
    summary: "Watch the portfolio until you leave.",
    usage: "",
    details: [],
    arguments: [],
    flags: poolFlags,
    onInterrupt: "",
    run: async (context, input) =>
      (await import("../../../commands/portfolio/watch.ts")).watchPortfolio(
        context,
        readPoolFlags(input),
      ),
  }),
  ...(["ready", "retry", "cancel"] as const).map((name) =>
    subcommand(name, {
      summary: {
        ready: "Make a proposed task ready.",
        retry: "Try a task again that failed or needs adjustment.",
        cancel: "Cancel a task.",
      }[name],
      usage: "TASK",
      details: [],
      arguments: [taskArgument],
      flags: [],
      run: async (context, input) =>
        (await import("../../../commands/portfolio/change.ts")).moveTask(context, {
          task: input.words[0] ?? "",
          to: name === "cancel" ? "canceled" : "ready",
          because: `${name} by ${context.user}`,
        }),
    }),
  ),
  subcommand("edit", {
    summary: "Change a task, a project, or the portfolio's budgets.",
    usage:
      "ID [--objective TEXT] [--accept …] [--after …] [--touches …] [--priority N] [--repo DIR] …",
    details: [],
    arguments: [
      { name: "ID", about: "a task's or project's id, or `portfolio` for the budgets of all" },
    ],
    flags: [
      objectiveFlag,
      priorityFlag,
      budgetFlag,
      dayBudgetFlag,
      ...taskFlags,
      repoFlag,
      targetFlag,
      hubFlag,
      slotsFlag,
      unprovedFlag,
    ],
    run: async (context, input) => {
      const [id = ""] = input.words;
      // Of the portfolio itself the use case refuses whatever isn't a budget.
      const wrong =
        id === "portfolio"
          ? null
          : describeMisplacedFlags(input, id.startsWith("proj-") ? "project" : "task");
      if (wrong !== null) {
        return (await import("../../../commands/portfolio/portfolio-input.ts")).refuseUsage(wrong);
      }

      const { editPortfolio } = await import("../../../commands/portfolio/edit.ts");
      return editPortfolio(context, {
        id,
        ...readProjectFlags(input),
        ...readTaskFlags(input),
        dayBudget: input.text("day-budget"),
      });
    },
  }),
  ...(["pause", "resume"] as const).map((name) =>
    subcommand(name, {
      summary:
        name === "pause" ? "Dispatch nothing new, in one project or all." : "Dispatch again.",
      usage: "[PROJECT]",
      details: [],
      arguments: [{ name: "PROJECT", about: "one project", isOptional: true }],
      flags: [],
      run: async (context, input) =>
        (await import("../../../commands/portfolio/change.ts")).pausePortfolio(context, {
          ...omitUndefined({ project: input.words[0] }),
          paused: name === "pause",
        }),
    }),
  ),
  subcommand("rebuild", {
    summary: "Regenerate every file from the journal, and list those that differed.",
    usage: "",
    details: [],
    arguments: [],
    flags: [],
    run: async (context) =>
      (await import("../../../commands/portfolio/rebuild.ts")).rebuildPortfolio(context),
  }),
  subcommand("compact", {
    summary: "Write a checkpoint. No event is deleted.",
    usage: "",
    details: [],
    arguments: [],
    flags: [],
    run: async (context) =>
      (await import("../../../commands/portfolio/rebuild.ts")).compactPortfolio(context),
  }),
];
