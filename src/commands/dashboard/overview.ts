// overview: every run here, with what waits for a person, what landed today and what was verified.

import { onlyDetects } from "../../contracts/isolation-levels.ts";
import type { FollowedRun, UnreadableRun } from "./followed-runs.ts";
import { isReadable, readLiveLine } from "./followed-runs.ts";
import { hashQuestion } from "../../project/question-hash.ts";
import { type AttentionItem, listAttention } from "../../views/facts/attention.ts";
import type { AnswerRecord, DayCounts } from "../../views/facts/run-index.ts";
import { buildRunCard, type RunCard } from "../../views/facts/run-card.ts";
import { parseIsoTime } from "../../kit/iso-time.ts";
import type { PortfolioView } from "../../portfolio/planner/state.ts";
import { listTasksNeedingPerson } from "../../portfolio/planner/needs-person.ts";
import { listOpenBlocks } from "../../portfolio/planner/state.ts";
import { describeWaiting, listWaitingIds } from "../../portfolio/planner/questions.ts";
import { answerArgument } from "../../views/wording.ts";

export type Overview = {
  readonly at: string;
  readonly name: string;
  readonly user: string;
  readonly product: string;
  readonly runs: readonly RunCard[];
  readonly unreadable: readonly {
    readonly key: string;
    readonly run: string;
    readonly problem: string;
  }[];
  /** Runs beyond those that are listed. */
  readonly more: number;
  readonly attention: readonly AttentionItem[];
  readonly answered: readonly (AnswerRecord & { readonly project: string })[];
  readonly today: DayCounts;
  readonly live: Readonly<Record<string, string>>;
  readonly hasPortfolio: boolean;
  /** Whether a shared store is configured. */
  readonly hasStore: boolean;
  /** Why pages may not act before the terminal's code was typed; null if they may. */
  readonly weak: string | null;
};

const runsShownMax = 300;
const answersShownMax = 20;
/**
 * Larger weights are listed first; each also grows with the number of tasks that wait for the
 * answer.
 */
const questionWeight = 60;
const taskWeight = 50;

/** What the overview shows of one run; cached while the run does not change. */
export type RunSummary = { readonly card: RunCard; readonly attention: readonly AttentionItem[] };
export const summarizeRun = (run: FollowedRun): RunSummary => ({
  card: buildCard(run),
  attention: findAttention(run),
});

type OverviewContext = {
  readonly now: string;
  readonly name: string;
  readonly user: string;
  readonly product: string;
  readonly hasStore: boolean;
  readonly summaryOf: (run: FollowedRun) => RunSummary;
};

export function buildOverview(
  runs: readonly (FollowedRun | UnreadableRun)[],
  portfolio: PortfolioView | null,
  context: OverviewContext,
): Overview {
  const readable = runs.filter(isReadable);
  const cards = readable.map((run) => context.summaryOf(run).card);
  const today = context.now.slice(0, 10);
  const newest = cards.toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : -1));

  return {
    at: context.now,
    name: context.name,
    user: context.user,
    product: context.product,
    runs: newest.slice(0, runsShownMax),
    more: Math.max(0, newest.length - runsShownMax),
    unreadable: runs.flatMap((run) =>
      isReadable(run) ? [] : [{ key: run.key, run: run.run, problem: run.problem }],
    ),
    attention: [
      ...(portfolio === null ? [] : listPortfolioAttention(portfolio)),
      ...readable
        .filter(({ task }) => task === null)
        .flatMap((run) => context.summaryOf(run).attention),
    ].toSorted((a, b) => b.weight - a.weight || ((a.asked_at ?? "") < (b.asked_at ?? "") ? -1 : 1)),
    answered: readable
      .flatMap(({ index, project }) =>
        index.answers
          .filter(({ at }) => at.startsWith(today))
          .map((answer) => ({ ...answer, project })),
      )
      .toSorted((a, b) => (a.at < b.at ? 1 : -1))
      .slice(0, answersShownMax),
    today: readable.reduce((sum, { index }) => addCounts(sum, index.days[today]), { ...noCounts }),
    live: Object.fromEntries(
      readable.flatMap((run) => (run.owner === null ? [] : [[run.key, readLiveLine(run)]])),
    ),
    hasPortfolio: portfolio !== null,
    hasStore: context.hasStore,
    weak: findWeakness(readable),
  };
}

