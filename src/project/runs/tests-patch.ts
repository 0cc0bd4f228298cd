// tests-patch: reads the first lines of the change of tests that a question is about, for the
// person who answers it.

import type { RunView } from "../../core/state.ts";
import { visible } from "../../kit/visible.ts";
import { plural, quoteArgument } from "../../views/wording.ts";
import { readFilePatch, hasCommits } from "../../workspace/git/diff.ts";
import type { ProjectPaths } from "./project-paths.ts";
import { findRepository } from "../../workspace/git/repository.ts";

const linesMax = 16;
const lineCharsMax = 96;

/**
 * The changed lines, file by file, as many as a box has room for; empty for any other question, and
 * if the commits are not here.
 */
export async function readTestsPatch(
  project: Pick<ProjectPaths, "root">,
  run: RunView,
  block: string,
): Promise<readonly string[]> {
  const paths = run.blocks[block]?.tests?.paths ?? [];
  const [base, tip] = [run.drafted.base.commit, run.tip.commit];
  const lookup = paths.length === 0 ? null : await findRepository(project.root);
  if (
    lookup === null ||
    !("repository" in lookup) ||
    !(await hasCommits(lookup.repository, [base, tip]))
  ) {
    return [];
  }

  const lines: string[] = [];
  for (const [index, path] of paths.entries()) {
    const { text } = await readFilePatch(lookup.repository, base, tip, path);
    const changed = text.trimEnd().split("\n");
    lines.push(...changed.filter((line) => !/^(?:diff --git |index )/.test(line))); // for `git apply`, not for a reader

    if (lines.length > linesMax) {
      return [
        ...lines.slice(0, linesMax).map(toShownLine),
        describeRest(lines.length - linesMax, paths.slice(index)),
      ];
    }
  }

  return lines.map(toShownLine);
}

const toShownLine = (line: string): string => visible(line).slice(0, lineCharsMax);

/** What is not shown: the end of one file, and the files after it, which are not read. */
function describeRest(lineCount: number, [path = "", ...others]: readonly string[]): string {
  const command =
    others.length === 0 ? `autopilot diff --file ${quoteArgument(path)}` : "autopilot diff";
  return `… ${plural(lineCount, "more line")} of ${visible(path)}${others.length === 0 ? "" : `, and ${plural(others.length, "more file")}`}: ${command}`;
}
