// adopt-snapshots: takes over what another tool's task pages say in their front matter, when a
// portfolio is created where they are.

import { join } from "node:path";
import { portfolioFiles, PortfolioTaskSnapshot } from "../../contracts/portfolio.ts";
import { prioritiesMax, type TaskFields } from "../../contracts/portfolio-journal.ts";
import { isRefused, readLocated } from "../../kit/located.ts";
import { parseCriterion } from "../../portfolio/planner/task-notation.ts";
import { readOwnFile } from "../../project/own-file.ts";
import { toActor, type CommandContext } from "../../project/command-context.ts";
import type { OpenPortfolio } from "../../portfolio/store/open.ts";
import { oneLine } from "../../views/wording.ts";

/** The lines between the first two lines `---` of a page. */
const frontMatterPattern = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*$/m;

/** Updates the tasks that came of the tool's events with what their pages say beyond. Returns a warning for each page, criterion and
 * dependency that is not taken over; a priority out of range is left as it is. */
export async function adoptSnapshots(
  context: CommandContext,
  { paths, state, write }: OpenPortfolio,
): Promise<readonly string[]> {
  const warnings: string[] = [];
  for (const task_id of Object.keys(state.tasks)) {
    const name = `${portfolioFiles.tasks}/${task_id}.md`;
    const frontMatter = frontMatterPattern.exec(
      readOwnFile(join(paths.pagesFolder, name)) ?? "",
    )?.[1];
    if (frontMatter === undefined) continue;
    const snapshot = readLocated(name, frontMatter, PortfolioTaskSnapshot);
    if (isRefused(snapshot)) {
      warnings.push(
        `${name}: ${snapshot.findings[0]?.message ?? "cannot be read"}; only its events count`,
      );

      continue;
    }

    const { objective, acceptance_criteria, dependencies, priority } = snapshot.value;
    const criteria = (Array.isArray(acceptance_criteria) ? acceptance_criteria : []).flatMap(
      (text) => {
        const criterion =
          typeof text === "string" ? parseCriterion(text) : "a criterion is not a text";
        if (typeof criterion !== "string") return [criterion];
        warnings.push(`${name}: ${criterion}; it is left out`); // a string says what is wrong with it

        return [];
      },
    );

    const dependencyIds = Array.isArray(dependencies) ? dependencies : [];
    const knownDependencies = dependencyIds.filter(
      (id) => state.tasks[id] !== undefined && id !== task_id,
    );

    for (const id of dependencyIds) {
      if (!knownDependencies.includes(id)) {
        warnings.push(`${name}: it depends on ${oneLine(id, 60)}, which is no other task here`);
      }
    }

    const changes: Partial<TaskFields> = {
      ...(objective === undefined ? {} : { objective }),
      ...(criteria.length === 0 ? {} : { acceptance_criteria: criteria }),
      ...(knownDependencies.length === 0 ? {} : { dependencies: knownDependencies }),
      ...(typeof priority === "number" &&
      Number.isInteger(priority) &&
      priority >= 1 &&
      priority <= prioritiesMax
        ? { priority }
        : {}),
    };
    if (Object.keys(changes).length > 0) {
      await write({
        event: "task_updated",
        actor: toActor(context),
        reason_code: "ok",
        task_id,
        changes,
      });
    }
  }

  return warnings;
}
