import { normalize } from "node:path/posix";

const interpreters = /^(?:sh|bash|zsh|dash|node|deno|bun|tsx|ts-node|python[\d.]*|ruby|perl|php|env|exec|time|command)$/;
const isSetting = (word: string): boolean => /^\w+=/.test(word) || word.startsWith("-");
/** A script that a check runs judges if it was made for that; one in the midst of the code is what is judged. */
const judges = /(?:^|[/._-])(?:tests?|checks?|verify|lint|ci|smoke|e2e|spec|assert|validate|coverage)(?:[._-]|$|\/)/i;
const isCode = /^(?:src|lib|app|pkg|internal|cmd)\//;

/** The files that commands start, as paths from the top: `sh scripts/check.sh`, `./run-tests`. */
export function programsIn(commands: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const command of commands.flatMap((text) => text.split(/&&|\|\||[;|&\n()]/))) {
    const words = command
      .trim()
      .split(/\s+/)
      .map((word) => word.replaceAll(/["']/g, ""));
    const at = words.findIndex((word) => !isSetting(word) && !interpreters.test(word));
    const program = words[at];
    if (program === undefined || program.startsWith("/") || program.startsWith("~")) continue;
    // A bare first word is looked for where programs lie, not here.
    if (!program.includes("/") && !words.slice(0, at).some((word) => interpreters.test(word))) continue;
    const path = normalize(program);
    if (judges.test(path) && !isCode.test(path)) found.add(path);
  }
  return found;
}
