// same-command: tells whether two command lines do the same, so that only one of them is run. Pure.

/** Two commands with the same key do the same: `npm test` and `npm run test`. */
export function toCommandKey(command: string): string {
  const trimmed = command.trim();
  if (!/^[\w ./:@=,+-]+$/.test(trimmed)) return trimmed; // quotes, pipes and other shell syntax are compared as they are written

  const [program = "", ...args] = trimmed.split(/ +/);
  const [subcommand = "", ...others] = args;

  if (program === "npm" && /^(?:t|tst|test)$/.test(subcommand)) {
    return ["npm", "run", "test", ...others].join(" ");
  }

  if (program === "npm" && subcommand === "run-script") {
    return ["npm", "run", ...others].join(" ");
  }

  // `bun test` is not among these: it is bun's own runner, and not the script of that name.
  const runsScripts = program === "pnpm" || program === "yarn";
  if (runsScripts && /^(?:test|lint|build|typecheck)$/.test(subcommand)) {
    return [program, "run", ...args].join(" ");
  }

  return [program, ...args].join(" ");
}

export const isSameCommand = (left: string, right: string): boolean =>
  left === right || toCommandKey(left) === toCommandKey(right);
