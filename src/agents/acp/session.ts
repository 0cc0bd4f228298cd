// session: initialises the agent and opens the session to work in, or resumes an older one.

import manifest from "../../../package.json" with { type: "json" };
import {
  type ClientContext,
  type InitializeResponse,
  PROTOCOL_VERSION,
  RequestError,
} from "@agentclientprotocol/sdk";
import type { AgentProfile } from "../profiles/profile.ts";
import type { StdioServer } from "../answer-tools/tools.ts";
import type { Collector } from "../turn/collector.ts";
import type { Watch } from "../turn/ending.ts";
import { type JsonObject, asRecord, asString } from "../turn/untrusted-json.ts";
import type { TurnLimits } from "../turn/turn-limits.ts";

export type OpenedSession =
  | {
      readonly session: string;
      readonly how: "new" | "resumed" | "loaded";
      /** Whether the replayed session already has the prompt; `unknown` if it was not replayed. */
      readonly holds: "yes" | "no" | "unknown";
      /** The answer to the opening: the modes and options it offers. */
      readonly offered: JsonObject;
      readonly warnings: readonly string[];
    }
  | { readonly problem: string };

/** The name is journaled and passed back to the agent: an overlong one is refused. */
const sessionCharsMax = 1024;

export type SessionRequest = {
  readonly layer: string;
  readonly session: string | null;
  readonly prompt: string;
  readonly tools: StdioServer | null;
};

/** The connection to an agent, and what is known of the agent. */
export type SessionContext = {
  readonly agent: ClientContext;
  readonly watch: Watch;
  readonly collector: Collector;
  readonly profile: Pick<AgentProfile, "lacks">;
  readonly limits: TurnLimits;
};

/** Opens a session, or resumes the requested one if the agent can. */
export async function openSession(
  context: SessionContext,
  request: SessionRequest,
): Promise<OpenedSession> {
  const agentInfo = await initialize(context);
  // The SDK does not validate answers, so this may be anything.
  const version = asRecord(agentInfo)["protocolVersion"];
  if (version !== PROTOCOL_VERSION) {
    return {
      problem: `it speaks version ${JSON.stringify(version) ?? "unknown"} of the Agent Client Protocol, and version ${PROTOCOL_VERSION} is needed`,
    };
  }

  const resumed = await resumeSession(context, request, agentInfo);
  if (resumed === null) return createSession(context, request);
  context.collector.open(resumed.session);

  return resumed;
}

/**
 * No file or terminal capabilities are offered: most agents ignore them, some break with them, and
 * the layer is the agent's folder anyway.
 */
function initialize({ agent, watch, limits }: SessionContext): Promise<InitializeResponse> {
  const response = agent.request("initialize", {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: "autopilot", version: manifest.version },
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  });
  return watch.ask(response, { asked: "initialize", ms: limits.initializeMs });
}

async function createSession(
  { agent, watch, collector, limits }: SessionContext,
  request: SessionRequest,
): Promise<OpenedSession> {
  const response = agent.request("session/new", {
    cwd: request.layer,
    mcpServers: listMcpServers(request),
  });
  const offered = asRecord(
    await watch.ask(response, { asked: "session/new", ms: limits.sessionMs }),
  );
  const session = asString(offered["sessionId"]) ?? "";
  if (session === "") return { problem: "it opened a session without a name" };
  if (session.length > sessionCharsMax) {
    return {
      problem: `it opened a session whose name has ${session.length} characters, more than ${sessionCharsMax}`,
    };
  }

  collector.open(session);
  const warnings =
    request.session === null
      ? []
      : [`the session ${request.session} could not be taken up again; a new one was opened`];

  return { session, how: "new", holds: "no", offered, warnings };
}

const listMcpServers = ({ tools }: SessionRequest): StdioServer[] =>
  tools === null ? [] : [{ ...tools, args: [...tools.args], env: [...tools.env] }];

/**
 * Resumes the session, or else loads it, which replays it whole; null if neither works. Some agents
 * announce what they cannot do (`lacks`).
 */
async function resumeSession(
  { agent, watch, collector, profile, limits }: SessionContext,
  request: SessionRequest,
  agentInfo: InitializeResponse,
): Promise<Exclude<OpenedSession, { problem: string }> | null> {
  const { session } = request;
  if (session === null) return null;
  const params = { sessionId: session, cwd: request.layer, mcpServers: listMcpServers(request) };

  const isPossible = {
    "session/resume":
      agentInfo.agentCapabilities?.sessionCapabilities?.resume != null &&
      !profile.lacks.includes("resume"),
    "session/load":
      agentInfo.agentCapabilities?.loadSession === true && !profile.lacks.includes("load"),
  };

  for (const method of ["session/resume", "session/load"] as const) {
    if (!isPossible[method]) continue;
    try {
      const resume = (): Promise<unknown> =>
        watch.ask<unknown>(agent.request(method, params), { asked: method, ms: limits.sessionMs });
      const { value, replay } = await collector.whileReplaying(resume);
      const isReplayed = method === "session/load";

      return {
        session,
        how: isReplayed ? "loaded" : "resumed",
        holds: isReplayed ? replay.searchPrompt(request.prompt) : "unknown",
        offered: asRecord(value),
        warnings: [],
      };
    } catch (error) {
      if (!(error instanceof RequestError)) throw error; // the agent refuses: the next way is tried
    }
  }

  return null;
}
