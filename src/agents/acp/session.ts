// session: initialises the agent and opens the session to work in, or resumes an older one.

import { type ClientContext, type InitializeResponse, PROTOCOL_VERSION, RequestError } from "@agentclientprotocol/sdk";
import type { AgentProfile } from "../profiles/profile.ts";
import type { StdioServer } from "../returns/tools.ts";
import type { Collector } from "./collector.ts";
import type { Watch } from "./ending.ts";
import { type JsonObject, asRecord, asString } from "./untrusted-json.ts";
import type { AcpLimits } from "./limits.ts";

export type Opened =
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

export type Wanted = {
  readonly layer: string;
  readonly session: string | null;
  readonly prompt: string;
  readonly tools: StdioServer | null;
};

export async function openSession(
  agent: ClientContext,
  watch: Watch,
  collector: Collector,
  want: Wanted,
  profile: Pick<AgentProfile, "lacks">,
  limits: AcpLimits,
): Promise<Opened> {
  // No file or terminal capabilities: most agents ignore them, some break with them, and the layer is the agent's own folder anyway.
  const known = await watch.ask(
    agent.request("initialize", {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: "autopilot", version: "0.1.0" },
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    }),
    { asked: "initialize", ms: limits.initializeMs },
  );
  // The SDK does not validate answers: anything may have come.
  const version = asRecord(known)["protocolVersion"];
  if (version !== PROTOCOL_VERSION) {
    return {
      problem: `it speaks version ${JSON.stringify(version) ?? "unknown"} of the Agent Client Protocol, and version ${PROTOCOL_VERSION} is needed`,
    };
  }
  const taken =
    want.session === null ? null : await resumeSession(agent, watch, collector, { ...want, session: want.session }, known, profile, limits);
  if (taken !== null) {
    collector.open(taken.session);
    return taken;
  }
  const made = await watch.ask(agent.request("session/new", { cwd: want.layer, mcpServers: serversOf(want) }), {
    asked: "session/new",
    ms: limits.sessionMs,
  });
  const offered = asRecord(made);
  const session = asString(offered["sessionId"]) ?? "";
  if (session === "") return { problem: "it opened a session without a name" };
  if (session.length > sessionCharsMax)
    return { problem: `it opened a session whose name has ${session.length} characters, more than ${sessionCharsMax}` };
  collector.open(session);
  const warnings = want.session === null ? [] : [`the session ${want.session} could not be taken up again; a new one was opened`];
  return { session, how: "new", holds: "no", offered, warnings };
}

const serversOf = ({ tools }: Wanted): StdioServer[] => (tools === null ? [] : [{ ...tools, args: [...tools.args], env: [...tools.env] }]);

/** Resuming comes first, because loading replays the whole session. Some agents announce what they cannot do. */
async function resumeSession(
  agent: ClientContext,
  watch: Watch,
  collector: Collector,
  want: Wanted & { readonly session: string },
  known: InitializeResponse,
  profile: Pick<AgentProfile, "lacks">,
  limits: AcpLimits,
): Promise<Exclude<Opened, { problem: string }> | null> {
  const params = { sessionId: want.session, cwd: want.layer, mcpServers: serversOf(want) };
  const can = {
    "session/resume": known.agentCapabilities?.sessionCapabilities?.resume != null && !profile.lacks.includes("resume"),
    "session/load": known.agentCapabilities?.loadSession === true && !profile.lacks.includes("load"),
  };
  for (const method of ["session/resume", "session/load"] as const) {
    if (!can[method]) continue;
    try {
      const asked = (): Promise<unknown> => watch.ask<unknown>(agent.request(method, params), { asked: method, ms: limits.sessionMs });
      const { value, replay } = await collector.whileReplaying(asked);
      const isReported = method === "session/load";
      return {
        session: want.session,
        how: isReported ? "loaded" : "resumed",
        holds: isReported ? replay.holds(want.prompt) : "unknown",
        offered: asRecord(value),
        warnings: [],
      };
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
    }
  }
  return null;
}
