// rewound: finds landed work that is no longer on its branch, because somebody moved the branch
// back, and asks a person about it once.

import { listSome } from "../../kit/list-some.ts";
import type { PortfolioChange } from "../../contracts/portfolio/portfolio-journal.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { findChosenOption, readQuestionKind, type Question } from "../planner/questions.ts";
import { type BlockView, listOpenBlocks, type PortfolioView } from "../planner/state.ts";
import { ask } from "../store/ask.ts";
import type { PortfolioPaths } from "../store/folder.ts";
import { withPortfolio } from "../store/open.ts";
import type { Exchange } from "../worker/git-exchange.ts";
import { type LandingObstacle, passingObstacle } from "./landing-obstacles.ts";

/** How many of the newest landings are looked for on the branch. */
const landingsMax = 50;
const namesShownMax = 5;

export type BranchTip = {
  readonly repository: string;
  readonly target: string;
  readonly tip: string;
};

/**
 * Why nothing lands before a person has answered; null if all landed work is on the branch, or a
 * person has said to go on without it.
 */
export async function whyRewound(
  { context, paths }: { readonly context: CommandContext; readonly paths: PortfolioPaths },
  exchange: Exchange,
  state: PortfolioView,
  branch: BranchTip,
): Promise<string | null> {
  const lost = await findLostTasks(exchange.isWithin, state, branch);
  const [firstTask] = lost;
  const questionStart = describeMove(branch);

  const findOutdated = (view: PortfolioView): readonly BlockView[] =>
    listOpenBlocks(view).filter(
      (block) =>
        readQuestionKind(block) === "rewound" &&
        block.question.startsWith(questionStart) &&
        block.about !== lost.join("\n"),
    );

  if (firstTask === undefined) {
    if (findOutdated(state).length > 0) {
      await withPortfolio(context, paths, async (portfolio) =>
        portfolio.write(
          ...findOutdated(portfolio.state).map((block) => createClosing(block, "it is back")),
        ),
      );
    }

    return null;
  }

  const lossText = describeLoss(branch, lost);
  const isAnswered = await withPortfolio(context, paths, async (portfolio) => {
    const question: Question = {
      kind: "rewound",
      project_id: portfolio.state.tasks[firstTask]?.project_id ?? null,
      task_id: null,
      question: `${lossText}. Go on without?`,
      expected_action: "move the branch back to where it was, or answer A",
      impact: "nothing more lands there before",
      options: { A: "go on; add tasks for what is still wanted" },
      about: lost.join("\n"),
      asked_by: null,
    };

    const earlierQuestions = findQuestionsAbout(portfolio.state, lost);
    if (earlierQuestions.some(isAgreed)) return true;
    const outdatedBlocks = findOutdated(portfolio.state);

    if (!earlierQuestions.some(({ resolved_at }) => resolved_at === null)) {
      await portfolio.write(ask(question, portfolio.now(), "system", outdatedBlocks[0]?.block_id));
    }

    if (outdatedBlocks.length > 0) {
      await portfolio.write(
        ...outdatedBlocks.map((block) =>
          createClosing(block, "the branch was moved again, so it is asked again"),
        ),
      );
    }

    return false;
  });
  return isAnswered ? null : lossText;
}

const describeMove = ({ repository, target }: Omit<BranchTip, "tip">): string =>
  `${target} of ${repository} was moved back: `;

function describeLoss(branch: BranchTip, lost: readonly string[]): string {
  return `${describeMove(branch)}${listSome(lost, namesShownMax)} landed and ${lost.length === 1 ? "is" : "are"} not on it any more`;
}

const findQuestionsAbout = (state: PortfolioView, lost: readonly string[]): readonly BlockView[] =>
  Object.values(state.blocks).filter(
    (block) => readQuestionKind(block) === "rewound" && block.about === lost.join("\n"),
  );
const isAgreed = (block: BlockView): boolean => findChosenOption(block, block.answer ?? "") === "A";

/** The same for a command that only shows the state: nothing is asked or journaled. */
export async function inspectRewound(
  isWithin: Exchange["isWithin"],
  state: PortfolioView,
  branch: BranchTip,
): Promise<LandingObstacle | null> {
  const lost = await findLostTasks(isWithin, state, branch);
  const earlierQuestions = findQuestionsAbout(state, lost);
  if (lost.length === 0 || earlierQuestions.some(isAgreed)) return null;
  const isOpen = earlierQuestions.some(({ resolved_at }) => resolved_at === null);

  return isOpen
    ? passingObstacle(`${describeLoss(branch, lost)}; autopilot inbox`)
    : {
        why: `${describeLoss(branch, lost)}; move it back, or let a tick ask whether to go on without`,
        command: "autopilot portfolio tick",
      };
}

const createClosing = ({ block_id, content }: BlockView, answer: string): PortfolioChange => ({
  event: "block_resolved",
  actor: "system",
  reason_code: "ok",
  block_id,
  content,
  answer,
});

/**
 * The newest landed tasks that the branch doesn't contain, of at most `landingsMax`. The search
 * ends at the first that it contains: what landed earlier is below it.
 */
async function findLostTasks(
  isWithin: Exchange["isWithin"],
  state: PortfolioView,
  { repository, target, tip }: BranchTip,
): Promise<readonly string[]> {
  const landed = Object.values(state.tasks)
    .flatMap(({ task_id, landed: commit, project_id, changed }) => {
      const project = state.projects[project_id];
      return commit === null || project?.repository !== repository || project.target !== target
        ? []
        : [{ task_id, commit, changed }];
    })
    .toSorted((a, b) => b.changed - a.changed)
    .slice(0, landingsMax);

  const lost: string[] = [];
  for (const { task_id, commit } of landed) {
    if (await isWithin(commit, tip)) break;
    lost.push(task_id);
  }

  return lost;
}
