// main: the program of the embedded agent. `node scripted.cjs SCRIPT` speaks the Agent Client
// Protocol on stdio and plays the script.

import type { McpServer, PromptRequest, PromptResponse } from "@agentclientprotocol/sdk";
import * as v from "valibot";
import { type Script, type ScriptTurn, type TurnFacts, TurnMeta } from "../../contracts/script.ts";
import { chooseTurn } from "./choose-turn.ts";
import { fillPlaceholders } from "./fill-placeholders.ts";
import { loadScript } from "./load-script.ts";
import { playTurn, type Stage, type TurnUsage } from "./play-turn.ts";
import { type CallRunner, openRunnerTools } from "./runner-tools.ts";
import { Refusal, serveProtocol, type SendUpdate } from "./serve-protocol.ts";

/** The version of the Agent Client Protocol. */
const protocolVersion = 1;
const noSuchSessionCode = -32002;
const contextTokens = 200_000;
const outputCharsMax = 4000;

/** The facts of a prompt that carries none: it matches only turns without conditions. */
const factsWithoutMeta: TurnFacts = {
  flow: "",
  phase: "",
  step: "",
  role: "",
  task: null,
  attempt: 1,
  ask: 1,
};

async function main(): Promise<void> {
  const file = process.argv[2];
  if (file === undefined) return exitWithUsage("usage: scripted SCRIPT");
  const loaded = await loadScript(file);
  if ("problem" in loaded) return exitWithUsage(loaded.problem);
  serve(loaded.script);
}

/**
 * An id that no other process gives. Loading node:crypto would take a fifth of this program's
 * start.
 */
const createId = (): string =>
  [process.pid, Date.now(), ...process.hrtime()].map((part) => part.toString(36)).join("-");

const joinPromptText = (
  blocks: readonly { readonly type: string; readonly text?: unknown }[],
): string => blocks.map(({ text }) => (typeof text === "string" ? text : "")).join("\n");

function exitWithUsage(text: string): void {
  process.stderr.write(`${text}\n`);
  process.exitCode = 2;
}

type Session = {
  readonly cwd: string;
  readonly callRunner: CallRunner;
  /** Its prompts so far: a correction does not repeat everything. */
  prompts: string;
};

function serve(script: Script): void {
  const sessions = new Map<string, Session>();
  const playedTurns: TurnFacts[] = [];
  let ignoresCancel = false;
  let cancel = new AbortController();
  let sessionUsd = 0;

  const answerPrompt = async (params: PromptRequest): Promise<PromptResponse> => {
    const { sessionId } = params;
    const session = sessions.get(sessionId);
    if (session === undefined) {
      throw new Refusal(noSuchSessionCode, `Resource not found: ${sessionId}`);
    }

    cancel = new AbortController();
    const { current, history } = parseFacts(params._meta, playedTurns);
    playedTurns.push(current);
    const turn = findTurn(script, history, current);
    session.prompts += `${joinPromptText(params.prompt)}\n`;

    const result = await playTurn(fillPlaceholders(turn, session.prompts), {
      ...createStage(report, sessionId),
      cwd: session.cwd,
      callRunner: session.callRunner,
      cancelled: cancel.signal,
      reportUsage: (used) => reportUsage(report, sessionId, used, sessionUsd),
      ignoreTerm: () => {
        ignoresCancel = true;
        ignoreSignals();
      },
    });
    if ("error" in result) throw new Refusal(result.error.code, result.error.message);
    sessionUsd += result.used?.usd ?? 0;
    const confidence = "confidence" in turn ? turn.confidence : undefined;

    return {
      stopReason: result.stop as "end_turn",
      ...(result.used === null ? {} : { usage: toUsage(result.used) }),
      ...(confidence === undefined ? {} : { _meta: { autopilot: { confidence } } }),
    };
  };

  const report = serveProtocol(
    process.stdin,
    process.stdout,
    {
      initialize: () => ({
        protocolVersion,
        agentInfo: { name: "scripted", version: "1" },
        agentCapabilities: { loadSession: false, sessionCapabilities: { resume: {} } },
        authMethods: [],
      }),
      "session/new": (params) => {
        const sessionId = `scripted-${createId()}`;
        sessions.set(sessionId, openSession(params, ""));
        return { sessionId };
      },
      "session/resume": (params) => {
        const prompts = sessions.get(params.sessionId)?.prompts ?? "";
        sessions.set(params.sessionId, openSession(params, prompts));
        return {};
      },
      "session/prompt": answerPrompt,
      "session/cancel": () => {
        if (!ignoresCancel) cancel.abort();
      },
    },
    () => {
      if (!ignoresCancel) process.exit(0);
    },
  );
}

