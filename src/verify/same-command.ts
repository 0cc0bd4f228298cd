// same-command: tells whether two command lines do the same, so that only one of them is run. Pure.

/** Two commands with the same key do the same: `npm test` and `npm run test`. */
export function toCommandKey(command: string): string {
  const trimmed = command.trim();
  if (!/^[\w ./:@=,+-]+$/.test(trimmed)) return trimmed; // quotes, pipes and other shell syntax are compared as they are written
  const [program = "", ...args] = trimmed.split(/ +/);
  // `bun test` is not among these: it is bun's own runner, and not the script of that name.
  if (program === "npm" && /^(?:t|tst|test)$/.test(args[0] ?? "")) {
    return ["npm", "run", "test", ...args.slice(1)].join(" ");
  }

  if (program === "npm" && args[0] === "run-script") {
    return ["npm", "run", ...args.slice(1)].join(" ");
  }

  if (
    (program === "pnpm" || program === "yarn") &&
    /^(?:test|lint|build|typecheck)$/.test(args[0] ?? "")
  ) {
    return [program, "run", ...args].join(" ");
  }

  return [program, ...args].join(" ");
}

export const isSameCommand = (left: string, right: string): boolean =>
  left === right || toCommandKey(left) === toCommandKey(right);
