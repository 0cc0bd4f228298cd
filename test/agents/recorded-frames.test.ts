// Frames of real agents, recorded against a scripted model server and cut down to what is read
// here: a whole turn of three model calls, one whose first call got 400, one whose first call got
// 429. What they come to without a meter is what their own login comes to.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Collector } from "../../src/agents/turn/collector.ts";
import { type JsonObject, asRecord } from "../../src/agents/turn/untrusted-json.ts";
import { computeOutcome } from "../../src/agents/turn/outcome.ts";
import { nothingUsed, computeUsage } from "../../src/agents/turn/reported-usage.ts";
import { findShippedProfile } from "../../src/agents/profiles/shipped-profiles.ts";

type Recorded = {
  readonly turn: string;
  readonly updates: readonly {
    readonly when: "before" | "during" | "after";
    readonly update: JsonObject;
  }[];
  readonly answer: {
    readonly result?: JsonObject;
    readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  };
};

const folder = join(dirname(fileURLToPath(import.meta.url)), "..", "fixtures", "frames");
const recorded = readFileSync(join(folder, "recorded.ndjson"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Recorded);

function replay({ turn, updates, answer }: Recorded) {
  const profile = findShippedProfile(turn.replace(/-(?:done|400|429)$/, ""));
  if (profile === null) throw new Error(`no profile for ${turn}`);
  const collector = new Collector("1@1/execute#1", () => undefined);
  collector.open("s");

  const take = (when: string): void => {
    for (const update of updates) {
      if (update.when === when) collector.take({ sessionId: "s", update: update.update });
    }
  };
  take("before");
  collector.begin();
  take("during");
  take("after");
  const response = answer.result ?? null;
  const usage =
    response === null
      ? null
      : computeUsage(profile.usage, collector.composeUsageReport(response), nothingUsed);

  const { error } = answer;
  const computed = computeOutcome({
    end:
      error === undefined
        ? { by: "stop", stop: String(response?.["stopReason"]) }
        : { by: "error", ...error, data: error.data ?? null },
    isOpen: true,
    said: collector.said,
    answer: collector.answer,
    stderr: "",
    usage,
    toolCount: collector.tools.seenCount,
    refusals: 0,
    metas: [...collector.metas, asRecord(response)],
    modelCalls: [],
    probes: profile.probes,
    hasProvider: true,
    loginHint: profile.hints.login,
    nowMs: Date.parse("2026-03-10T12:00:00.000Z"),
  });

  return { usage, computed };
}

const expected: Readonly<
  Record<string, { readonly usage?: object | null; readonly computed: object }>
> = {
  "claude-done": {
    usage: { tokens: 63_410, input: 63_358, output: 52, cached: 63_349 },
    computed: { kind: "answered" },
  },
  "claude-400": { computed: { by: "provider", fault: "request" } },
  "claude-429": { computed: { by: "provider", fault: "limit" } },
  "codex-done": {
    usage: { tokens: 7847, input: 7793, output: 54, cached: 5083 },
    computed: { kind: "answered" },
  },
  "codex-400": { computed: { by: "provider" } },
  "codex-429": { computed: { by: "provider", fault: "limit" } },
  "codex-zed-done": { usage: null, computed: { kind: "answered" } },
  "codex-zed-400": { computed: { by: "provider", fault: "request" } },
  "codex-zed-429": { computed: { by: "provider", fault: "limit" } },
  "copilot-done": {
    usage: { tokens: 33_754, input: 33_694, output: 60, cached: 22_373 },
    computed: { kind: "answered" },
  },
  "copilot-400": { computed: { by: "provider", fault: "request" } },
  "copilot-429": {
    computed: { by: "provider", fault: "limit", resetAt: "2026-03-10T13:00:00.000Z" },
  },
  "gemini-done": {
    usage: { tokens: 35_658, input: 35_607, output: 51 },
    computed: { kind: "answered" },
  },
  "gemini-400": { computed: { by: "provider", fault: "request" } },
  "gemini-429": {
    computed: { by: "provider", fault: "limit", resetAt: "2026-03-10T13:00:00.000Z" },
  },
  "kimi-done": { usage: null, computed: { kind: "answered" } },
  "kimi-400": { computed: { by: "provider", fault: "service" } },
  "opencode-done": { usage: null, computed: { kind: "answered" } },
  "opencode-400": { computed: { by: "provider", fault: "request" } },
  "pi-done": { usage: null, computed: { kind: "answered" } },
  "pi-400": { computed: { by: "provider", fault: "service" } },
  "pi-429": { computed: { by: "provider" } },
  "qwen-done": { usage: { tokens: 58_251, output: 57, calls: 3 }, computed: { kind: "answered" } },
  "qwen-400": { computed: { by: "provider", fault: "request" } },
};

test("every recorded turn is judged", () => {
  expect(recorded.map(({ turn }) => turn)).toEqual(
    Object.keys(expected).sort((a, b) => (a < b ? -1 : 1)),
  );
});

test.each(recorded.map((item) => [item.turn, item] as const))("%s", (turn, item) => {
  const { usage, computed } = replay(item);
  const want = expected[turn];
  if (want === undefined) throw new Error(`say what ${turn} comes to`);
  expect(computed).toMatchObject(want.computed);
  if (want.usage === null) expect(usage).toBe(null);
  else if (want.usage !== undefined) expect(usage).toMatchObject(want.usage);
});
