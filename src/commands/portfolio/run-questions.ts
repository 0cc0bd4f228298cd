// run-questions: lists the questions of runs that a person started by hand in a portfolio's folder
// or in the repositories of its projects. They wait for the same person, so they are in the same
// inbox.

import { resolve } from "node:path";
import { listOpenQuestions } from "../../core/selectors.ts";
import { ageMs } from "../../kit/iso-time.ts";
import type { PortfolioView } from "../../portfolio/planner/state.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { findProject, listRuns, type ProjectPaths } from "../../project/runs/project-paths.ts";
import { readRunOrNull } from "../../project/runs/read-run.ts";
import { isOwnRun } from "../../project/runs/run-binding.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import { answerArgument } from "../../views/wording.ts";
import { hashQuestion } from "../../project/question-hash.ts";

export type InboxRow = {
  readonly block: string;
  readonly project: string | null;
  readonly task: string | null;
  /** All tasks that wait, if one cause keeps several of them waiting. */
  readonly tasks: readonly string[];
  /** Who waits for the answer, in a line. */
  readonly who: string;
  readonly question: string;
  readonly expected_action: string;
  readonly impact: string;
  readonly options: Readonly<Record<string, string>>;
  readonly age_ms: number;
  readonly content: string;
  readonly command: string;
};
export type RunQuestion = InboxRow & { readonly run: string; readonly directory: string };

/** Only questions of this user's own runs. */
export async function listRunQuestions(
  context: CommandContext,
  { projects }: PortfolioView,
): Promise<readonly RunQuestion[]> {
  const projectsByRoot = new Map<
    string,
    { readonly paths: ProjectPaths; readonly project: string | null }
  >();

  const addProject = (directory: string, project: string | null): void => {
    const paths = findProject(directory);
    if (paths !== null && !projectsByRoot.has(paths.root)) {
      projectsByRoot.set(paths.root, { paths, project });
    }
  };

  for (const { project_id, repository } of Object.values(projects)) {
    if (repository !== null) addProject(repository, project_id);
  }

  addProject(resolve(context.cwd), null);
  const questions: RunQuestion[] = [];

  for (const { paths, project } of projectsByRoot.values()) {
    for (const run of listRuns(paths)) {
      const view = isOwnRun(context, paths, run)
        ? (await readRunOrNull(paths, run))?.view
        : undefined;

      for (const { block, question, options } of view === undefined
        ? []
        : listOpenQuestions(view)) {
        questions.push({
          run,
          directory: paths.root,
          block,
          project,
          task: null,
          tasks: [],
          who: project ?? "portfolio",
          question,
          expected_action: "answer, then autopilot resume",
          impact: `${run} is ${view?.status ?? ""}`,
          options,
          age_ms: ageMs(view?.updatedAt ?? "", systemClock.now()),
          content: hashQuestion(run, block, question),
          command: `autopilot answer -C "${paths.root}" --run ${run} --block "${block}" ${answerArgument(options)}`,
        });
      }
    }
  }

  return questions;
}
