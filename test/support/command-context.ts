// command-context: the context of a command in a test: nothing is shown, nobody answers, nothing
// interrupts, unless the test says otherwise.

import type { CommandContext } from "../../src/project/command-context.ts";

export const commandContext = (
  parts: Pick<CommandContext, "cwd" | "env"> & Partial<CommandContext>,
): CommandContext => ({
  user: "kim",
  isTerminal: false,
  show: () => undefined,
  showLive: () => undefined,
  ask: () => Promise.resolve(null),
  interrupted: new AbortController().signal,
  ...parts,
});
