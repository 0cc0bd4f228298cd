// cli-turn: runs one turn of a command-line agent. The command is started for each prompt, read
// line by line, and judged like any agent.
//
// Invariants:
//   T1. The result is computed from what was observed; the exit code counts least.
//   T2. All prompts of a turn share one deadline.

import { randomUUID } from "node:crypto";
import { correctionsMax } from "../../contracts/flow.ts";
import type { ReportedUsage, TurnRequest, TurnResult } from "../../ports/agent.ts";
import { Collector } from "../turn/collector.ts";
import { createInLayerTest } from "../turn/path-in-layer.ts";
import { asRecord } from "../turn/untrusted-json.ts";
import { computeOutcome, type TurnOutcome } from "../turn/outcome.ts";
import { createFailedTurn } from "../turn/failed-turn.ts";
import {
  nothingUsed,
  computeNextBaseline,
  type UsageBaseline,
  computeUsage,
} from "../turn/reported-usage.ts";
import { composeOpeningPrompt } from "../opening-prompt.ts";
import {
  composeCorrection,
  createEndedTurn,
  type EndedTurnObservations,
  judgeReturn,
} from "../judge-return.ts";
import type { PreparedTurn } from "../prepared-turn.ts";
import { claudeDialect } from "./claude-dialect.ts";
import { codexDialect } from "./codex-dialect.ts";
import type { Dialect } from "./dialect.ts";
import { type CommandResult, commandSession, runOnce } from "./run-once.ts";
import { wholeTail } from "../../kit/whole-words.ts";

const dialects = { "claude-stream": claudeDialect, "codex-exec": codexDialect } as const;
/** How much of an answer that does not fit is shown. */
const shownAnswerCharsMax = 3_000;

/** What all prompts of a turn share. */
type CliTurn = {
  readonly dialect: Dialect;
  readonly request: TurnRequest;
  readonly prepared: PreparedTurn;
  readonly collector: Collector;
  readonly deadlineMs: number;
};

/** The prompts to one session, the last of which is to be sent. */
type Conversation = {
  readonly isResumed: boolean;
  /** null until the runner or the command has named it. */
  session: string | null;
  readonly prompts: string[];
  readonly warnings: string[];
  baseline: UsageBaseline;
};

export async function runCliTurn(
  dialectName: keyof typeof dialects,
  request: TurnRequest,
  prepared: PreparedTurn,
): Promise<TurnResult> {
  const collector = new Collector(request.attempt, request.onLiveEvent);
  collector.open(commandSession);
  const turn: CliTurn = {
    dialect: dialects[dialectName],
    request,
    prepared,
    collector,
    deadlineMs: performance.now() + request.minutesMax * 60_000,
  };

  let conversation = openConversation(turn, request.session, "unknown");
  let result = await sendPrompt(turn, conversation);

  if (conversation.isResumed && isSessionUnknown(turn.dialect, result)) {
    conversation = openConversation(turn, null, "no");
    conversation.warnings.push(
      `the session ${request.session ?? ""} could not be taken up again; a new one was opened`,
    );

    result = await sendPrompt(turn, conversation);
  }

  for (let corrections = 0; ; corrections += 1) {
    if ("problem" in result) return createUnavailable(result.problem, collector);

    const usage = takeUsage(turn, conversation, result);
    const outcome = computeCommandOutcome(turn, result, usage); // T1
    if (outcome.kind !== "answered") return outcome;
    conversation.warnings.push(...outcome.warnings, ...result.warnings);

    const judgement = judgeReturn(
      request,
      prepared.validateReturn,
      prepared.submissions,
      collector.answer,
    );
    if ("says" in judgement) {
      const observed = collectObservations(turn, conversation, usage);
      return createEndedTurn(request, prepared.submissions, observed, judgement);
    }

    const { errors } = judgement;
    const mayAskAgain =
      corrections < correctionsMax &&
      conversation.session !== null &&
      (await request.onAskAgain(
        request.facts.ask + corrections + 1,
        errors,
        collector.answer,
        usage,
      ));
    if (!mayAskAgain) return createInvalidReturn(errors, collector, result.stderr, usage);

    const schema = asRecord(request.returns?.schema);
    conversation.prompts.push(composeCorrection(schema, errors, prepared.tools !== null));
    result = await sendPrompt(turn, conversation);
  }
}

