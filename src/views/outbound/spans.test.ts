import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { attributesOf, spansIn } from "../../../test/outbound/otlp-schema.ts";
import type { Entry, Event } from "../../contracts/event.ts";
import { drafted, entryOf, runId } from "../run-view.test-support.ts";
import { type TraceOrigin, buildOtlpBody, parseTraceparent, buildTraceparent } from "./otlp.ts";
import { collectSpans, turnSpanKey } from "./spans.ts";

const by = { actor: "system", reason_code: "ok" } as const;
const change = { from_state: "running", to_state: "completed" } as const;
const check = (status: "passed" | "failed") => ({
  check: { id: "c1", command: "npm test -- SECRET WORDS", kind: "criterion" },
  status,
  exit_code: status === "passed" ? 0 : 1,
  duration_ms: 3_000,
  evidence: "e".repeat(64),
});
const attempt = "1@1/execute#1";
const usage = {
  tokens: 120,
  input: 100,
  output: 20,
  cached: 60,
  usd: 0.5,
  calls: 1,
  minutes: 1,
  source: "metered",
} as const;
const events = [
  drafted(),
  { ...by, event: "run_started", ack: "0".repeat(64), from_state: "draft", to_state: "running" },
  { ...by, event: "phase_started", walk: "1" },
  { ...by, event: "step_started", walk: "1", step: "execute", attempt, kind: "agent", try: 1 },
  { ...by, event: "step_interrupted", attempt, by: "operator" },
  { ...by, event: "step_started", walk: "1", step: "execute", attempt, kind: "agent", try: 2 },
  { ...by, event: "session_opened", attempt, session: "s-1", agent: "claude" },
  {
    ...by,
    event: "turn_ended",
    attempt,
    agent: "claude",
    stop: "end_turn",
    says: {},
    said: "SECRET WORDS",
    promised: true,
    announced_more: false,
    confidence: null,
    usage,
  },
  { ...by, event: "step_completed", attempt, facts: {}, tree: "a".repeat(40) },
  {
    ...by,
    event: "step_started",
    walk: "1",
    step: "prove",
    attempt: "1@1/prove#1",
    kind: "check",
    try: 1,
  },
  {
    ...by,
    event: "step_failed",
    reason_code: "criterion_failed",
    attempt: "1@1/prove#1",
    facts: {},
    fingerprint: "f",
    checks: [check("passed"), check("failed")],
  },
  {
    ...by,
    event: "block_opened",
    block: "block:1@1/ask?0",
    walk: "1",
    step: "ask",
    hold: true,
    question: "SECRET WORDS",
    options: {},
  },
  {
    ...by,
    event: "block_answered",
    request: "r",
    block: "block:1@1/ask?0",
    answer: "SECRET WORDS",
  },
  { ...by, event: "phase_completed", walk: "1" },
  { ...by, event: "run_completed", ...change, verdict: "verified", gaps: [] },
] as unknown as readonly Event[];
const entries: readonly Entry[] = events.map((event, index) => entryOf(event, index + 1));

const origin: TraceOrigin = {
  run: runId,
  hash: (text, bytes) =>
    createHash("sha256")
      .update(text)
      .digest("hex")
      .slice(0, 2 * bytes),
  resource: { "service.name": "autopilot" },
  version: "0.0.0",
};
const sent = (list = entries, isGenAi = true) =>
  spansIn(JSON.stringify(buildOtlpBody(collectSpans(list, isGenAi), origin)));

test("a run is a trace: the run, its phase, attempts, the turn, checks and the wait, each below what it belongs to", () => {
  const spans = sent();
  const named = new Map(spans.map((span) => [span.spanId, span.name]));
  expect(
    spans.map((span) => `${span.name} < ${named.get(span.parentSpanId ?? "") ?? "-"}`),
  ).toEqual([
    "autopilot.step execute < autopilot.phase",
    "invoke_agent claude < autopilot.step execute",
    "autopilot.step execute < autopilot.phase",
    "autopilot.check < autopilot.step prove",
    "autopilot.check < autopilot.step prove",
    "autopilot.step prove < autopilot.phase",
    "autopilot.wait < autopilot.phase",
    "autopilot.phase < invoke_workflow objective",
    "invoke_workflow objective < -",
  ]);

  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
});

test("spans bear the names of the conventions, and no word of agents, people or the repository", () => {
  const spans = sent();
  const turn = attributesOf(
    spans.find(({ name }) => name === "invoke_agent claude") ?? { attributes: [] },
  );
  expect(turn).toMatchObject({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.conversation.id": "s-1",
    "gen_ai.usage.input_tokens": "100",
    "gen_ai.usage.output_tokens": "20",
    "gen_ai.usage.cache_read.input_tokens": "60",
    "autopilot.usage.source": "metered",
    "autopilot.cost.usd": 0.5,
  });

  expect(attributesOf(spans.at(-1) ?? { attributes: [] })).toMatchObject({
    "autopilot.run.verdict": "verified",
    "gen_ai.workflow.name": "objective",
  });

  const prove = spans.find(({ name }) => name === "autopilot.step prove");
  expect(prove?.status).toEqual({ code: 2, message: "criterion_failed" });
  expect(attributesOf(prove ?? { attributes: [] })).toMatchObject({
    "error.type": "criterion_failed",
    "autopilot.checks.passed": "1",
    "autopilot.checks.failed": "1",
  });

  expect(JSON.stringify(spans)).not.toContain("SECRET");
  expect(JSON.stringify(sent(entries, false))).not.toContain("gen_ai");
});

test("what nobody measured is no token count of the conventions", () => {
  const estimated = entries.map((entry) =>
    entry.event === "turn_ended"
      ? { ...entry, usage: { ...usage, source: "estimated" as const } }
      : entry,
  );
  const turn = attributesOf(
    sent(estimated).find(({ name }) => name === "invoke_agent claude") ?? { attributes: [] },
  );
  expect(Object.keys(turn).filter((key) => key.startsWith("gen_ai.usage"))).toEqual([]);
  expect(turn["autopilot.usage.source"]).toBe("estimated");
});

test("the same journal gives the same trace, wherever it was cut and sent in between", () => {
  const whole = sent();
  for (let cut = 1; cut < entries.length; cut += 1) {
    const early = sent(entries.slice(0, cut)).filter(
      ({ parentSpanId }) => parentSpanId !== undefined,
    ); // the run itself is not over yet
    for (const span of early) expect(whole).toContainEqual(span);
  }
});

test("a clock that was set back makes no span that ends before it began", () => {
  const back = entries.map((entry, index) =>
    index > 8 ? { ...entry, ts: "2020-01-01T00:00:00.000Z" } : entry,
  );
  expect(sent(back).length).toBe(sent().length); // the schema refuses such a span
});

test("an agent is handed its turn as the parent, and a caller's traceparent is read or passed over", () => {
  const handed = buildTraceparent(origin, turnSpanKey(attempt, 2));
  const turn = sent().find(({ name }) => name === "invoke_agent claude");
  expect(handed).toBe(`00-${turn?.traceId}-${turn?.spanId}-01`);
  expect(parseTraceparent(handed)).toEqual({ traceId: turn?.traceId, spanId: turn?.spanId });

  for (const text of [
    undefined,
    "",
    "junk",
    `00-${"0".repeat(32)}-${"a".repeat(16)}-01`,
    `ff-${"a".repeat(32)}-${"a".repeat(16)}-01`,
  ]) {
    expect(parseTraceparent(text)).toBeNull();
  }
});
