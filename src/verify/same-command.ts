// same-command: whether two command lines do the same, so that it's run once. Pure.

/** Two commands with one key do the same: `npm test` and `npm run test`. Nothing is guessed about shell syntax. */
export function commandKey(command: string): string {
  const plain = command.trim();
  if (!/^[\w ./:@=,+-]+$/.test(plain)) return plain;
  const [program = "", ...words] = plain.split(/ +/);
  // `bun test` is bun's own runner, and not the script of that name.
  if (program === "npm" && /^(?:t|tst|test)$/.test(words[0] ?? "")) return ["npm", "run", "test", ...words.slice(1)].join(" ");
  if (program === "npm" && words[0] === "run-script") return ["npm", "run", ...words.slice(1)].join(" ");
  if ((program === "pnpm" || program === "yarn") && /^(?:test|lint|build|typecheck)$/.test(words[0] ?? ""))
    return [program, "run", ...words].join(" ");
  return [program, ...words].join(" ");
}

export const isSameCommand = (one: string, other: string): boolean => one === other || commandKey(one) === commandKey(other);
