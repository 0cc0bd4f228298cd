// former-commands: the slash commands that earlier versions wrote, so that an unedited one is replaced by the new skill.

const about = "Drive an objective with autopilot: gated, journaled, proved by the runner.";
const words =
  "Run `autopilot $ARGUMENTS --json` in the project's root and show the user its message, warnings and remediation. Do nothing else yourself.";
const markdown = `---\ndescription: ${JSON.stringify(about)}\n---\n${words}\n`;

export const formerCommands: readonly {
  readonly path: string;
  readonly text: string;
}[] = [
  { path: ".claude/commands/autopilot.md", text: markdown },
  { path: ".opencode/command/autopilot.md", text: markdown },
  {
    path: ".gemini/commands/autopilot.toml",
    text: `description = ${JSON.stringify(about)}\nprompt = """\n${words.replace("$ARGUMENTS", "{{args}}")}\n"""\n`,
  },
];
