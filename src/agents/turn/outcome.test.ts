import { expect, test } from "vitest";
import type { ModelCall } from "../../ports/meter.ts";
import { claudeProfiles } from "../profiles/claude.ts";
import { codexProfiles } from "../profiles/codex.ts";
import { copilotProfile } from "../profiles/copilot.ts";
import type { FailureProbe } from "../profiles/profile.ts";
import { computeOutcome, type TurnObservations } from "./outcome.ts";

const nowMs = Date.parse("2026-03-10T12:00:00.000Z");
const used = { tokens: 100, calls: 1 };
const seen = (changes: Partial<TurnObservations>): TurnObservations => ({
  end: { by: "stop", stop: "end_turn" },
  isOpen: true,
  said: "done",
  answer: "done",
  stderr: "",
  usage: used,
  toolCount: 1,
  refusals: 0,
  metas: [],
  modelCalls: [],
  probes: [],
  hasProvider: true,
  loginHint: "run it once and log in",
  nowMs,
  ...changes,
});
const call = (status: number | null, changes: Partial<ModelCall> = {}): ModelCall => ({
  api: "anthropic",
  model: "big",
  status,
  ended: "whole",
  error: status === 200 ? null : "it said why",
  retryAt: null,
  ...changes,
});
const leftAlone = { ended: "broken", error: "The agent went away." } as const;
const brokenOff = { ended: "broken", error: "overloaded_error: Overloaded" } as const;
const error = (code: number, message: string, data: unknown = null): Partial<TurnObservations> => ({
  end: { by: "error", code, message, data },
  usage: null,
});
const answered = { kind: "answered" };
const provider = (fault: string, resetAt: string | null = null) => ({
  kind: "cut",
  by: "provider",
  fault,
  resetAt,
});
const unavailable = { kind: "failed", reason: "agent_unavailable" };

