// runner-stand-in: a runner reduced to one turn. It is started by a test with what it needs as
// JSON, and killed.

import { openAgents } from "../../src/agents/open-agents.ts";
import type { TurnRequest } from "../../src/ports/agent.ts";

const {
  entry: programPath,
  script,
  place,
  layer,
} = JSON.parse(process.argv[2] ?? "{}") as Record<"entry" | "script" | "place" | "layer", string>;
const agents = openAgents({
  embedded: { nodePath: process.execPath, programPath, scriptPathOf: () => script },
  validateReturn: () => ({ errors: ["nothing is asked for"] }),
  repository: place,
});
const request: TurnRequest = {
  run: "run-2026-01-02-030405",
  attempt: "1@1/execute#1",
  cast: { agent: "scripted", script: "0".repeat(64) },
  facts: {
    flow: "objective",
    phase: "1",
    step: "execute",
    role: "executor",
    task: null,
    attempt: 1,
    ask: 1,
  },
  history: [],
  prompt: "Do it.",
  returns: null,
  promise: null,
  layer,
  minutesMax: 10,
  scope: ["**"],
  isInterrupted: false,
  allowanceLeft: () => ({ tokens: Infinity, usd: Infinity, calls: Infinity }),
  isUnpaid: () => true,
  session: null,
  cancel: new AbortController().signal,
  onSession: () => Promise.resolve(),
  onAskAgain: () => Promise.resolve(false),
  onLiveEvent: () => undefined,
};
void agents.turn(request);
