// cli-turn: runs one turn of a command-line agent. The command is started for each prompt, read
// line by line, and judged like any agent.
//
// Invariants:
//   T1. The result is computed from what was observed; the exit code counts least.
//   T2. All prompts of a turn share one deadline.

import { randomUUID } from "node:crypto";
import { correctionsMax } from "../../contracts/flow.ts";
import type { ReportedUsage, TurnRequest, TurnResult } from "../../ports/agent.ts";
import { Collector } from "../acp/collector.ts";
import { createInLayerTest } from "../acp/path-in-layer.ts";
import { asRecord } from "../acp/untrusted-json.ts";
import { computeOutcome, type TurnOutcome } from "../acp/outcome.ts";
import { createFailedTurn } from "../acp/failed-turn.ts";
import {
  nothingUsed,
  computeNextBaseline,
  type UsageBaseline,
  computeUsage,
} from "../acp/usage.ts";
import { composeOpeningPrompt } from "../opening-prompt.ts";
import { composeCorrection, createEndedTurn, judgeReturn } from "../judge-return.ts";
import type { TurnEnvironment } from "../turn-environment.ts";
import { claudeDialect } from "./claude-dialect.ts";
import { codexDialect } from "./codex-dialect.ts";
import type { Dialect } from "./dialect.ts";
import { type CommandResult, commandSession, runOnce } from "./run-once.ts";
import { wholeTail } from "../../kit/whole-words.ts";

const dialects = { "claude-stream": claudeDialect, "codex-exec": codexDialect } as const;
/** How much of an answer that does not fit is shown. */
const shownAnswerCharsMax = 3_000;

export async function runCliTurn(
  dialectName: keyof typeof dialects,
  request: TurnRequest,
  environment: TurnEnvironment,
): Promise<TurnResult> {
  const dialect: Dialect = dialects[dialectName];
  const collector = new Collector(request.attempt, request.onLiveEvent);
  collector.open(commandSession);
  const deadlineMs = performance.now() + request.minutesMax * 60_000;
  const warnings: string[] = [];
  const prompts: string[] = [];
  let session = request.session;
  let isResumed = session !== null;
  let baseline: UsageBaseline = isResumed ? null : nothingUsed;

  let nextPrompt = composeOpeningPrompt(
    request,
    { isResumed, holds: "unknown" },
    environment.tools !== null,
  );

  for (let corrections = 0; ;) {
    prompts.push(nextPrompt);
    const isNew = session === null;
    const sessionName = session ?? (dialect.namesSession ? randomUUID() : null);
    if (isNew && sessionName !== null) await request.onSession(sessionName, "new");
    const promptInput = {
      session: sessionName === null ? null : { name: sessionName, isResumed: !isNew },
      prompt: nextPrompt,
    };

    const minutesMax = Math.max(0, deadlineMs - performance.now()) / 60_000; // T2
    const isFirstOfResumed = isResumed && corrections === 0;

    const onBegun = (startedSession: string): Promise<void> => {
      if (isFirstOfResumed) return request.onSession(sessionName ?? startedSession, "resumed");
      return isNew && sessionName === null
        ? request.onSession(startedSession, "new")
        : Promise.resolve();
    };

    const result = await runOnce(
      { dialect, request: { ...request, minutesMax }, environment, collector, onBegun },
      promptInput,
    );
    if ("problem" in result) {
      return {
        kind: "failed",
        reason: "agent_unavailable",
        detail: result.problem,
        said: collector.said,
        usage: null,
      };
    }

    const isUnknown =
      isFirstOfResumed &&
      result.end.by !== "stop" &&
      dialect.unknownSessionPattern.test(`${result.stderr}\n${result.errorText}`);
    if (isUnknown) {
      warnings.push(
        `the session ${session ?? ""} could not be taken up again; a new one was opened`,
      );

      session = null;
      isResumed = false;
      baseline = nothingUsed;
      nextPrompt = composeOpeningPrompt(
        request,
        { isResumed, holds: "no" },
        environment.tools !== null,
      );

      prompts.pop();
      continue;
    }

    session = result.session ?? sessionName;

    const report = {
      ...collector.composeUsageReport({ usage: result.usage }),
      costUsd: result.costUsd,
    };
    const usage = computeUsage(environment.profile.usage, report, baseline);
    baseline = computeNextBaseline(report, baseline);
    const turnOutcome = computeCommandOutcome(result, usage, { collector, environment }); // T1
    if (turnOutcome.kind !== "answered") return turnOutcome;
    warnings.push(...turnOutcome.warnings, ...result.warnings);

    const judgement = judgeReturn(
      request,
      environment.validateReturn,
      environment.submissions,
      collector.answer,
    );
    if ("says" in judgement) {
      const outside = collector.tools.listChangedOutside(createInLayerTest(request.layer));
      const observed = {
        stop: "end_turn",
        said: collector.said,
        prompts,
        usage,
        outside,
        confidence: null,
        warnings,
      };
      return createEndedTurn(request, environment.submissions, observed, judgement);
    }

    const mayAskAgain =
      corrections < correctionsMax &&
      session !== null &&
      (await request.onAskAgain(
        request.facts.ask + corrections + 1,
        judgement.errors,
        collector.answer,
        usage,
      ));
    if (!mayAskAgain) return createInvalidReturn(judgement.errors, collector, result.stderr, usage);
    nextPrompt = composeCorrection(
      asRecord(request.returns?.schema),
      judgement.errors,
      environment.tools !== null,
    );

    corrections += 1;
  }
}

function computeCommandOutcome(
  { end, hasBegun, stderr }: CommandResult,
  usage: ReportedUsage,
  {
    collector,
    environment,
  }: { readonly collector: Collector; readonly environment: TurnEnvironment },
): TurnOutcome {
  return computeOutcome({
    end,
    isOpen: hasBegun,
    said: collector.said,
    answer: collector.answer,
    stderr,
    usage,
    tools: collector.tools.count,
    refusals: 0,
    metas: [],
    calls: environment.metering.calls(),
    probes: environment.profile.probes,
    hasProvider: true,
    loginHint: environment.profile.hints.login,
    nowMs: Date.now(),
  });
}

function createInvalidReturn(
  errors: readonly string[],
  collector: Collector,
  stderr: string,
  usage: ReportedUsage,
): TurnResult {
  const detail = `What the agent handed back does not fit: ${errors.join("; ")}.\nIt said:\n${wholeTail(collector.answer, shownAnswerCharsMax)}`;
  return createFailedTurn("return_invalid", detail, {
    isOpen: true,
    said: collector.said,
    stderr,
    usage,
  });
}
