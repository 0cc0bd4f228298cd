// join-commands: makes one command of several, which passes if each of them does. Pure.

/** Each in a shell of its own: one may change its folder. */
export const joinCommands = (commands: readonly string[]): string =>
  commands.map((command) => `( ${command}\n)`).join(" && ");
