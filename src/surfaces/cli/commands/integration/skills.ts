// skills: command-line specs of `skills` and its three subcommands, which teach coding agents how
// to use autopilot.

import type { Command, FlagSpec } from "../../spec.ts";

const userFlag: FlagSpec = {
  name: "user",
  kind: "flag",
  about: "In your home folder, for all projects, instead of in this one.",
};
const sharedFields: Pick<Command, "arguments" | "flags" | "takesRun"> = {
  arguments: [],
  flags: [userFlag],
  takesRun: false,
};

const list: Command = {
  name: "skills list",
  summary: "Show which skills are installed, and which were edited.",
  usage: "[--user]",
  details: ["Nothing is written."],
  ...sharedFields,
  run: async (context, input) =>
    (await import("../../../../commands/skills/skills.ts")).listSkills(context, {
      user: input.flag("user"),
    }),
};

export const skillsCommands: readonly Command[] = [
  {
    ...list,
    name: "skills",
    summary: "Teach coding agents to use autopilot.",
    usage: "[install | remove | list] [--user]",
    details: [
      "Skills are instructions that an agent loads when they fit. One file serves Claude Code (.claude/skills) and Codex, Gemini CLI, opencode, Copilot CLI and Cursor (.agents/skills).",
      "Alone it means `autopilot skills list`.",
    ],
  },
  {
    name: "skills install",
    summary: "Install or update the skills in this project, or for all your projects.",
    usage: "[--user]",
    details: [
      "A file that you edited, or that isn't autopilot's, is never overwritten. Slash commands of earlier versions make room.",
    ],
    ...sharedFields,
    run: async (context, input) =>
      (await import("../../../../commands/skills/skills.ts")).installSkills(context, {
        user: input.flag("user"),
      }),
  },
  {
    name: "skills remove",
    summary: "Remove the skills that were installed and not edited.",
    usage: "[--user]",
    details: [],
    ...sharedFields,
    run: async (context, input) =>
      (await import("../../../../commands/skills/skills.ts")).removeInstalledSkills(context, {
        user: input.flag("user"),
      }),
  },
  list,
];
