// question-box: renders a question for a person as a box: the facts, the answers by their keys and
// the recommendation. Every flow uses it.

import type { Scalar } from "../contracts/flow.ts";
import { ownValue } from "../core/own-values.ts";
import { cursorSteps } from "../core/selectors.ts";
import type { RunView } from "../core/state.ts";
import { fewLines, oneLine } from "./wording.ts";

type Block = RunView["blocks"][string];

const separator = "═".repeat(38);
const questionLinesMax = 12;

/** A question as data, for `--json` and for the box. */
export type Question = {
  readonly block: string;
  readonly question: string;
  readonly options: Readonly<Record<string, string>>;
  /** The options are suggestions: any text is an answer too. */
  readonly free?: boolean;
  readonly recommend: string | null;
  readonly why: string | null;
  /** Facts shown to the person who answers, by name. */
  readonly show: Readonly<Record<string, Scalar>>;
  readonly code: string;
  /** The phase that asks, with its name, if there may be several. */
  readonly phase?: string;
};

export function listQuestions(run: RunView): readonly Question[] {
  return Object.values(run.blocks).map((block) => ({
    block: block.block,
    question: block.question,
    options: block.options,
    ...(block.free === true ? { free: true } : {}),
    recommend: block.recommend,
    why: findRecommendationReason(run, block),
    show: findFacts(run, block),
    code: block.code,
    ...findAskingPhase(run, block),
  }));
}

/**
 * Two phases may ask the same question, so the person must know which of them asks. The question at
 * a session boundary belongs to no phase, and its box is a published format.
 */
function findAskingPhase(run: RunView, { cursor, code }: Block): { readonly phase?: string } {
  if (code === "session_boundary") return {};
  const arePhasesRead = "read" in run.drafted.flow.phases; // a flow that names its phases words its own questions
  const asker = arePhasesRead
    ? run.phases.find(({ id }) => id === ownValue(run.cursors, cursor)?.phase)
    : undefined;
  if (asker?.group !== "phases") return {};
  const nameText = asker.name === "" || asker.name === asker.id ? "" : ` (${oneLine(asker.name)})`;

  return { phase: `Phase ${asker.id}${nameText}` };
}

/**
 * The question as lines for a terminal. `patch`: the lines of the change that the question is
 * about.
 */
export function renderQuestionBox(
  { block, question, options, free, recommend, why, show, phase }: Question,
  patch: readonly string[] = [],
): readonly string[] {
  const facts = Object.entries(show).map(
    ([name, value]) => `${name.replaceAll("_", " ")}: ${oneLine(String(value))}`,
  );

  const keys = Object.keys(options);
  const reason = why === null ? "" : ` — ${oneLine(why)}`;
  const advice = recommend === null ? [] : [`Recommendation: ${recommend}${reason}`, separator];

  return [
    separator,
    ...fewLines(
      `DECISION REQUIRED: ${phase === undefined ? "" : `${phase}: `}${question}`,
      questionLinesMax,
    ),
    separator,
    ...facts.map((fact) => `  ${fact}`),
    ...(facts.length === 0 ? [] : [separator]),
    ...patch.map((line) => `  ${line}`),
    ...(patch.length === 0 ? [] : [separator]),
    ...(keys.length === 0
      ? [`Answer in your own words: autopilot answer --block '${oneLine(block)}' "…"`]
      : []),
    ...keys.map((key) => `${key}) ${oneLine(options[key] ?? "")}`),
    ...(free === true && keys.length > 0 ? ["Or answer in your own words."] : []),
    separator,
    ...advice,
  ];
}

/** Why the flow recommends an answer; null for a question that the runner or an agent asks. */
function findRecommendationReason(run: RunView, block: Block): string | null {
  const cursor = ownValue(run.cursors, block.cursor);
  if (cursor === undefined || block.house) return null;
  return cursorSteps(run, cursor).find(({ id }) => id === block.step)?.human?.why ?? null;
}

/** Facts that steps of the same cursor found, by the names the question wants shown. */
function findFacts(run: RunView, { cursor: path, show }: Block): Record<string, Scalar> {
  const outcomes = Object.values(ownValue(run.cursors, path)?.last ?? {});
  return Object.fromEntries(
    show.flatMap((name) => {
      const value = outcomes.findLast(({ facts }) => facts[name] !== undefined)?.facts[name];
      return value === undefined || value === "" ? [] : [[name, value]];
    }),
  );
}
