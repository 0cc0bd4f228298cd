// choose-box: a question for a person as a box of lettered answers, with what is to be known and what is recommended. One for every flow.

import type { Scalar } from "../contracts/flow.ts";
import { own } from "../core/record.ts";
import { cursorSteps } from "../core/selectors.ts";
import type { RunView } from "../core/state.ts";
import { fewLines, oneLine } from "./wording.ts";

type Block = RunView["blocks"][string];

const rule = "═".repeat(38);
const questionLinesMax = 12;

/** The same for programs. */
export type Question = {
  readonly block: string;
  readonly question: string;
  readonly options: Readonly<Record<string, string>>;
  /** The options are suggestions: any words are an answer too. */
  readonly free?: boolean;
  readonly recommend: string | null;
  readonly why: string | null;
  /** Facts shown to the person who answers, by name. */
  readonly show: Readonly<Record<string, Scalar>>;
  readonly code: string;
  /** Of several phases the one that it is about, with its name. */
  readonly phase?: string;
};

export function runQuestions(run: RunView): readonly Question[] {
  return Object.values(run.blocks).map((block) => ({
    block: block.block,
    question: block.question,
    options: block.options,
    ...(block.free === true ? { free: true } : {}),
    recommend: block.recommend,
    why: runWhy(run, block),
    show: shownFacts(run, block),
    code: block.code,
    ...runPhase(run, block),
  }));
}

/**
 * Two phases may ask the same question: the person must know which of them does. A boundary is between two, and its box is a published
 * format.
 */
function runPhase(run: RunView, { cursor, code }: Block): { readonly phase?: string } {
  if (code === "session_boundary") return {};
  const isRead = "read" in run.drafted.flow.phases; // a flow that names its phases words its own questions
  const asker = isRead ? run.phases.find(({ id }) => id === own(run.cursors, cursor)?.phase) : undefined;
  if (asker?.group !== "phases") return {};
  return { phase: `Phase ${asker.id}${asker.name === "" || asker.name === asker.id ? "" : ` (${oneLine(asker.name)})`}` };
}

/** `patch`: the change that it is about. */
export function chooseBox(
  { block, question, options, free, recommend, why, show, phase }: Question,
  patch: readonly string[] = [],
): readonly string[] {
  const facts = Object.entries(show).map(([name, value]) => `${name.replaceAll("_", " ")}: ${oneLine(String(value))}`);
  const keys = Object.keys(options);
  const advice = recommend === null ? [] : [`Recommendation: ${recommend}${why === null ? "" : ` — ${oneLine(why)}`}`, rule];
  return [
    rule,
    ...fewLines(`DECISION REQUIRED: ${phase === undefined ? "" : `${phase}: `}${question}`, questionLinesMax),
    rule,
    ...facts.map((fact) => `  ${fact}`),
    ...(facts.length === 0 ? [] : [rule]),
    ...patch.map((line) => `  ${line}`),
    ...(patch.length === 0 ? [] : [rule]),
    ...(keys.length === 0 ? [`Answer in your own words: autopilot answer --block '${oneLine(block)}' "…"`] : []),
    ...keys.map((key) => `${key}) ${oneLine(options[key] ?? "")}`),
    ...(free === true && keys.length > 0 ? ["Or answer in your own words."] : []),
    rule,
    ...advice,
  ];
}

/** Why the flow recommends it. A question of the house, or one of an agent, has no such words. */
function runWhy(run: RunView, block: Block): string | null {
  const cursor = own(run.cursors, block.cursor);
  if (cursor === undefined || block.house) return null;
  return cursorSteps(run, cursor).find(({ id }) => id === block.step)?.human?.why ?? null;
}

/** Facts that steps of the same cursor found, by the names the question wants shown. */
function shownFacts(run: RunView, { cursor: path, show }: Block): Record<string, Scalar> {
  const outcomes = Object.values(own(run.cursors, path)?.last ?? {});
  return Object.fromEntries(
    show.flatMap((name) => {
      const value = outcomes.findLast(({ facts }) => facts[name] !== undefined)?.facts[name];
      return value === undefined || value === "" ? [] : [[name, value]];
    }),
  );
}
