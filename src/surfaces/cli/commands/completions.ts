// completions: the `completions` command, which prints a completion script for bash, zsh or fish.

import { buildCompletionScript, shells } from "../completion-script.ts";
import type { Command } from "../spec.ts";

/** The commands come as a function, because completions is itself one of them. */
export const createCompletionsCommand = (commands: () => readonly Command[]): Command => ({
  name: "completions",
  summary: "Print a completion script for your shell.",
  usage: "bash|zsh|fish",
  details: [
    "bash: autopilot completions bash > ~/.local/share/bash-completion/completions/autopilot",
    "zsh:  autopilot completions zsh > a file _autopilot in a folder of $fpath",
    "fish: autopilot completions fish > ~/.config/fish/completions/autopilot.fish",
  ],
  arguments: [{ name: "SHELL", about: shells.join(", "), values: shells }],
  flags: [],
  takesRun: false,
  isRaw: () => true,
  run: (_context, input) => {
    const shell = shells.find((candidate) => candidate === input.words[0]) ?? "bash";
    const page = buildCompletionScript(shell, commands());
    const message = `The completion script for ${shell}.`;

    return Promise.resolve({
      result: "PASS",
      reason_code: "ok",
      run_id: null,
      state: null,
      message,
      warnings: [],
      remediation: [],
      page,
      data: { shell, script: page.join("\n") },
    });
  },
});
