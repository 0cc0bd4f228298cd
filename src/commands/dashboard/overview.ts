// overview: builds the dashboard's overview: its runs, what waits for a person, what landed today.

import { onlyDetects } from "../../contracts/isolation-levels.ts";
import type { FollowedRun, UnreadableRun } from "./followed-runs.ts";
import { isReadable, readLiveLine } from "./followed-runs.ts";
import { hashQuestion } from "../../project/question-hash.ts";
import {
  type AttentionItem,
  attentionWeights,
  listAttention,
} from "../../views/facts/attention.ts";
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
  readonly unlistedRuns: number;
  readonly attention: readonly AttentionItem[];
  readonly answered: readonly (AnswerRecord & { readonly project: string })[];
  readonly today: DayCounts;
  /** What the process of a run shows of its work just now, by the run's key. */
  readonly liveLines: Readonly<Record<string, string>>;
  readonly hasPortfolio: boolean;
  /** Whether a shared store is configured. */
  readonly hasStore: boolean;
  /** Why pages may not act before the terminal's code was typed; null if they may. */
  readonly readOnlyBecause: string | null;
};

const runsShownMax = 300;
const answersShownMax = 20;

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
  const todayDate = context.now.slice(0, 10);
  const newestCards = cards.toSorted(byNewest(({ updated_at }) => updated_at));

  return {
    at: context.now,
    name: context.name,
    user: context.user,
    product: context.product,
    runs: newestCards.slice(0, runsShownMax),
    unlistedRuns: Math.max(0, newestCards.length - runsShownMax),
    unreadable: runs.flatMap((run) =>
      isReadable(run) ? [] : [{ key: run.key, run: run.run, problem: run.problem }],
    ),
    attention: [
      ...(portfolio === null ? [] : listPortfolioAttention(portfolio)),
      ...readable
        .filter(({ task }) => task === null)
        .flatMap((run) => context.summaryOf(run).attention),
    ].toSorted(byUrgency),
    answered: listAnsweredToday(readable, todayDate),
    today: readable.reduce((sum, { index }) => addCounts(sum, index.days[todayDate]), {
      ...noCounts,
    }),
    liveLines: Object.fromEntries(
      readable.flatMap((run) => (run.owner === null ? [] : [[run.key, readLiveLine(run)]])),
    ),
    hasPortfolio: portfolio !== null,
    hasStore: context.hasStore,
    readOnlyBecause: findReadOnlyReason(readable),
  };
}

function listAnsweredToday(
  runs: readonly FollowedRun[],
  todayDate: string,
): readonly (AnswerRecord & { readonly project: string })[] {
  const answers = runs.flatMap(({ index, project }) =>
    index.answers
      .filter(({ at }) => at.startsWith(todayDate))
      .map((answer) => ({ ...answer, project })),
  );
  return answers.toSorted(byNewest(({ at }) => at)).slice(0, answersShownMax);
}

/** The weightiest first; of the same weight, what was asked first. */
const byUrgency = (a: AttentionItem, b: AttentionItem): number =>
  b.weight - a.weight || ((a.asked_at ?? "") < (b.asked_at ?? "") ? -1 : 1);

/** Orders by an ISO time, the newest first. */
const byNewest =
  <T>(timeOf: (item: T) => string) =>
  (a: T, b: T): number =>
    timeOf(a) < timeOf(b) ? 1 : -1;

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
    hashQuestionOf: (block, question) => hashQuestion(run, block, question),
  });

/**
 * Names an open run whose isolation only detects: its agent runs as the user and could read the
 * page's access token, so pages may not act before the terminal's code was typed.
 */
export function findReadOnlyReason(runs: readonly FollowedRun[]): string | null {
  const exposedRun = runs.find(
    ({ view, foreign }) => !foreign && isOpen(view.status) && onlyDetects(levelOf(view)),
  );
  return exposedRun === undefined
    ? null
    : `${exposedRun.run} has isolation ${levelOf(exposedRun.view)}`;
}

/** The isolation in force; before the first turn, the one that was drafted. */
const levelOf = ({ isolation, drafted }: FollowedRun["view"]) =>
  isolation?.level ?? drafted.isolation;

const isOpen = (status: string): boolean => status === "running" || status === "paused";

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
    weight: attentionWeights.portfolioTask + (state.dependents[task.task_id] ?? []).length,
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
      weight: attentionWeights.portfolioQuestion + waitingCount,
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
