// may-run: which git commands execute nothing that a repository brought along, and so may run on the user's git directory.

/** Commands that execute nothing, in any repository, with the options that would change that. */
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
/** A patch executes nothing if both kinds of external diff programs are off. */
const disarms = ["--no-ext-diff", "--no-textconv"];

/** Whether a call is allowed: its first argument that isn't an option is the command. */
export function mayRun({ args, isOwn }: { readonly args: readonly string[]; readonly isOwn?: true }): boolean {
  const index = args.findIndex((word) => !word.startsWith("--") || word === "--version");
  const command = args[index] ?? "";
  const isReading = command !== "worktree" || args[index + 1] === "list";
  const isPatch = args.some((word) => patches.includes(word)) && !disarms.every((word) => args.includes(word));
  return isOwn === true || (harmless.has(command) && isReading && !isPatch && !args.some((word) => harmful.includes(word)));
}
