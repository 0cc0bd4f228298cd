// judge-return: judges a turn's return and builds its result. Pure except for the submissions' memory.

import type { Says } from "../contracts/outcome.ts";
import type { ReportedUsage, TurnRequest, TurnResult } from "../ports/agent.ts";
import { findReturnedJson } from "./acp/returned-json.ts";
import { asNonNegativeNumber, asRecord } from "./acp/untrusted-json.ts";
import { findPromise } from "./find-promise.ts";
import type { Submissions, ReturnContext, ValidateReturn } from "./returns/submissions.ts";
import { findSalvageable } from "./salvage-json.ts";
import { toolNames } from "./returns/tools.ts";

export type ReturnJudgement =
  | { readonly says: Says; readonly claim: unknown; readonly warnings: readonly string[] }
  | { readonly errors: readonly string[] };

/** A return that repeats the prompt or the previous attempt's return is rejected. */
export const toReturnContext = ({ prompt, previous }: Pick<TurnRequest, "prompt" | "previous">): ReturnContext =>
  previous === undefined ? { prompt } : { prompt, previous };

/**
 * The last result accepted by the submissions; else the last JSON in the answer, validated by the same schema; else what can be salvaged.
 */
export function judgeReturn(
  request: Pick<TurnRequest, "returns" | "prompt" | "previous">,
  validateReturn: ValidateReturn,
  submissions: Submissions,
  answer: string,
): ReturnJudgement {
  const { returns } = request;
  const nothing = { says: {}, claim: null, warnings: [] };
  if (returns === null) return nothing;
  const accepted = submissions.accepted();
  if (accepted !== null) return { warnings: [], ...accepted };
  const context = toReturnContext(request);
  const returned = findReturnedJson(answer);
  const verdict: ReturnType<ValidateReturn> = returned.found
    ? validateReturn(returns.name, returned.value, context)
    : { errors: [returned.why] };
  if ("says" in verdict) return { says: verdict.says, claim: verdict.ok, warnings: verdict.warning === undefined ? [] : [verdict.warning] };
  for (const value of findSalvageable(answer)) {
    const salvagedVerdict = validateReturn(returns.name, value, context);
    if ("says" in salvagedVerdict) return { says: salvagedVerdict.says, claim: salvagedVerdict.ok, warnings: [salvagedWarning] };
  }
  // An agent that asks a person has nothing to return yet. An optional return may be omitted, but not be empty.
  const isExcused = (returns.isOptional && verdict.isJunk !== true) || submissions.question() !== null;
  if (!isExcused) return { errors: !returned.found && submissions.mistakes().length > 0 ? submissions.mistakes() : verdict.errors };
  if (!returned.found) return nothing;
  return { ...nothing, warnings: [`it handed back something that does not fit and was not needed: ${verdict.errors.join("; ")}`] };
}

const salvagedWarning = "what it handed back is no JSON; it was read in good will";

/** The message to an agent whose return does not fit. */
export function composeCorrection(schema: object, errors: readonly string[], hasTools: boolean): string {
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

export function createEndedTurn(
  request: Pick<TurnRequest, "promise">,
  submissions: Submissions,
  seen: {
    readonly stop: string;
    readonly said: string;
    readonly prompts: readonly string[];
    readonly usage: ReportedUsage;
    readonly outside: readonly string[];
    readonly confidence: unknown;
    readonly warnings: readonly string[];
  },
  judged: Exclude<ReturnJudgement, { errors: readonly string[] }>,
): Extract<TurnResult, { kind: "ended" }> {
  const { said, stop, usage, outside } = seen;
  const promised = request.promise === null ? { promised: false, announcedMore: false } : findPromise(said, request.promise, seen.prompts);
  return {
    kind: "ended",
    stop,
    said,
    says: judged.says,
    claim: judged.claim,
    ...promised,
    confidence: parseConfidence(seen.confidence) ?? parseConfidence(asRecord(judged.claim)["confidence"]),
    usage,
    outside,
    warnings: [...judged.warnings, ...seen.warnings],
    notes: submissions.notes(),
    question: submissions.question(),
    ...(submissions.answers().length === 0 ? {} : { answers: submissions.answers() }),
  };
}

function parseConfidence(value: unknown): number | null {
  const amount = asNonNegativeNumber(value);
  return amount !== null && amount <= 1 ? amount : null;
}
