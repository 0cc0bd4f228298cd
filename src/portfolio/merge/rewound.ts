// rewound: landed work that is no longer on its branch, because the branch was moved back. It is asked about once.
// Invariants H1 and on: portfolio/planner/questions.ts.

import type { PortfolioChange } from "../../contracts/portfolio-journal.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { chosenOption, questionKind, type Question } from "../planner/questions.ts";
import { type BlockView, openBlocks, type PortfolioView } from "../planner/state.ts";
import { ask } from "../store/ask.ts";
import type { PortfolioPaths } from "../store/folder.ts";
import { withPortfolio } from "../store/open.ts";
import type { Exchange } from "../worker/git-exchange.ts";
import { type HeldUp, heldForNow } from "./held-up.ts";

/** So many of the newest landings are looked for. */
const landingsMax = 50;
const namesShown = 5;

export type Branch = { readonly repository: string; readonly target: string; readonly tip: string };

/** Why nothing more lands before a person has answered; null if everything that landed is there, or a person knows that it is not. */
export async function whyRewound(
  { context, paths }: { readonly context: CommandContext; readonly paths: PortfolioPaths },
  exchange: Exchange,
  state: PortfolioView,
  branch: Branch,
): Promise<string | null> {
  const lost = await lostFrom(exchange.holds, state, branch);
  const [first] = lost;
  const moved = movedBack(branch);
  const outdated = (view: PortfolioView): readonly BlockView[] =>
    openBlocks(view).filter(
      (block) => questionKind(block) === "rewound" && block.question.startsWith(moved) && block.about !== lost.join("\n"),
    );
  if (first === undefined) {
    if (outdated(state).length > 0)
      await withPortfolio(context, paths, async (open) => open.write(...outdated(open.state).map((block) => closed(block, "it is back"))));
    return null;
  }
  const what = lostWords(branch, lost);
  const isAnswered = await withPortfolio(context, paths, async (open) => {
    const question: Question = {
      kind: "rewound",
      project_id: open.state.tasks[first]?.project_id ?? null,
      task_id: null,
      question: `${what}. Go on without?`,
      expected_action: "move the branch back to where it was, or answer A",
      impact: "nothing more lands there before",
      options: { A: "go on; add tasks for what is still wanted" },
      about: lost.join("\n"),
      asked_by: null,
    };
    const same = askedAbout(open.state, lost);
    if (same.some(isAgreed)) return true;
    const old = outdated(open.state);
    if (!same.some(({ resolved_at }) => resolved_at === null)) await open.write(ask(question, open.now(), "system", old[0]?.block_id)); // H2
    if (old.length > 0) await open.write(...old.map((block) => closed(block, "the branch was moved again, so it is asked again")));
    return false;
  });
  return isAnswered ? null : what;
}

const movedBack = ({ repository, target }: Omit<Branch, "tip">): string => `${target} of ${repository} was moved back: `;

function lostWords(branch: Branch, lost: readonly string[]): string {
  const names = `${lost.slice(0, namesShown).join(", ")}${lost.length > namesShown ? ` and ${lost.length - namesShown} more` : ""}`;
  return `${movedBack(branch)}${names} landed and ${lost.length === 1 ? "is" : "are"} not on it any more`;
}

const askedAbout = (state: PortfolioView, lost: readonly string[]): readonly BlockView[] =>
  Object.values(state.blocks).filter((block) => questionKind(block) === "rewound" && block.about === lost.join("\n"));
const isAgreed = (block: BlockView): boolean => chosenOption(block, block.answer ?? "") === "A";

/** The same by a look that asks nothing yet. */
export async function lookForRewound(holds: Exchange["holds"], state: PortfolioView, branch: Branch): Promise<HeldUp | null> {
  const lost = await lostFrom(holds, state, branch);
  const same = askedAbout(state, lost);
  if (lost.length === 0 || same.some(isAgreed)) return null;
  const isOpen = same.some(({ resolved_at }) => resolved_at === null);
  return isOpen
    ? heldForNow(`${lostWords(branch, lost)}; autopilot inbox`)
    : { why: `${lostWords(branch, lost)}; move it back, or let a tick ask whether to go on without`, command: "autopilot portfolio tick" };
}

const closed = ({ block_id, content }: BlockView, answer: string): PortfolioChange => ({
  event: "block_resolved",
  actor: "system",
  reason_code: "ok",
  block_id,
  content,
  answer,
});

/** The newest landing decides for all: only if the branch does not have it are the others searched. */
async function lostFrom(holds: Exchange["holds"], state: PortfolioView, { repository, target, tip }: Branch): Promise<readonly string[]> {
  const landed = Object.values(state.tasks)
    .flatMap(({ task_id, landed: commit, project_id, changed }) => {
      const project = state.projects[project_id];
      return commit === null || project?.repository !== repository || project.target !== target ? [] : [{ task_id, commit, changed }];
    })
    .toSorted((a, b) => b.changed - a.changed)
    .slice(0, landingsMax);
  const lost: string[] = [];
  for (const { task_id, commit } of landed) {
    if (await holds(commit, tip)) break;
    lost.push(task_id);
  }
  return lost;
}