export const buildCard = ({ key, project, owner, foreign, index, view }: FollowedRun): RunCard =>
  buildRunCard(view, { key, project, owner, foreign, ended: index.ended });

const findAttention = ({
  view,
  key,
  project,
  owner,
  foreign,
  index,
  run,
}: FollowedRun): readonly AttentionItem[] =>
  listAttention(view, {
    key,
    project,
    owner,
    foreign,
    asked: index.asked,
    contentOf: (block, question) => hashQuestion(run, block, question),
  });

/**
 * Names an open run whose isolation only detects: its agent runs as the user and could read the
 * page's access token, so pages may not act before the terminal's code was typed.
 */
export function findWeakness(runs: readonly FollowedRun[]): string | null {
  const weakRun = runs.find(
    ({ view, foreign }) =>
      !foreign &&
      isUnderWay(view.status) &&
      onlyDetects(view.isolation?.level ?? view.drafted.isolation),
  );
  return weakRun === undefined
    ? null
    : `${weakRun.run} has isolation ${weakRun.view.isolation?.level ?? weakRun.view.drafted.isolation}`;
}

const isUnderWay = (status: string): boolean => status === "running" || status === "paused";

/** The questions and the tasks of a portfolio that wait for a person. */
const listPortfolioAttention = (state: PortfolioView): readonly AttentionItem[] => [
  ...listQuestions(state),
  ...listTasksNeedingPerson(state).map(({ task, why, commands, since }): AttentionItem => ({
    key: "portfolio",
    run: task.task_id,
    project: task.project_id,
    goal: task.objective,
    kind: "Task",
    id: task.task_id,
    phase: null,
    question: task.objective,
    options: [],
    free: false,
    recommend: null,
    why: `${task.task_id} is ${task.status}: ${why}.`,
    show: [],
    impact: "nobody works on it",
    weight: taskWeight + (state.dependents[task.task_id] ?? []).length,
    asked_at: since ?? task.changed_at,
    content: "",
    commands,
    foreign: false,
  })),
];

function listQuestions(state: PortfolioView): readonly AttentionItem[] {
  return listOpenBlocks(state).map((block) => {
    const waitingCount = listWaitingIds(block).reduce(
      (sum, id) => sum + (state.dependents[id] ?? []).length,
      0,
    );

    return {
      key: "portfolio",
      run: listWaitingIds(block)[0] ?? state.name,
      project: block.project_id ?? state.name,
      goal: block.expected_action,
      kind: "Question",
      id: block.block_id,
      phase: null,
      question: block.question,
      options: Object.entries(block.options).map(([key, text]) => ({ key, text })),
      free: Object.keys(block.options).length === 0,
      recommend: null,
      why: block.expected_action,
      show: [],
      impact:
        Object.keys(block.tasks).length > 1
          ? `${describeWaiting(block)}: ${block.impact}`
          : block.impact,
      weight: questionWeight + waitingCount,
      asked_at: parseIsoTime(block.opened_at) === null ? null : block.opened_at,
      content: block.content,
      commands: [
        `autopilot portfolio answer --block ${block.block_id} ${answerArgument(block.options)}`,
      ],
      foreign: false,
    };
  });
}

const noCounts: DayCounts = { checks: 0, claims: 0, refuted: 0, set_aside: 0, openings: 0 };

function addCounts(sum: DayCounts, day: DayCounts | undefined): DayCounts {
  if (day === undefined) return sum;
  return {
    checks: sum.checks + day.checks,
    claims: sum.claims + day.claims,
    refuted: sum.refuted + day.refuted,
    set_aside: sum.set_aside + day.set_aside,
    openings: sum.openings + day.openings,
  };
}
