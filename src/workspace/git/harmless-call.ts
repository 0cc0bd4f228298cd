// harmless-call: tells which git commands execute nothing that a repository brought along, and so
// may run on the user's git directory.

/** Commands that execute nothing in any repository, unless one of the options below is given. */
const harmlessCommands = new Set([
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
const harmfulOptions = ["--filters", "--textconv", "--ext-diff", "--show-signature"];
const patchOptions = ["-p", "--patch"];
/** A patch executes nothing if both kinds of external diff programs are off. */
const patchSafeguards = ["--no-ext-diff", "--no-textconv"];

/**
 * Whether a call is allowed: any call in a git directory of the runner's, else a harmless command,
 * which is the first argument without `--`.
 */
export function isHarmlessCall({
  args,
  isOwn,
}: {
  readonly args: readonly string[];
  readonly isOwn?: true;
}): boolean {
  const index = args.findIndex((word) => !word.startsWith("--") || word === "--version");
  const command = args[index] ?? "";
  const isReadOnlyForm = command !== "worktree" || args[index + 1] === "list";
  const isUnsafePatch =
    args.some((word) => patchOptions.includes(word)) &&
    !patchSafeguards.every((word) => args.includes(word));

  return (
    isOwn === true ||
    (harmlessCommands.has(command) &&
      isReadOnlyForm &&
      !isUnsafePatch &&
      !args.some((word) => harmfulOptions.includes(word)))
  );
}
