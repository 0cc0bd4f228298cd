// former-commands: the slash commands that earlier versions wrote, so that an unedited one is
// replaced by the new skill.

const description = "Drive an objective with autopilot: gated, journaled, proved by the runner.";
const instruction =
  "Run `autopilot $ARGUMENTS --json` in the project's root and show the user its message, warnings and remediation. Do nothing else yourself.";
const markdown = `---\ndescription: ${JSON.stringify(description)}\n---\n${instruction}\n`;

/** Where each was written, and its exact text: only a file that still has it is replaced. */
export const formerCommands: readonly {
  readonly path: string;
  readonly text: string;
}[] = [
  { path: ".claude/commands/autopilot.md", text: markdown },
  { path: ".opencode/command/autopilot.md", text: markdown },
  {
    path: ".gemini/commands/autopilot.toml",
    text: `description = ${JSON.stringify(description)}\nprompt = """\n${instruction.replace("$ARGUMENTS", "{{args}}")}\n"""\n`,
  },
];
