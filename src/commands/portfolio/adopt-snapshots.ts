// adopt-snapshots: takes over what another tool's task pages say in their front matter, when a
// portfolio is created where they are.

import { join } from "node:path";
import type * as v from "valibot";
import { portfolioFiles, PortfolioTaskSnapshot } from "../../contracts/portfolio/portfolio.ts";
import { prioritiesMax, type TaskFields } from "../../contracts/portfolio/portfolio-journal.ts";
import { isRefused, readLocated } from "../../kit/located.ts";
import type { PortfolioView } from "../../portfolio/planner/state.ts";
import { parseCriterion } from "../../portfolio/planner/task-notation.ts";
import { readOwnFile } from "../../project/own-file.ts";
import { toActor, type CommandContext } from "../../project/command-context.ts";
import type { OpenPortfolio } from "../../portfolio/store/open.ts";
import { oneLine } from "../../views/wording.ts";

/** The lines between the first two lines `---` of a page. */
const frontMatterPattern = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*$/m;

type Snapshot = v.InferOutput<typeof PortfolioTaskSnapshot>;
type Warn = (problem: string) => void;

/**
 * Updates the tasks that came of the tool's events with what their pages say beyond. Returns a
 * warning for each page, criterion and dependency that is not taken over; a priority out of range
 * is left as it is.
 */
export async function adoptSnapshots(
  context: CommandContext,
  { paths, state, write }: OpenPortfolio,
): Promise<readonly string[]> {
  const warnings: string[] = [];
  for (const task_id of Object.keys(state.tasks)) {
    const name = `${portfolioFiles.tasks}/${task_id}.md`;
    const warn = (problem: string): void => {
      warnings.push(`${name}: ${problem}`);
    };

    const snapshot = readSnapshot(join(paths.pagesFolder, name), name, warn);
    if (snapshot === null) continue;

    const changes = collectChanges(snapshot, task_id, state, warn);
    if (Object.keys(changes).length === 0) continue;

    const system = { actor: toActor(context), reason_code: "ok" } as const;
    await write({ event: "task_updated", ...system, task_id, changes });
  }

  return warnings;
}

/** Null if the page has no front matter, or one that cannot be read. */
function readSnapshot(path: string, name: string, warn: Warn): Snapshot | null {
  const page = readOwnFile(path) ?? "";
  const frontMatter = frontMatterPattern.exec(page)?.[1];
  if (frontMatter === undefined) return null;

  const snapshot = readLocated(name, frontMatter, PortfolioTaskSnapshot);
  if (!isRefused(snapshot)) return snapshot.value;

  warn(`${snapshot.findings[0]?.message ?? "cannot be read"}; only its events count`);
  return null;
}

function collectChanges(
  { objective, acceptance_criteria, dependencies, priority }: Snapshot,
  task_id: string,
  { tasks }: PortfolioView,
  warn: Warn,
): Partial<TaskFields> {
  const changes: { -readonly [Name in keyof TaskFields]?: TaskFields[Name] } = {};
  if (objective !== undefined) changes.objective = objective;

  const criteria = collectCriteria(acceptance_criteria, warn);
  if (criteria.length > 0) changes.acceptance_criteria = criteria;

  const dependencyIds = Array.isArray(dependencies) ? dependencies : [];
  const isOtherTask = (id: string): boolean => tasks[id] !== undefined && id !== task_id;
  const knownIds = dependencyIds.filter(isOtherTask);
  for (const id of dependencyIds) {
    if (!isOtherTask(id)) warn(`it depends on ${oneLine(id, 60)}, which is no other task here`);
  }

  if (knownIds.length > 0) changes.dependencies = knownIds;
  if (isPriority(priority)) changes.priority = priority;
  return changes;
}

function collectCriteria(texts: unknown, warn: Warn): TaskFields["acceptance_criteria"] {
  const criteria: TaskFields["acceptance_criteria"] = [];
  for (const text of Array.isArray(texts) ? texts : []) {
    const criterion = typeof text === "string" ? parseCriterion(text) : "a criterion is not a text";
    if (typeof criterion === "string") {
      warn(`${criterion}; it is left out`); // a string says what is wrong with it
    } else {
      criteria.push(criterion);
    }
  }

  return criteria;
}

const isPriority = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= prioritiesMax;