function openSession(
  { cwd, mcpServers = [] }: { readonly cwd: string; readonly mcpServers?: readonly McpServer[] },
  prompts: string,
): Session {
  const server = mcpServers.find((candidate) => "command" in candidate);
  return { cwd, callRunner: openRunnerTools(server), prompts };
}

/** The turn to play; one that does nothing if no matching one is left. */
function findTurn(script: Script, history: readonly TurnFacts[], current: TurnFacts): ScriptTurn {
  const turnIndex = chooseTurn(script, history, current);
  if (turnIndex === null) return { do: [{ say: "nothing to do" }] };
  return script.turns[turnIndex] ?? {};
}

function parseFacts(
  meta: { readonly [key: string]: unknown } | null | undefined,
  playedTurns: readonly TurnFacts[],
): { current: TurnFacts; history: readonly TurnFacts[] } {
  const parsed = v.safeParse(TurnMeta, meta?.["autopilot"]);
  if (!parsed.success) return { current: factsWithoutMeta, history: playedTurns };
  const { run: _, history, ...current } = parsed.output;

  return { current, history };
}

function createStage(
  report: SendUpdate,
  sessionId: string,
): Omit<Stage, "cwd" | "callRunner" | "cancelled" | "reportUsage" | "ignoreTerm"> {
  const ids = new Map<object, string>();
  const chunk = (
    sessionUpdate: "agent_message_chunk" | "agent_thought_chunk",
    text: string,
  ): Promise<void> =>
    report({ sessionId, update: { sessionUpdate, content: { type: "text", text } } });

  return {
    sendText: (text) => chunk("agent_message_chunk", text),
    sendThought: (text) => chunk("agent_thought_chunk", text),
    reportTool: (tool, result) => {
      const toolCallId = ids.get(tool) ?? `tool-${createId()}`;
      ids.set(tool, toolCallId);
      const { title, kind } = tool;

      if (result === null) {
        const locations = tool.paths.map((path) => ({ path }));
        return report({
          sessionId,
          update: {
            sessionUpdate: "tool_call",
            toolCallId,
            title,
            kind,
            status: "in_progress",
            locations,
          },
        });
      }

      const text = result.output.slice(0, outputCharsMax);
      const content =
        text === "" ? [] : [{ type: "content" as const, content: { type: "text" as const, text } }];
      const status = result.ok ? "completed" : "failed";

      return report({
        sessionId,
        update: { sessionUpdate: "tool_call_update", toolCallId, status, content },
      });
    },
    writeStdout: (bytes) => new Promise((resolve) => process.stdout.write(bytes, () => resolve())),
    exit: (code) => process.exit(code),
  };
}

function reportUsage(
  report: SendUpdate,
  sessionId: string,
  used: TurnUsage,
  sessionUsd: number,
): Promise<void> {
  const cost =
    used.usd === null ? {} : { cost: { amount: sessionUsd + used.usd, currency: "USD" } };
  const tokens = used.input + used.output;
  return report({
    sessionId,
    update: {
      sessionUpdate: "usage_update",
      used: Math.round(tokens),
      size: contextTokens,
      ...cost,
    },
  });
}

const toUsage = (used: TurnUsage) => ({
  totalTokens: used.input + used.output + used.cached,
  inputTokens: used.input,
  outputTokens: used.output,
  cachedReadTokens: used.cached,
});

/** Neither an ignorable signal nor the end of its input ends it. */
function ignoreSignals(): void {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.on(signal, () => undefined);
  }

  setInterval(() => undefined, 60_000);
}

void main();
