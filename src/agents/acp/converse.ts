// converse: the prompt, the answer, and asking again for a return that does not fit.

import type { ClientConnection, PromptResponse } from "@agentclientprotocol/sdk";
import { setTimeout as wait } from "node:timers/promises";
import type { Says } from "../../contracts/outcome.ts";
import type { TurnFacts, TurnMeta } from "../../contracts/script.ts";
import type { ReportedUsage, TurnOrder, TurnResult } from "../../ports/agent.ts";
import { promiseIn } from "../promise.ts";
import type { AgentProfile } from "../profiles.ts";
import type { Collector } from "./collector.ts";
import { TurnOver, type Watch } from "./ending.ts";
import { handedBack } from "./handed-back.ts";
import { insideOf } from "./inside.ts";
import type { AcpLimits } from "./limits.ts";
import { amountOf, recordOf, textOf } from "./loose.ts";
import { endedBy, failed, type Left, stoppedBy } from "./result.ts";
import { nothingUsed, usageAfter, type UsageBefore, usageOf } from "./usage.ts";

/** Judges what was handed back under a name: what of it may be routed on, or every mistake in words. */
export type ReturnOf = (
  name: string,
  value: unknown,
) => { readonly ok: unknown; readonly says: Says } | { readonly errors: readonly string[] };

export const asksMax = 2;
const rawCharsMax = 3000;

type Talk = {
  readonly order: TurnOrder;
  readonly seat: { readonly profile: AgentProfile; readonly returnOf: ReturnOf; readonly limits: AcpLimits };
  readonly connection: ClientConnection;
  readonly watch: Watch;
  readonly collector: Collector;
  readonly session: string;
  readonly isTakenUp: boolean;
  readonly left: (usage: ReportedUsage) => Left;
};

export async function converse(talk: Talk): Promise<TurnResult> {
  const { order, collector, left } = talk;
  const prompts = [order.prompt];
  const begun: TurnFacts[] = [...order.history];
  let before: UsageBefore = talk.isTakenUp ? null : nothingUsed;
  for (let again = 0; ; again += 1) {
    const facts = { ...order.facts, ask: order.facts.ask + again };
    const answered = await prompt(talk, prompts.at(-1) ?? "", { run: order.run, ...facts, history: [...begun] }, before);
    if ("over" in answered) return answered.over;
    begun.push(facts);
    const { response, usage } = answered;
    before = usageAfter(collector.usageReport(recordOf(response)["usage"]), before);
    const stop = textOf(recordOf(response)["stopReason"]) ?? "no reason given";
    if (stop !== "end_turn") return stoppedBy(stop, left(usage));
    const judged = judge(talk, collector.answer);
    if ("says" in judged) return ended(talk, response, usage, prompts, judged);
    const maySay = again < asksMax && (await order.onAskAgain(facts.ask + 1, judged.errors, collector.answer, usage));
    if (!maySay) {
      return failed(
        "return_invalid",
        `What the agent handed back does not fit: ${judged.errors.join("; ")}.\nIt said:\n${collector.answer.slice(-rawCharsMax)}`,
        left(usage),
      );
    }
    prompts.push(askAgain(order.returns?.schema ?? {}, judged.errors));
  }
}

type Answered = { readonly response: PromptResponse; readonly usage: ReportedUsage } | { readonly over: TurnResult };

async function prompt(talk: Talk, text: string, meta: TurnMeta, before: UsageBefore): Promise<Answered> {
  const { connection, watch, collector, session, seat, left } = talk;
  collector.begin();
  const request = connection.agent.request("session/prompt", {
    sessionId: session,
    prompt: [{ type: "text", text }],
    _meta: { autopilot: meta },
  });
  const used = (response: PromptResponse | null): ReportedUsage =>
    response === null ? null : usageOf(seat.profile.usage, collector.usageReport(recordOf(response)["usage"]), before);
  try {
    const response = await watch.ask(request);
    return { response, usage: used(response) };
  } catch (error) {
    if (!(error instanceof TurnOver) || !["cancel", "deadline", "stall"].includes(error.ending.by)) throw error;
    // It is told politely once; what it used may come with its answer. It is not waited for longer than a moment.
    connection.agent.notify("session/cancel", { sessionId: session }).catch(() => undefined);
    return { over: endedBy(error.ending, left(used(await answerWithin(request, seat.limits.cancelGraceMs)))) };
  }
}

function answerWithin(request: Promise<PromptResponse>, ms: number): Promise<PromptResponse | null> {
  const timer = new AbortController();
  const late = wait(ms, null, { signal: timer.signal }).catch(() => null);
  return Promise.race([request.catch(() => null), late]).finally(() => timer.abort());
}

type Judged =
  | { readonly says: Says; readonly claim: unknown; readonly warnings: readonly string[] }
  | { readonly errors: readonly string[] };

function judge({ order, seat }: Talk, answer: string): Judged {
  const { returns } = order;
  if (returns === null) return { says: {}, claim: null, warnings: [] };
  const back = handedBack(answer);
  if (!back.found) return returns.isOptional ? { says: {}, claim: null, warnings: [] } : { errors: [back.why] };
  const verdict = seat.returnOf(returns.name, back.value);
  if ("says" in verdict) return { says: verdict.says, claim: verdict.ok, warnings: [] };
  if (!returns.isOptional) return { errors: verdict.errors };
  return {
    says: {},
    claim: null,
    warnings: [`it handed back something that does not fit and was not needed: ${verdict.errors.join("; ")}`],
  };
}

function askAgain(schema: object, errors: readonly string[]): string {
  return [
    "What you handed back cannot be used:",
    ...errors.map((error) => `- ${error}`),
    "",
    "Hand it back once more, as one fenced block of JSON at the end of your answer, fitting this JSON Schema. Change nothing else.",
    "",
    "```json-schema",
    JSON.stringify(schema, null, 2),
    "```",
  ].join("\n");
}

function ended(
  { order, collector }: Talk,
  response: PromptResponse,
  usage: ReportedUsage,
  prompts: readonly string[],
  judged: { readonly says: Says; readonly claim: unknown; readonly warnings: readonly string[] },
): TurnResult {
  const { said } = collector;
  const { promised, announcedMore } =
    order.promise === null ? { promised: false, announcedMore: false } : promiseIn(said, order.promise, prompts);
  const isMute = said.trim() === "" && collector.tools.count === 0 && usage === null;
  return {
    kind: "ended",
    stop: response.stopReason,
    said,
    says: judged.says,
    claim: judged.claim,
    promised,
    announcedMore,
    confidence: confidenceOf(recordOf(response._meta?.["autopilot"])["confidence"]) ?? confidenceOf(recordOf(judged.claim)["confidence"]),
    usage,
    outside: collector.tools.changedOutside(insideOf(order.layer)),
    warnings: [...judged.warnings, ...(isMute ? ["it ended its turn without a word, a tool call or any reported usage"] : [])],
    notes: [],
    question: null,
  };
}

function confidenceOf(value: unknown): number | null {
  const amount = amountOf(value);
  return amount !== null && amount <= 1 ? amount : null;
}
