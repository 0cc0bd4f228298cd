// start-folder: handles a run that is started in a subfolder of the repository. The run works on
// the whole repository, but what the user typed is relative to that folder: commands run there, and
// globs begin there.

import { shellWord } from "../../kit/shell-word.ts";
import { realpathSync } from "node:fs";
import { relative } from "node:path";
import type { Objective } from "../../contracts/objective.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { refuse } from "../../project/respond.ts";
import type { ProjectPaths } from "../../project/runs/project-paths.ts";

/** The folder that the user is in, relative to the repository's root; empty in the root. */
export const findStartFolder = (
  context: Pick<CommandContext, "cwd">,
  paths: Pick<ProjectPaths, "root">,
): string => relative(realpathSync(paths.root), realpathSync(context.cwd));

/**
 * Refuses a flow with documents in a subfolder: documents, and the checks they name, are the whole
 * repository's.
 */
export function refuseDocumentsBelowRoot(folder: string): void {
  if (folder === "") return;
  const root = folder
    .split("/")
    .map(() => "..")
    .join("/");

  refuse("workspace_unusable", {
    message: `You are in ${folder}/, but this flow works with documents of the whole repository.`,
    remediation: [`cd ${root}, and the same command again`],
    data: { inside: folder },
  });
}

/**
 * The objective with its commands and its scope relative to the folder the user is in. A scope that
 * nobody typed stays as it is.
 */
export function readFromFolder(
  objective: Objective,
  folder: string,
  { isScopeTyped }: { readonly isScopeTyped: boolean },
): Objective {
  if (folder === "") return objective;
  // Braces: without them `cd app && a || b` would run b in the root if the folder is gone.
  const toFolderCommand = (command: string): string =>
    `cd ${shellWord(folder)} && ${/;|\n|\|\||(?<!&)&(?!&)/.test(command) ? `{ ${command}\n}` : command}`;
  const globFolder = folder.replaceAll(/[\\[\]{}()*?!+@]/g, "\\$&");

  return {
    ...objective,
    scope: isScopeTyped
      ? objective.scope.map((glob) => glob.replace(/^!?/, (mark) => `${mark}${globFolder}/`))
      : objective.scope,
    done_criteria: objective.done_criteria.map((criterion) =>
      criterion.check === null
        ? criterion
        : { ...criterion, check: toFolderCommand(criterion.check) },
    ),
    red_green: objective.red_green.map(toFolderCommand),
    holdout: objective.holdout.map(toFolderCommand),
  };
}

export function listStartFolderWarnings(
  folder: string,
  { isScopeTyped }: { readonly isScopeTyped: boolean },
): readonly string[] {
  if (folder === "") return [];
  const scope = isScopeTyped
    ? "its scope begins there"
    : "the agent may change the whole repository (--scope limits it)";

  return [`Commands of this objective run in ${folder}/, where you are, and ${scope}.`];
}
