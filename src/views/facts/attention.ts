// attention: lists everything in a run that waits for a person: questions, verdicts, and pauses
// that the user did not choose.

import { ownValue } from "../../core/own-values.ts";
import { isPausedFor, listOpenQuestions } from "../../core/selectors.ts";
import type { RunView } from "../../core/state.ts";
import { type ReasonCode, reasons } from "../../contracts/reason.ts";
import { findInterruption } from "../interruption.ts";
import { listQuestions } from "../question-box.ts";
import type { Owner } from "../next-actions.ts";
import { listNextActions } from "../next-actions.ts";
import { findReasonCode } from "../status.ts";
import { isVerdictQuestion, listOpenVerdicts } from "../verdicts.ts";
import { plural } from "../wording.ts";
import { isAnswered } from "./pause-detail.ts";
import { goalTitle } from "./run-card.ts";

export type AttentionItem = {
  readonly key: string;
  readonly run: string;
  readonly project: string;
  readonly goal: string;
  readonly kind: "Question" | "Verdict" | "Paused" | "Task";
  /** The block's id; `paused` for a pause. */
  readonly id: string;
  readonly phase: string | null;
  readonly question: string;
  readonly options: readonly { readonly key: string; readonly text: string }[];
  readonly free: boolean;
  readonly recommend: string | null;
  readonly why: string | null;
  /** Facts that the runner found, by name. */
  readonly show: readonly (readonly [string, string])[];
  readonly impact: string;
  /** How much waits for it; the item with the largest weight comes first. */
  readonly weight: number;
  readonly asked_at: string | null;
  /** Hash of the question: an answer to an earlier version of it is refused. */
  readonly content: string;
  readonly commands: readonly string[];
  readonly foreign: boolean;
};

type AttentionContext = {
  readonly key: string;
  readonly project: string;
  readonly owner: Owner;
  readonly foreign: boolean;
  readonly asked: Readonly<Record<string, string>>;
  /** Binds an answer to what was shown. */
  readonly hashQuestionOf: (block: string, question: string) => string;
};

/**
 * What an item weighs at least: a question that holds a whole run or one phase, and a pause; a
 * portfolio's question, and a task of it. Each phase or task that waits directly for it adds 1.
 */
export const attentionWeights = {
  heldRun: 100,
  portfolioQuestion: 60,
  pause: 50,
  portfolioTask: 50,
  heldPhase: 10,
} as const;

/**
 * Pauses that the user chose wait for no one; nor do those that end by themselves, which are
 * parked.
 */
const chosenPauses: ReadonlySet<string> = new Set([
  "operator_paused",
  "boundary_reached",
  "session_boundary",
  "checkpoint_reached",
]);

/** The run's questions; only if it has none, the pause that a person should end. */
export function listAttention(view: RunView, context: AttentionContext): readonly AttentionItem[] {
  const questions = listQuestionItems(view, context);
  return questions.length > 0 ? questions : listPauseItems(view, context);
}

const commonFields = (view: RunView, { key, project, foreign }: AttentionContext) => ({
  key,
  run: view.drafted.run_id,
  project,
  goal: goalTitle(view.drafted.objective.goal),
  foreign,
});

function listQuestionItems(view: RunView, context: AttentionContext): readonly AttentionItem[] {
  const openBlocks = new Map(listOpenQuestions(view).map((block) => [block.block, block]));
  const verdicts = new Map(listOpenVerdicts(view).map(({ block, phase }) => [block.block, phase]));
  return listQuestions(view).flatMap((question) => {
    const block = openBlocks.get(question.block);
    if (block === undefined) return [];
    const isHeld = isPausedFor(view, block) || block.hold;
    const phase = ownValue(view.cursors, block.cursor)?.phase ?? "";
    const dependents = view.phases.filter((candidate) => candidate.after.includes(phase)).length;

    return {
      ...commonFields(view, context),
      kind: isVerdictQuestion(block) ? ("Verdict" as const) : ("Question" as const),
      id: block.block,
      phase: verdicts.get(block.block) ?? null,
      question:
        question.phase === undefined
          ? question.question
          : `${question.phase}: ${question.question}`,
      options: Object.entries(question.options).map(([key, text]) => ({ key, text })),
      free: question.free === true || Object.keys(question.options).length === 0,
      recommend: question.recommend,
      why: question.why,
      show: [
        ...Object.entries(question.show).map(
          ([name, value]) => [name.replaceAll("_", " "), String(value)] as const,
        ),
        ...changedTests(view, block),
      ],
      impact: describeImpact(view.status, isHeld, dependents),
      weight: (isHeld ? attentionWeights.heldRun : attentionWeights.heldPhase) + dependents,
      asked_at: context.asked[block.block] ?? null,
      content: context.hashQuestionOf(block.block, block.question),
      commands: [
        isVerdictQuestion(block)
          ? `autopilot verdict ${verdicts.get(block.block) ?? phase} …`
          : `autopilot answer --block '${block.block}' …`,
      ],
    };
  });
}

/** Each changed test that a question is about, and how it was changed. */
const changedTests = (
  { oracles }: RunView,
  { tests }: RunView["blocks"][string],
): readonly (readonly [string, string])[] =>
  (oracles?.changes ?? [])
    .filter(({ path }) => tests?.paths.includes(path) === true)
    .map(({ path, how, detail }) => [path, `${how}: ${detail}`]);

function describeImpact(status: string, isHeld: boolean, dependents: number): string {
  if (isHeld) {
    return status === "paused"
      ? "The run is paused until you answer."
      : "The run stops here until you answer.";
  }

  return dependents === 0
    ? "Only this phase waits; the rest goes on."
    : `This phase waits, and ${plural(dependents, "phase")} after it; the rest goes on.`;
}

function describePause(view: RunView, owner: Owner, code: ReasonCode): string {
  if (findInterruption(view, owner) !== null) {
    return "The run was interrupted: nobody works on it. Go on?";
  }

  return isAnswered(view)
    ? "Your answer is recorded. The run goes on when you resume it."
    : reasons[code].meaning;
}

function listPauseItems(view: RunView, context: AttentionContext): readonly AttentionItem[] {
  const code = findReasonCode(view, context.owner);
  const isUnattended = view.status === "running" && context.owner === null;
  if (
    !isUnattended &&
    (view.status !== "paused" || view.parked !== undefined || chosenPauses.has(code))
  ) {
    return [];
  }

  return [
    {
      ...commonFields(view, context),
      kind: "Paused",
      id: "paused",
      phase: null,
      question: describePause(view, context.owner, code),
      options: [],
      free: false,
      recommend: null,
      why: null,
      show: view.detail === null || isAnswered(view) ? [] : [["Detail", view.detail]],
      impact: "Nothing is lost by waiting.",
      weight: attentionWeights.pause,
      asked_at: view.updatedAt,
      content: "",
      commands: listNextActions(view, context.owner, { isCurrent: false }),
    },
  ];
}
