// judge-return: judges what an agent returned at the end of a turn, and builds the turn's result.
// Pure, except that it reads what was submitted (answer-tools/submissions.ts).

import type { Says } from "../contracts/outcome.ts";
import type { ReportedUsage, TurnRequest, TurnResult } from "../ports/agent.ts";
import { findReturnedJson } from "./turn/returned-json.ts";
import { asNonNegativeNumber, asRecord } from "./turn/untrusted-json.ts";
import { findPromise } from "./find-promise.ts";
import type { Submissions, ReturnContext, ValidateReturn } from "./answer-tools/submissions.ts";
import { findSalvageable } from "./salvage-json.ts";
import { toolNames } from "./answer-tools/tools.ts";

/** `says`: the facts that the return yields; `claim`: the return itself, which proves nothing. */
export type ReturnJudgement =
  | { readonly says: Says; readonly claim: unknown; readonly warnings: readonly string[] }
  | { readonly errors: readonly string[] };

/** A return that repeats the prompt or the previous attempt's return is rejected. */
export const toReturnContext = ({
  prompt,
  previous,
}: Pick<TurnRequest, "prompt" | "previous">): ReturnContext =>
  previous === undefined ? { prompt } : { prompt, previous };

/**
 * The last result accepted by the submissions; else the last JSON in the answer, validated by the
 * same schema; else what can be salvaged.
 */
export function judgeReturn(
  request: Pick<TurnRequest, "returns" | "prompt" | "previous">,
  validateReturn: ValidateReturn,
  submissions: Submissions,
  answer: string,
): ReturnJudgement {
  const { returns } = request;
  const noReturn = { says: {}, claim: null, warnings: [] };
  if (returns === null) return noReturn;
  const accepted = submissions.accepted();
  if (accepted !== null) return { warnings: [], ...accepted };
  const context = toReturnContext(request);
  const returned = findReturnedJson(answer);
  const judged: ReturnType<ValidateReturn> = returned.isFound
    ? validateReturn(returns.name, returned.value, context)
    : { errors: [returned.why] };
  if ("says" in judged) {
    return {
      says: judged.says,
      claim: judged.claim,
      warnings: judged.warning === undefined ? [] : [judged.warning],
    };
  }

  for (const value of findSalvageable(answer)) {
    const salvaged = validateReturn(returns.name, value, context);
    if ("says" in salvaged) {
      return { says: salvaged.says, claim: salvaged.claim, warnings: [salvagedWarning] };
    }
  }

  // An agent that asks a person has nothing to return yet. An optional return may be omitted, but
  // not be empty.
  const isExcused =
    (returns.isOptional && judged.isJunk !== true) || submissions.question() !== null;
  if (!isExcused) {
    return {
      errors:
        !returned.isFound && submissions.mistakes().length > 0
          ? submissions.mistakes()
          : judged.errors,
    };
  }

  if (!returned.isFound) return noReturn;
  return {
    ...noReturn,
    warnings: [
      `it handed back something that does not fit and was not needed: ${judged.errors.join("; ")}`,
    ],
  };
}

const salvagedWarning = "what it handed back is no JSON; it was read in good will";

/** The message to an agent whose return does not fit. */
export function composeCorrection(
  schema: object,
  errors: readonly string[],
  hasTools: boolean,
): string {
  const instruction = hasTools
    ? `Hand it in once more with \`${toolNames.submit}\`, or as one fenced block of JSON at the end of your answer`
    : "Hand it back once more, as one fenced block of JSON at the end of your answer";

  return [
    "What you handed back cannot be used:",
    ...errors.map((error) => `- ${error}`),
    "",
    `${instruction}, fitting this JSON Schema. Change nothing else.`,
    "",
    "```json-schema",
    JSON.stringify(schema, null, 2),
    "```",
  ].join("\n");
}

/** What was observed of a turn that ended normally. */
export type EndedTurnObservations = {
  readonly stop: string;
  readonly said: string;
  readonly prompts: readonly string[];
  readonly usage: ReportedUsage;
  /** Paths outside the layer that the agent reported as changed. */
  readonly outside: readonly string[];
  readonly confidence: unknown;
  readonly warnings: readonly string[];
};

export function createEndedTurn(
  request: Pick<TurnRequest, "promise">,
  submissions: Submissions,
  observed: EndedTurnObservations,
  judgement: Exclude<ReturnJudgement, { errors: readonly string[] }>,
): Extract<TurnResult, { kind: "ended" }> {
  const { said, stop, usage, outside } = observed;
  const noPromise = { promised: false, announcedMore: false };
  const promiseFacts =
    request.promise === null ? noPromise : findPromise(said, request.promise, observed.prompts);

  return {
    kind: "ended",
    stop,
    said,
    says: judgement.says,
    claim: judgement.claim,
    ...promiseFacts,
    confidence:
      parseConfidence(observed.confidence) ??
      parseConfidence(asRecord(judgement.claim)["confidence"]),
    usage,
    outside,
    warnings: [...judgement.warnings, ...observed.warnings],
    notes: submissions.notes(),
    question: submissions.question(),
    ...(submissions.options().length === 0 ? {} : { answers: submissions.options() }),
  };
}

/** A number from 0 to 1; null if it is anything else. */
function parseConfidence(value: unknown): number | null {
  const amount = asNonNegativeNumber(value);
  return amount !== null && amount <= 1 ? amount : null;
}
