// judge: judges a turn's return and builds its result. Pure except for the submissions' memory.

import type { Says } from "../contracts/outcome.ts";
import type { ReportedUsage, TurnRequest, TurnResult } from "../ports/agent.ts";
import { handedBack } from "./acp/handed-back.ts";
import { asNonNegativeNumber, asRecord } from "./acp/untrusted-json.ts";
import { promiseIn } from "./promise.ts";
import type { Submissions, ReturnContext, ReturnOf } from "./returns/submissions.ts";
import { salvageable } from "./salvage.ts";
import { toolNames } from "./returns/tools.ts";

export type Judged =
  | { readonly says: Says; readonly claim: unknown; readonly warnings: readonly string[] }
  | { readonly errors: readonly string[] };

/** A return that repeats the prompt or the previous attempt's return is rejected. */
export const turnRequestContext = ({ prompt, previous }: Pick<TurnRequest, "prompt" | "previous">): ReturnContext =>
  previous === undefined ? { prompt } : { prompt, previous };

/**
 * The last result accepted by the submissions; else the last JSON in the answer, validated by the same schema; else what can be salvaged.
 */
export function judge(
  request: Pick<TurnRequest, "returns" | "prompt" | "previous">,
  returnOf: ReturnOf,
  submissions: Submissions,
  answer: string,
): Judged {
  const { returns } = request;
  const nothing = { says: {}, claim: null, warnings: [] };
  if (returns === null) return nothing;
  const accepted = submissions.accepted();
  if (accepted !== null) return { warnings: [], ...accepted };
  const context = turnRequestContext(request);
  const back = handedBack(answer);
  const verdict: ReturnType<ReturnOf> = back.found ? returnOf(returns.name, back.value, context) : { errors: [back.why] };
  if ("says" in verdict) return { says: verdict.says, claim: verdict.ok, warnings: verdict.warning === undefined ? [] : [verdict.warning] };
  for (const value of salvageable(answer)) {
    const again = returnOf(returns.name, value, context);
    if ("says" in again) return { says: again.says, claim: again.ok, warnings: [salvaged] };
  }
  // An agent that asks a person has nothing to return yet. An optional return may be omitted, but not be empty.
  const isExcused = (returns.isOptional && verdict.isJunk !== true) || submissions.question() !== null;
  if (!isExcused) return { errors: !back.found && submissions.mistakes().length > 0 ? submissions.mistakes() : verdict.errors };
  if (!back.found) return nothing;
  return { ...nothing, warnings: [`it handed back something that does not fit and was not needed: ${verdict.errors.join("; ")}`] };
}

const salvaged = "what it handed back is no JSON; it was read in good will";

/** The message to an agent whose return does not fit. */
export function askAgain(schema: object, errors: readonly string[], hasTools: boolean): string {
  const way = hasTools
    ? `Hand it in once more with \`${toolNames.submit}\`, or as one fenced block of JSON at the end of your answer`
    : "Hand it back once more, as one fenced block of JSON at the end of your answer";
  return [
    "What you handed back cannot be used:",
    ...errors.map((error) => `- ${error}`),
    "",
    `${way}, fitting this JSON Schema. Change nothing else.`,
    "",
    "```json-schema",
    JSON.stringify(schema, null, 2),
    "```",
  ].join("\n");
}

export function endedTurn(
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
  judged: Exclude<Judged, { errors: readonly string[] }>,
): Extract<TurnResult, { kind: "ended" }> {
  const { said, stop, usage, outside } = seen;
  const promised = request.promise === null ? { promised: false, announcedMore: false } : promiseIn(said, request.promise, seen.prompts);
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