/**
 * Begins with the opening prompt. `session`: the one to resume; null for a new one. `holds`:
 * whether it has the prompt already.
 */
function openConversation(
  { request, prepared }: CliTurn,
  session: string | null,
  holds: "no" | "unknown",
): Conversation {
  const isResumed = session !== null;
  const hasTools = prepared.tools !== null;

  return {
    isResumed,
    session,
    prompts: [composeOpeningPrompt(request, { isResumed, holds }, hasTools)],
    warnings: [],
    baseline: isResumed ? null : nothingUsed,
  };
}

/** Runs the command for the conversation's last prompt, and records the session that answered. */
async function sendPrompt(
  turn: CliTurn,
  conversation: Conversation,
): Promise<CommandResult | { readonly problem: string }> {
  const { dialect, request, deadlineMs } = turn;
  const { session, prompts, isResumed } = conversation;
  const isNew = session === null;
  const sessionName = session ?? (dialect.runnerNamesSession ? randomUUID() : null);
  if (isNew && sessionName !== null) await request.onSession(sessionName, "new");

  const onBegun = async (startedSession: string): Promise<void> => {
    if (sessionName === null) return request.onSession(startedSession, "new");
    if (isResumed && prompts.length === 1) return request.onSession(sessionName, "resumed");
  };

  const minutesMax = Math.max(0, deadlineMs - performance.now()) / 60_000; // T2
  const result = await runOnce(
    { ...turn, request: { ...request, minutesMax }, onBegun },
    {
      prompt: prompts.at(-1) ?? "",
      session: sessionName === null ? null : { name: sessionName, isResumed: !isNew },
    },
  );

  if (!("problem" in result)) conversation.session = result.session ?? sessionName;
  return result;
}

/** Whether the command says that it does not know the session it was to resume. */
function isSessionUnknown(
  { unknownSessionPattern }: Dialect,
  result: CommandResult | { readonly problem: string },
): boolean {
  if ("problem" in result || result.end.by === "stop") return false;
  return unknownSessionPattern.test(`${result.stderr}\n${result.errorText}`);
}

/** What the last prompt used: a command reports the whole session's usage each time. */
function takeUsage(
  { collector, prepared }: CliTurn,
  conversation: Conversation,
  { usage, costUsd }: CommandResult,
): ReportedUsage {
  const report = { ...collector.composeUsageReport({ usage }), costUsd };
  const used = computeUsage(prepared.profile.usage, report, conversation.baseline);
  conversation.baseline = computeNextBaseline(report, conversation.baseline);

  return used;
}

const collectObservations = (
  { request, collector }: CliTurn,
  { prompts, warnings }: Conversation,
  usage: ReportedUsage,
): EndedTurnObservations => ({
  stop: "end_turn",
  said: collector.said,
  prompts,
  usage,
  outside: collector.tools.listChangedOutside(createInLayerTest(request.layer)),
  confidence: null,
  warnings,
});

const createUnavailable = (problem: string, { said }: Collector): TurnResult => ({
  kind: "failed",
  reason: "agent_unavailable",
  detail: problem,
  said,
  usage: null,
});

function computeCommandOutcome(
  { collector, prepared }: CliTurn,
  { end, hasBegun, stderr }: CommandResult,
  usage: ReportedUsage,
): TurnOutcome {
  return computeOutcome({
    end,
    isOpen: hasBegun,
    said: collector.said,
    answer: collector.answer,
    stderr,
    usage,
    toolCount: collector.tools.seenCount,
    refusals: 0,
    metas: [],
    modelCalls: prepared.metering.calls(),
    probes: prepared.profile.probes,
    hasProvider: true,
    loginHint: prepared.profile.hints.login,
    nowMs: Date.now(),
  });
}

function createInvalidReturn(
  errors: readonly string[],
  collector: Collector,
  stderr: string,
  usage: ReportedUsage,
): TurnResult {
  const shownAnswer = wholeTail(collector.answer, shownAnswerCharsMax);
  const detail = `What the agent handed back does not fit: ${errors.join("; ")}.\nIt said:\n${shownAnswer}`;

  return createFailedTurn("return_invalid", detail, {
    isOpen: true,
    said: collector.said,
    stderr,
    usage,
  });
}
