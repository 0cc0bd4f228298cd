// may-run: which git commands run nothing that a repository brought along, and so may be run in a git directory of the user's.

/** What runs nothing, in whichever repository, with the words that would change that. */
const harmless = new Set([
  "rev-parse",
  "rev-list",
  "merge-base",
  "cat-file",
  "ls-tree",
  "ls-files",
  "for-each-ref",
  "diff-tree",
  "update-ref",
  "symbolic-ref",
  "worktree",
  "config",
  "init",
  "--version",
]);
const harmful = ["--filters", "--textconv", "--ext-diff", "--show-signature"];
const patches = ["-p", "--patch"];
/** A patch runs nothing if both kinds of program that could make it are off. */
const disarms = ["--no-ext-diff", "--no-textconv"];

/** Whether a call may be made: its first word that isn't an option is the command. */
export function mayRun({ args, isOwn }: { readonly args: readonly string[]; readonly isOwn?: true }): boolean {
  const at = args.findIndex((word) => !word.startsWith("--") || word === "--version");
  const command = args[at] ?? "";
  const isReading = command !== "worktree" || args[at + 1] === "list";
  const isPatch = args.some((word) => patches.includes(word)) && !disarms.every((word) => args.includes(word));
  return isOwn === true || (harmless.has(command) && isReading && !isPatch && !args.some((word) => harmful.includes(word)));
}
