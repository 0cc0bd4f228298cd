// converse: holds the conversation of one turn: sends the prompt, reads the answer, and asks again
// if the return does not fit.

import { type ClientConnection, type PromptResponse, RequestError } from "@agentclientprotocol/sdk";
import { setTimeout as wait } from "node:timers/promises";
import { correctionsMax } from "../../contracts/flow.ts";
import type { TurnFacts, TurnMeta } from "../../contracts/script.ts";
import type { ReportedUsage, TurnRequest, TurnResult } from "../../ports/agent.ts";
import { composeCorrection, createEndedTurn, judgeReturn } from "../judge-return.ts";
import type { PreparedTurn } from "../prepared-turn.ts";
import type { Collector } from "../turn/collector.ts";
import { TurnOver, type Watch } from "../turn/ending.ts";
import { createInLayerTest } from "../turn/path-in-layer.ts";
import { asRecord, asString } from "../turn/untrusted-json.ts";
import { computeOutcome, type TurnEnd, type TurnOutcome } from "../turn/outcome.ts";
import type { PermissionAnswers } from "./permission.ts";
import { createFailedTurn } from "../turn/failed-turn.ts";
import {
  nothingUsed,
  computeNextBaseline,
  type UsageBaseline,
  computeUsage,
} from "../turn/reported-usage.ts";
import { wholeTail } from "../../kit/whole-words.ts";

/** How much of an answer that does not fit is shown. */
const shownAnswerCharsMax = 3_000;

export type Conversation = {
  readonly request: TurnRequest;
  readonly prepared: PreparedTurn;
  readonly connection: ClientConnection;
  readonly watch: Watch;
  readonly collector: Collector;
  readonly answers: PermissionAnswers;
  readonly session: string;
  readonly isResumed: boolean;
  readonly openingPrompt: string;
  readonly stderr: () => string;
};

/**
 * Prompts the agent, and corrects it until its return fits, it may not be asked again, or the turn
 * ends otherwise.
 */
export async function converse(conversation: Conversation): Promise<TurnResult> {
  const { request, prepared, collector, stderr } = conversation;
  const prompts = [conversation.openingPrompt];
  const history: TurnFacts[] = [...request.history];
  const warnings: string[] = [];
  let baseline: UsageBaseline = conversation.isResumed ? null : nothingUsed;

  for (let corrections = 0; ; corrections += 1) {
    const facts = { ...request.facts, ask: request.facts.ask + corrections };
    const { end, response } = await sendPrompt(conversation, prompts.at(-1) ?? "", {
      run: request.run,
      ...facts,
      history: [...history],
    });

    history.push(facts);
    const report = collector.composeUsageReport(response);
    const usage = response === null ? null : computeUsage(prepared.profile.usage, report, baseline);
    baseline = computeNextBaseline(report, baseline);
    const turnOutcome = computePromptOutcome(conversation, end, response, usage);
    if (turnOutcome.kind !== "answered") return turnOutcome;
    warnings.push(...turnOutcome.warnings);

    const judgement = judgeReturn(
      request,
      prepared.validateReturn,
      prepared.submissions,
      collector.answer,
    );
    if ("says" in judgement) {
      const outside = collector.tools.listChangedOutside(createInLayerTest(request.layer));
      const confidence = asRecord(asRecord(asRecord(response)["_meta"])["autopilot"])["confidence"];
      return createEndedTurn(
        request,
        prepared.submissions,
        { stop: "end_turn", said: collector.said, prompts, usage, outside, confidence, warnings },
        judgement,
      );
    }

    const mayAskAgain =
      corrections < correctionsMax &&
      (await request.onAskAgain(facts.ask + 1, judgement.errors, collector.answer, usage));
    if (!mayAskAgain) {
      const detail = `What the agent handed back does not fit: ${judgement.errors.join("; ")}.\nIt said:\n${wholeTail(collector.answer, shownAnswerCharsMax)}`;
      return createFailedTurn("return_invalid", detail, {
        isOpen: true,
        said: collector.said,
        stderr: stderr(),
        usage,
      });
    }

    prompts.push(
      composeCorrection(request.returns?.schema ?? {}, judgement.errors, prepared.tools !== null),
    );
  }
}

/** Endings after which the agent still runs, so that it can be asked to cancel. */
const cancellableEndings: readonly string[] = ["cancel", "deadline", "stall", "budget", "provider"];

/** Sends a prompt; returns how it ended, and the answer, if there is one. */
async function sendPrompt(
  conversation: Conversation,
  text: string,
  meta: TurnMeta,
): Promise<{ readonly end: TurnEnd; readonly response: PromptResponse | null }> {
  const { connection, watch, collector, session, prepared } = conversation;
  collector.begin();

  const request = connection.agent.request("session/prompt", {
    sessionId: session,
    prompt: [{ type: "text", text }],
    _meta: { autopilot: meta },
  });

  try {
    const response = await watch.ask(request);
    // Some agents report their cost after the answer; with a meter this is not waited for.
    if (prepared.profile.reportsCost && prepared.metering.calls().length === 0) {
      await wait(prepared.limits.lateMs);
    }

    return {
      end: { by: "stop", stop: asString(asRecord(response)["stopReason"]) ?? "no reason given" },
      response,
    };
  } catch (error) {
    if (error instanceof RequestError) {
      return {
        end: { by: "error", code: error.code, message: error.message, data: error.data },
        response: null,
      };
    }

    if (!(error instanceof TurnOver)) throw error;
    if (!cancellableEndings.includes(error.ending.by)) return { end: error.ending, response: null };
    // The agent is asked once to cancel. Its answer, with which usage may come, is waited for only
    // a moment.
    connection.agent.notify("session/cancel", { sessionId: session }).catch(() => undefined);

    return {
      end: error.ending,
      response: await waitForAnswer(request, prepared.limits.cancelGraceMs),
    };
  }
}

function computePromptOutcome(
  { prepared, collector, answers, stderr }: Conversation,
  end: TurnEnd,
  response: PromptResponse | null,
  usage: ReportedUsage,
): TurnOutcome {
  return computeOutcome({
    end,
    isOpen: true,
    said: collector.said,
    answer: collector.answer,
    stderr: stderr(),
    usage,
    toolCount: collector.tools.seenCount,
    refusals: answers.count.refused,
    metas: [...collector.metas, asRecord(response)],
    modelCalls: prepared.metering.calls(),
    probes: prepared.profile.probes,
    hasProvider: prepared.profile.found !== "embedded",
    loginHint: prepared.profile.hints.login,
    nowMs: Date.now(),
  });
}

/** The answer, if it comes in time. */
function waitForAnswer(
  request: Promise<PromptResponse>,
  ms: number,
): Promise<PromptResponse | null> {
  const timer = new AbortController();
  const timeout = wait(ms, null, { signal: timer.signal }).catch(() => null);
  return Promise.race([request.catch(() => null), timeout]).finally(() => timer.abort());
}