test.each<[string, Partial<TurnObservations>, object]>([
  // What the meter saw.
  [
    "it ended its turn, and every call was answered",
    { modelCalls: [call(200), call(200)] },
    answered,
  ],
  [
    "it ended its turn after a failed call that was made up for",
    { modelCalls: [call(429), call(200)] },
    answered,
  ],
  [
    "it ended its turn, and the last call got 400",
    { modelCalls: [call(200), call(400)] },
    provider("request"),
  ],
  ["… 401", { modelCalls: [call(401)] }, unavailable],
  ["… 403", { modelCalls: [call(403)] }, unavailable],
  ["… 402", { modelCalls: [call(402)] }, provider("limit")],
  ["… 429", { modelCalls: [call(200), call(429), call(429)] }, provider("limit")],
  [
    "… 429 with a time",
    { modelCalls: [call(429, { retryAt: "2026-03-10T15:00:00.000Z" })] },
    provider("limit", "2026-03-10T15:00:00.000Z"),
  ],
  [
    "… 429 with a time in its words",
    { modelCalls: [call(429, { error: "try again in 12m" })] },
    provider("limit", "2026-03-10T12:12:00.000Z"),
  ],
  ["… 500", { modelCalls: [call(500)] }, provider("service")],
  ["… 529", { modelCalls: [call(529)] }, provider("service")],
  ["… no answer at all", { modelCalls: [call(null, { ended: "broken" })] }, provider("service")],
  [
    "a side call of another model failed, and its own model answered",
    { modelCalls: [call(200), call(404, { model: "small" })] },
    answered,
  ],
  [
    "… and it said nothing",
    { modelCalls: [call(200), call(404, { model: "small" })], answer: "", toolCount: 0 },
    provider("request"),
  ],
  [
    "it hung up on a call after it had its answer",
    { modelCalls: [call(200), call(200, leftAlone)] },
    answered,
  ],
  [
    "it hung up on its only call and said nothing",
    { modelCalls: [call(200, leftAlone)], answer: "", toolCount: 0 },
    provider("service"),
  ],
  [
    "the provider broke off, and it says it is done",
    { modelCalls: [call(200), call(200, brokenOff)] },
    provider("service"),
  ],
  [
    "… with words of a limit",
    { modelCalls: [call(200, { ...brokenOff, error: "rate_limit_error: slow down" })] },
    provider("limit"),
  ],
  [
    "the meter itself refused a call",
    { modelCalls: [call(200), call(402, { ended: "refused" })] },
    answered,
  ],
  [
    "it died after a call that got 500",
    { end: { by: "exit", exit: { code: 1, signal: null } }, modelCalls: [call(500)] },
    provider("service"),
  ],
  [
    "it is silent, and its calls get 429",
    { end: { by: "stall", ms: 1000 }, modelCalls: [call(429)] },
    provider("limit"),
  ],
  [
    "its time is over, and its calls get 503",
    { end: { by: "deadline", minutes: 5 }, modelCalls: [call(503)] },
    provider("service"),
  ],
  [
    "it answered with an error after a call that got 429",
    { ...error(-32603, "Internal error"), modelCalls: [call(429)] },
    provider("limit"),
  ],
  // What the runner did.
  ["cancelled", { end: { by: "cancel" }, modelCalls: [call(500)] }, { kind: "cut", by: "cancel" }],
  [
    "the budget is used up",
    { end: { by: "budget", says: "No more." } },
    { kind: "cut", by: "budget", detail: "No more." },
  ],
  ["its time is over", { end: { by: "deadline", minutes: 5 } }, { kind: "cut", by: "deadline" }],
  // What the agent did.
  ["it is silent", { end: { by: "stall", ms: 1000 } }, { kind: "failed", reason: "agent_timeout" }],
  [
    "it never answered",
    { end: { by: "mute", asked: "initialize", ms: 1 }, isOpen: false },
    unavailable,
  ],
  [
    "it flooded its output",
    { end: { by: "wire", says: "flooded its output" } },
    { kind: "failed", reason: "agent_failed" },
  ],
  [
    "it died at work",
    { end: { by: "exit", exit: null } },
    { kind: "failed", reason: "agent_failed" },
  ],
  ["it died at its start", { end: { by: "exit", exit: null }, isOpen: false }, unavailable],
  [
    "it refused",
    { end: { by: "stop", stop: "refusal" } },
    { kind: "failed", reason: "agent_failed" },
  ],
  [
    "it stopped for a reason nobody knows",
    { end: { by: "stop", stop: "tired" } },
    { kind: "failed", reason: "agent_failed" },
  ],
  [
    "it gave up after it was refused a permission",
    { end: { by: "stop", stop: "cancelled" }, refusals: 1 },
    { kind: "failed", detail: expect.stringContaining("refused a permission") as string },
  ],
  // Its errors.
  [
    "claude: its limit",
    error(-32603, "Internal error", { errorKind: "rate_limit", details: "resets 3pm (UTC)" }),
    provider("limit", "2026-03-10T15:00:00.000Z"),
  ],
  [
    "claude: overloaded",
    error(-32603, "Overloaded", { errorKind: "overloaded" }),
    provider("service"),
  ],
  [
    "claude: 400",
    error(-32603, "API Error: 400 bad", { errorKind: "unknown" }),
    provider("request"),
  ],
  [
    "any: not logged in",
    error(-32000, "Authentication required"),
    { ...unavailable, detail: expect.stringContaining("run it once and log in") as string },
  ],
  ["gemini: the status is the code", error(429, "Resource exhausted"), provider("limit")],
  ["gemini: 401", error(401, "API key not valid"), unavailable],
  ["gemini: 400", error(400, "bad"), provider("request")],
  [
    "opencode: an error of the provider",
    error(-32603, "bad request", { errorName: "APIError" }),
    provider("request"),
  ],
  [
    "opencode: … that names its status",
    error(-32603, "x", { errorName: "APIError", statusCode: 401 }),
    unavailable,
  ],
  [
    "an error that says nothing of a provider",
    error(-32603, "Request was aborted."),
    { kind: "failed", reason: "agent_failed" },
  ],
  [
    "an error before there is a session",
    { ...error(-32603, "no config"), isOpen: false },
    unavailable,
  ],
  // Without a meter.
  [
    "it ended its turn without a word, an action or usage",
    { answer: "", toolCount: 0, usage: null },
    provider("service"),
  ],
  [
    "… and no model is behind it",
    { answer: "", toolCount: 0, usage: null, hasProvider: false },
    answered,
  ],
  [
    "it ended its turn without a word and told what it used",
    { answer: "", toolCount: 0 },
    answered,
  ],
])("%s", (_, changes, expected) => {
  expect(computeOutcome(seen(changes))).toMatchObject(expected);
});

const codexMeta = [{ _meta: { codex: { threadStatus: { type: "systemError" } } } }];
const probed = (probes: readonly FailureProbe[], changes: Partial<TurnObservations>): unknown =>
  computeOutcome(seen({ usage: null, toolCount: 0, probes, ...changes }));
const limited = "exceeded retry limit, last status: 429 Too Many Requests";

test.each<[string, unknown, object]>([
  [
    "codex: its state",
    probed(codexProfiles.codex.probes, { metas: codexMeta, answer: "stream error" }),
    provider("service"),
  ],
  [
    "codex: its state and its words",
    probed(codexProfiles.codex.probes, { metas: codexMeta, answer: limited }),
    provider("limit"),
  ],
  ["codex: its words", probed(codexProfiles.codex.probes, { answer: limited }), provider("limit")],
  [
    "copilot: 400",
    probed(copilotProfile.probes, { answer: "Error: 400 invalid model" }),
    provider("request"),
  ],
  [
    "claude: a limit in its words",
    probed(claudeProfiles.claude.probes, { answer: "API Error: 429 slow down" }),
    provider("limit"),
  ],
  [
    "the meter saw good calls, whatever it says",
    probed(codexProfiles.codex.probes, { answer: limited, modelCalls: [call(200)] }),
    answered,
  ],
  [
    "it worked, and its answer only tells of limits",
    computeOutcome(
      seen({ probes: codexProfiles.codex.probes, answer: `I added a test for "${limited}".` }),
    ),
    answered,
  ],
])("a probe, %s", (_, computed, expected) => {
  expect(computed).toMatchObject(expected);
});
