// inbox-list: lists every question that waits for a person, with the command that answers it.

import type { CommandResponse } from "../contracts/command-response.ts";
import { listOpenQuestions } from "../core/selectors.ts";
import type { RunView } from "../core/state.ts";
import { listQuestions } from "../views/question-box.ts";
import { answerLines, answerArgument, oneLine } from "../views/wording.ts";
import {
  isVerdictQuestion,
  composeVerdictCommand,
  type OpenVerdict,
  listOpenVerdicts,
} from "../views/verdicts.ts";
import { phaseOfPath } from "../insight/attempt-path.ts";
import { readEntries } from "../project/runs/read-entries.ts";
import type { ProjectPaths } from "../project/runs/project-paths.ts";
import type { CommandContext } from "../project/command-context.ts";
import { catchRefusals, respond } from "../project/respond.ts";
import { readTestsPatch } from "../project/runs/tests-patch.ts";
import { loadRun } from "../project/runs/loaded-run.ts";
import { hashQuestion } from "../project/question-hash.ts";

type WaitingQuestion = {
  readonly block: string;
  readonly question: string;
  readonly options: Readonly<Record<string, string>>;
  readonly recommend: string | null;
  /** Hash of the question: an answer to an earlier version of it is refused. */
  readonly content: string;
  readonly show: readonly string[];
  /** The phase that waits for a verdict, with the tasks that only a person can judge. */
  readonly phase?: string;
  readonly tasks?: readonly string[];
  /** What the question shows of these tasks: their titles in the plan. */
  readonly about?: readonly string[];
  readonly command: string;
};

/** Lists the verdicts that phases wait for first, then every other open question. */
export function inbox(
  context: CommandContext,
  input: { readonly run?: string | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const { paths, run, view } = await loadRun(context, input.run);
    const verdicts = listOpenVerdicts(view);
    const verdictQuestions = await readVerdictQuestions(paths, run, view, verdicts);
    const otherQuestions = listOtherQuestions(run, view);
    const blocks = [...verdictQuestions, ...otherQuestions];
    const waits = blocks.length === 1 ? "question waits" : "questions wait";
    const message =
      blocks.length === 0 ? "No question waits for you." : `${blocks.length} ${waits} for you.`;
    const patches = new Map<string, readonly string[]>();

    for (const { block } of otherQuestions) {
      patches.set(block, await readTestsPatch(paths, view, block));
    }

    const page = [
      ...verdictQuestions.flatMap((question, index) => verdictLines(question, verdicts[index])),
      ...otherQuestions.flatMap((question) =>
        questionLines(question, patches.get(question.block) ?? []),
      ),
    ];

    return respond("ok", {
      run_id: run,
      state: view.status,
      message,
      page: [message, ...page],
      data: { blocks },
    });
  });
}

/** The phases that wait for a person's verdict, in the order of `verdicts`. */
async function readVerdictQuestions(
  paths: ProjectPaths,
  run: string,
  view: RunView,
  verdicts: readonly OpenVerdict[],
): Promise<readonly WaitingQuestion[]> {
  const tasksLeft =
    verdicts.length === 0 ? new Map<string, readonly string[]>() : await readTasksLeft(paths, run);
  const shownByBlock = new Map(listQuestions(view).map(({ block, show }) => [block, show]));
  return verdicts.map(({ phase, block }): WaitingQuestion => ({
    ...questionFields(run, block),
    phase,
    tasks: tasksLeft.get(phase) ?? [],
    about: Object.values(shownByBlock.get(block.block) ?? {}).map(String),
    command: composeVerdictCommand(phase),
  }));
}

/** The open questions that aren't about a phase's verdict. */
function listOtherQuestions(run: string, view: RunView): readonly WaitingQuestion[] {
  const openBlocks = listOpenQuestions(view);
  const blockFlag = (block: string): string =>
    openBlocks.length === 1 ? "" : ` --block "${block}"`;
  return openBlocks
    .filter((block) => !isVerdictQuestion(block))
    .map((block): WaitingQuestion => ({
      ...questionFields(run, block),
      command: `autopilot answer${blockFlag(block.block)} ${answerArgument(block.options, block.recommend)}`,
    }));
}

const questionFields = (
  run: string,
  { block, question, options, recommend, show }: RunView["blocks"][string],
) => ({
  block,
  question,
  options,
  recommend,
  content: hashQuestion(run, block, question),
  show,
});

/** The tasks of each phase that its plan leaves to a person. */
async function readTasksLeft(
  paths: ProjectPaths,
  run: string,
): Promise<Map<string, readonly string[]>> {
  const tasksLeft = new Map<string, readonly string[]>();
  for (const entry of (await readEntries(paths, run)).entries) {
    if (entry.event === "tasks_read") tasksLeft.set(phaseOfPath(entry.attempt), entry.left);
  }

  return tasksLeft;
}

function verdictLines(
  { question, tasks = [], about = [], command }: WaitingQuestion,
  verdict: OpenVerdict | undefined,
): readonly string[] {
  const phase = verdict?.phase ?? "";
  const phaseName = verdict === undefined || verdict.name === "" ? "" : ` (${verdict.name})`;
  return [
    "",
    `Phase ${phase}${phaseName} needs your verdict`,
    `  ${question}`,
    ...(tasks.length === 0
      ? []
      : [`  Tasks left to you: ${tasks.join(", ")} in .planning/phases/${phase}/PLAN.md`]),
    ...about.map((text) => `  ${oneLine(text)}`),
    `  ${command}`,
  ];
}

const questionLines = (
  { question, options, recommend, command }: WaitingQuestion,
  patch: readonly string[],
): readonly string[] => [
  "",
  question,
  ...patch.map((line) => `    ${line}`),
  ...answerLines(options, recommend).map((line) => `  ${line}`),
  `  ${command}`,
];
