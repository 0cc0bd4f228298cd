// portfolio-work: command-line specs of `portfolio take`, `portfolio import` and `portfolio run`,
// with the flags that say who works and where the work lands.

import { portfolioJobsDefault } from "../../../../contracts/config-defaults.ts";
import { isolationLevels } from "../../../../contracts/isolation-levels.ts";
import { parseInterval } from "../../../../kit/every.ts";
import { respond } from "../../../../project/respond.ts";
import { omitUndefined } from "../../../../kit/omit-undefined.ts";
import type { Command, FlagSpec, ParsedInput } from "../../spec.ts";

type SubcommandSpec = Omit<Command, "name" | "takesRun">;

export const targetFlag: FlagSpec = {
  name: "target",
  kind: "text",
  placeholder: "BRANCH",
  about: "The branch that finished work is merged into.",
  defaultText: "main",
};
export const hubFlag: FlagSpec = {
  name: "hub",
  kind: "text",
  placeholder: "URL",
  about:
    "The git repository through which machines of a store exchange commits, and where work lands then.",
};

export const interruptMessages: Pick<Command, "onInterrupt" | "onTerminate"> = {
  onInterrupt:
    "! Asked to rest: running turns end, nothing new starts. Once more leaves at once; `autopilot portfolio run` goes on.",
  onTerminate: "! Asked to end: running turns are set aside. `autopilot portfolio run` goes on.",
};
export const poolFlags: readonly FlagSpec[] = [
  {
    name: "jobs",
    kind: "number",
    min: 1,
    placeholder: "N",
    about: "How many tasks run at once.",
    defaultText: String(portfolioJobsDefault),
  },
  {
    name: "agent",
    kind: "text",
    placeholder: "NAME",
    about: "Who works where a task names nobody.",
  },
  {
    name: "isolation",
    kind: "enum",
    values: isolationLevels,
    about: "What holds the agents where a task does not say.",
    defaultText: "auto",
  },
];
export const readPoolFlags = (input: ParsedInput) =>
  omitUndefined({
    jobs: input.number("jobs"),
    agent: input.text("agent"),
    isolation: input.text("isolation"),
  });

/** `--every` may not be shorter. */
const everyMsMin = 60_000;
const trackers = ["github", "gitlab", "linear"] as const;

/** Flags that only choose among the issues of a tracker. */
const trackerFlags = ["project", "label", "limit"] as const;

export const importSpec: SubcommandSpec = {
  summary: "Import tasks: a YAML, JSON or Markdown list, or the open issues of a tracker.",
  usage: "FILE [--propose] | --from github|gitlab|linear [FILE] [--project NAME] [--label LABEL]",
  details: [
    "Everything that is wrong is told at once with file and line, and then nothing is imported. docs/PORTFOLIO.md names every key.",
    "--from asks your own gh or glab for the open issues of the project's repository, or reads a file exported from the tracker. Each becomes a proposed task with a link back, once; what it says is quoted to the agent as data.",
  ],
  arguments: [{ name: "FILE", about: "the list, or what the tracker exported", isOptional: true }],
  flags: [
    { name: "propose", kind: "flag", about: "Only propose the tasks." },
    { name: "from", kind: "enum", values: trackers, about: "Import issues of this tracker." },
    {
      name: "project",
      kind: "text",
      placeholder: "NAME",
      about: "Whose tasks they become.",
      defaultText: "the only one",
    },
    { name: "label", kind: "text", placeholder: "LABEL", about: "Only issues with this label." },
    {
      name: "limit",
      kind: "number",
      min: 1,
      placeholder: "N",
      about: "At most N issues.",
      defaultText: "100",
    },
  ],
  run: async (context, input) => {
    const from = input.text("from") as (typeof trackers)[number] | undefined;
    const [file] = input.words;

    if (from !== undefined) {
      return (await import("../../../../commands/portfolio/intake.ts")).importIssues(context, {
        from,
        ...omitUndefined({
          file,
          project: input.text("project"),
          label: input.text("label"),
          limit: input.number("limit"),
        }),
      });
    }

    const misplaced = trackerFlags.filter((name) => input.flag(name)).map((name) => `--${name}`);
    if (misplaced.length > 0) {
      return respond("usage", { message: `Only --from takes ${misplaced.join(", ")}.` });
    }

    if (file === undefined) {
      return respond("usage", {
        message: "autopilot portfolio import takes a FILE, or --from github, gitlab or linear.",
      });
    }

    return (await import("../../../../commands/portfolio/import.ts")).importBacklog(context, {
      file,
      propose: input.flag("propose"),
    });
  },
};

export const runSpec: SubcommandSpec = {
  summary: "Dispatch, work, merge: keep the portfolio going.",
  usage:
    "[--jobs N] [--until-idle | --every 15m] [--fleet] [--agent NAME] [--isolation LEVEL] [--yes]",
  details: [
    "Runs until you stop it; --until-idle ends when nothing is left that it can do alone. --every works until idle, rests, and begins again; `autopilot service` prints a unit that starts it.",
    "With --fleet the workers of AUTOPILOT_STORE work on the tasks, and finished work lands on the hub of its repository. See docs/FLEET.md.",
  ],
  arguments: [],
  flags: [
    { name: "until-idle", kind: "flag", about: "End when nothing is left to do." },
    { name: "fleet", kind: "flag", about: "Hand tasks to the workers of a store." },
    {
      name: "every",
      kind: "text",
      placeholder: "TIME",
      about: "Work until idle, again and again: 1m at least.",
      excludes: "until-idle",
    },
    ...poolFlags,
    {
      name: "yes",
      kind: "flag",
      about: "Don't ask. It never does; scripts that give it everywhere may.",
    },
  ],
  ...interruptMessages,
  run: async (context, input) => {
    const every = input.text("every");
    const everyMs = every === undefined ? undefined : parseInterval(every, everyMsMin);
    if (typeof everyMs === "string") return respond("usage", { message: `--every: ${everyMs}` });
    if (everyMs !== undefined) {
      return (await import("../../../../commands/portfolio/run-every.ts")).runEvery(context, {
        ...readPoolFlags(input),
        fleet: input.flag("fleet"),
        everyMs,
      });
    }

    return (await import("../../../../commands/portfolio/pool.ts")).runPortfolio(context, {
      ...readPoolFlags(input),
      untilIdle: input.flag("until-idle"),
      fleet: input.flag("fleet"),
    });
  },
};

export const takeSpec: SubcommandSpec = {
  summary:
    "Bring a portfolio from a store into a folder, to plan it from this machine too. Nothing is executed.",
  usage: "KEY [--into DIR] [--repo PROJECT=DIR]",
  details: [
    "AUTOPILOT_STORE names the store. Hubs are cloned, unless --repo names a clone. Given again it changes which are meant. See docs/FLEET.md.",
  ],
  arguments: [{ name: "KEY", about: "the portfolio's key, as fleet status shows it" }],
  flags: [
    {
      name: "into",
      kind: "text",
      placeholder: "DIR",
      about: "Where to.",
      defaultText: "this folder",
    },
    {
      name: "repo",
      kind: "text",
      isRepeatable: true,
      placeholder: "PROJECT=DIR",
      about: "This machine's clone of a project's repository.",
    },
  ],
  run: async (context, input) =>
    (await import("../../../../commands/fleet/take-portfolio.ts")).takePortfolio(context, {
      key: input.words[0] ?? "",
      ...omitUndefined({ into: input.text("into"), repos: input.texts("repo") }),
    }),
};
