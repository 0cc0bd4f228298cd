// tests-patch: reads the exact change of the tests that a question is about, for the person who answers it.

import type { RunView } from "../../core/state.ts";
import { visible } from "../../kit/visible.ts";
import { plural, quoteArgument } from "../../views/wording.ts";
import { readFilePatch, hasCommits } from "../../workspace/git/diff.ts";
import type { ProjectPaths } from "./project-paths.ts";
import { findRepository } from "../../workspace/git/repository.ts";

const linesMax = 16;
const lineCharsMax = 96;

/** The changed lines, file by file; empty for any other question, and if the commits are not here. */
export async function readTestsPatch(project: Pick<ProjectPaths, "root">, run: RunView, block: string): Promise<readonly string[]> {
  const paths = run.blocks[block]?.tests?.paths ?? [];
  const [base, tip] = [run.drafted.base.commit, run.tip.commit];
  const lookup = paths.length === 0 ? null : await findRepository(project.root);
  if (lookup === null || !("repository" in lookup) || !(await hasCommits(lookup.repository, [base, tip]))) return [];
  const lines: string[] = [];
  for (const path of paths) {
    if (lines.length > linesMax) break;
    const { text } = await readFilePatch(lookup.repository, base, tip, path);
    const changed = text.trimEnd().split("\n");
    lines.push(...changed.filter((line) => !/^(?:diff --git |index )/.test(line))); // for `git apply`, not for a reader
  }
  const shown = lines.slice(0, linesMax).map((line) => visible(line).slice(0, lineCharsMax));
  if (lines.length <= linesMax) return shown;
  return [...shown, `… ${plural(lines.length - linesMax, "more line")}: autopilot diff --file ${quoteArgument(paths[0] ?? "")}`];
}
