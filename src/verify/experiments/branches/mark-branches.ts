// mark-branches: prepares runs of a check in which the work's branches leave marks, or end the
// process where none was left; and reads the marks.

import { createNonce } from "../broken-expectations/choose-flips.ts";
import type { Lab } from "../lab.ts";
import { type ChangeFiles, readSources } from "../questions/question-context.ts";
import { type BranchMarks, toMark } from "./branch.ts";
import { findBranches } from "./find-branches.ts";
import { instrumentFiles, type NumberedBranch } from "./instrument.ts";

/** Of more branches only the first are asked about. */
const branchesMax = 400;
const goneFilesMax = 20;

/** Null if the work has no branches. */
export async function prepareMarks(
  files: ChangeFiles & { readonly lab: Pick<Lab, "textAt" | "seed"> },
): Promise<BranchMarks | null> {
  const sources = await readSources(files);
  const gone = await readGoneFiles(files);
  const found = sources.flatMap((source) => findBranches(source, gone)).slice(0, branchesMax);
  const branches = found.map((branch, index): NumberedBranch => [index, branch]);
  const outcomes = branches.flatMap(([index, branch]) =>
    branch.outcomes.map((outcome) => ({ mark: toMark(index, outcome), branch, outcome })),
  );
  if (outcomes.length === 0) return null;

  const name = createNonce(`${files.lab.seed} branches`);
  const texts = sources.map(({ path, is }) => ({ path, text: is }));
  return {
    outcomes,
    edits: (isWanted = () => true) =>
      instrumentFiles(
        texts.filter(({ path }) => isWanted(path)),
        branches,
        name,
        [],
      ),
    traps: (trapped) =>
      instrumentFiles(
        texts,
        branches,
        name,
        trapped.map(({ mark }) => mark),
      ),
    wrap: (command) =>
      `${name}=$(mktemp -d); chmod 777 "$${name}"; export ${name}; (${command}\n); code=$?; printf '\\n%s %s %s\\n' ${name} "$(ls "$${name}" | tr '\\n' ' ')" ${name}; rm -rf "$${name}"; exit $code`,
    read: ({ readOutput }) => {
      const [, list] = readOutput?.().match(new RegExp(`${name} ([0-9TF ]*) ${name}\\s*$`)) ?? [];
      return list === undefined ? null : new Set(list.split(" ").filter((mark) => mark !== ""));
    },
  };
}

/** What stood in a file that is gone may stand in another now. */
async function readGoneFiles({ differences, lab }: ChangeFiles): Promise<readonly string[]> {
  const paths = differences.filter(({ kind }) => kind === "deleted").slice(0, goneFilesMax);
  const texts = await Promise.all(paths.map(({ path }) => lab.textAt("base", path)));
  return texts.flatMap((text) => text ?? []);
}
