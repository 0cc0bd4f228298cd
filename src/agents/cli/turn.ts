// turn: runs one turn of a command-line agent: started for each prompt, read line by line, judged like every other.
//
// Invariants:
//   T1. The result is computed from what was observed; the exit code counts least.
//   T2. All prompts of a turn share one deadline.

import { randomUUID } from "node:crypto";
import { correctionsMax } from "../../contracts/flow.ts";
import type { ReportedUsage, TurnRequest, TurnResult } from "../../ports/agent.ts";
import { Collector } from "../acp/collector.ts";
import { isInLayer } from "../acp/path-in-layer.ts";
import { asRecord } from "../acp/untrusted-json.ts";
import { outcomeOf } from "../acp/outcome.ts";
import { failed } from "../acp/result.ts";
import { nothingUsed, usageAfter, type UsageBefore, usageOf } from "../acp/usage.ts";
import { openingPrompt } from "../opening-prompt.ts";
import { askAgain, endedTurn, judge } from "../judge.ts";
import type { TurnEnvironment } from "../turn-environment.ts";
import { claudeDialect } from "./claude.ts";
import { codexDialect } from "./codex.ts";
import type { Dialect } from "./dialect.ts";
import { runOnce, generatedFileSession } from "./run-once.ts";
import { wholeTail } from "../../kit/whole-words.ts";

const dialects = { "claude-stream": claudeDialect, "codex-exec": codexDialect } as const;
const rawCharsMax = 3000;

export async function cliTurn(speech: keyof typeof dialects, request: TurnRequest, environment: TurnEnvironment): Promise<TurnResult> {
  const dialect: Dialect = dialects[speech];
  const collector = new Collector(request.attempt, request.onLiveEvent);
  collector.open(generatedFileSession);
  const endsAtMs = performance.now() + request.minutesMax * 60_000;
  const warnings: string[] = [];
  const prompts: string[] = [];
  let session = request.session;
  let isResumed = session !== null;
  let before: UsageBefore = isResumed ? null : nothingUsed;
  let next = openingPrompt(request, { isResumed, holds: "unknown" }, environment.tools !== null);

  for (let again = 0; ;) {
    prompts.push(next);
    const isNew = session === null;
    const named = session ?? (dialect.namesSession ? randomUUID() : null);
    if (isNew && named !== null) await request.onSession(named, "new");
    const asked = { session: named === null ? null : { name: named, isResumed: !isNew }, prompt: next };
    const minutesMax = Math.max(0, endsAtMs - performance.now()) / 60_000; // T2
    const isFirst = isResumed && again === 0;
    const onBegun = (begun: string): Promise<void> => {
      if (isFirst) return request.onSession(named ?? begun, "resumed");
      return isNew && named === null ? request.onSession(begun, "new") : Promise.resolve();
    };
    const ran = await runOnce(dialect, { ...request, minutesMax }, environment, collector, asked, onBegun);
    if ("problem" in ran) return { kind: "failed", reason: "agent_unavailable", detail: ran.problem, said: collector.said, usage: null };

    const isUnknown = isFirst && ran.end.by !== "stop" && dialect.unknownSession.test(`${ran.stderr}\n${ran.words}`);
    if (isUnknown) {
      warnings.push(`the session ${session ?? ""} could not be taken up again; a new one was opened`);
      session = null;
      isResumed = false;
      before = nothingUsed;
      next = openingPrompt(request, { isResumed, holds: "no" }, environment.tools !== null);
      prompts.pop();
      continue;
    }
    session = ran.session ?? named;

    const report = { ...collector.usageReport({ usage: ran.usage }), costUsd: ran.costUsd };
    const usage = usageOf(environment.profile.usage, report, before);
    before = usageAfter(report, before);
    const computed = outcomeOf({
      end: ran.end,
      isOpen: ran.hasBegun,
      said: collector.said,
      answer: collector.answer,
      stderr: ran.stderr,
      usage,
      tools: collector.tools.count,
      refusals: 0,
      metas: [],
      calls: environment.metering.calls(),
      probes: environment.profile.probes,
      hasProvider: true,
      loginHint: environment.profile.hints.login,
      nowMs: Date.now(),
    }); // T1
    if (computed.kind !== "answered") return computed;
    warnings.push(...computed.warnings, ...ran.warnings);
    const judged = judge(request, environment.returnOf, environment.submissions, collector.answer);
    if ("says" in judged) {
      const outside = collector.tools.changedOutside(isInLayer(request.layer));
      const seen = { stop: "end_turn", said: collector.said, prompts, usage, outside, confidence: null, warnings };
      return endedTurn(request, environment.submissions, seen, judged);
    }
    const mayAsk =
      again < correctionsMax &&
      session !== null &&
      (await request.onAskAgain(request.facts.ask + again + 1, judged.errors, collector.answer, usage));
    if (!mayAsk) return unusable(judged.errors, collector, ran.stderr, usage);
    next = askAgain(asRecord(request.returns?.schema), judged.errors, environment.tools !== null);
    again += 1;
  }
}

function unusable(errors: readonly string[], collector: Collector, stderr: string, usage: ReportedUsage): TurnResult {
  const detail = `What the agent handed back does not fit: ${errors.join("; ")}.\nIt said:\n${wholeTail(collector.answer, rawCharsMax)}`;
  return failed("return_invalid", detail, { isOpen: true, said: collector.said, stderr, usage });
}
