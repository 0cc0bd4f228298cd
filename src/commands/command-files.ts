// command-files: the slash command `/autopilot` as each agent wants it written down. `init` writes those whose folder is in the project or whose program is on the PATH.

const about = "Drive an objective with autopilot: gated, journaled, proved by the runner.";
const words =
  "Run `autopilot $ARGUMENTS --json` in the project's root and show the user its message, warnings and remediation. Do nothing else yourself.";
const markdown = `---\ndescription: ${JSON.stringify(about)}\n---\n${words}\n`;

export const commandFiles: readonly {
  readonly folder: string;
  readonly program: string;
  readonly path: string;
  readonly text: string;
}[] = [
  { folder: ".claude", program: "claude", path: ".claude/commands/autopilot.md", text: markdown },
  { folder: ".opencode", program: "opencode", path: ".opencode/command/autopilot.md", text: markdown },
  {
    folder: ".gemini",
    program: "gemini",
    path: ".gemini/commands/autopilot.toml",
    text: `description = ${JSON.stringify(about)}\nprompt = """\n${words.replace("$ARGUMENTS", "{{args}}")}\n"""\n`,
  },
];
