// session: makes the agent's acquaintance and opens the session to work in, or takes up an older one.

import { type ClientContext, type InitializeResponse, PROTOCOL_VERSION, RequestError } from "@agentclientprotocol/sdk";
import type { AgentProfile } from "../profiles.ts";
import type { Collector } from "./collector.ts";
import type { Watch } from "./ending.ts";
import { recordOf, textOf } from "./loose.ts";
import type { AcpLimits } from "./limits.ts";

export type Opened =
  | { readonly session: string; readonly isTakenUp: boolean; readonly warnings: readonly string[] }
  | { readonly problem: string };

export async function openSession(
  agent: ClientContext,
  watch: Watch,
  collector: Collector,
  want: { readonly layer: string; readonly session: string | null },
  profile: AgentProfile,
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
  // Answers are not checked by the kit: anything may have come.
  const version = recordOf(known)["protocolVersion"];
  if (version !== PROTOCOL_VERSION) {
    return {
      problem: `it speaks version ${JSON.stringify(version) ?? "unknown"} of the Agent Client Protocol, and version ${PROTOCOL_VERSION} is needed`,
    };
  }
  if (want.session !== null) {
    const isTakenUp = await takeUp(agent, watch, collector, { ...want, session: want.session }, known, profile, limits);
    if (isTakenUp) return { session: want.session, isTakenUp, warnings: [] };
  }
  const made = await watch.ask(agent.request("session/new", { cwd: want.layer, mcpServers: [] }), {
    asked: "session/new",
    ms: limits.sessionMs,
  });
  const session = textOf(recordOf(made)["sessionId"]) ?? "";
  if (session === "") return { problem: "it opened a session without a name" };
  const warnings = want.session === null ? [] : [`the session ${want.session} could not be taken up again; a new one was opened`];
  return { session, isTakenUp: false, warnings };
}

/** Resuming comes first, because loading tells the whole session again. Some agents announce what they cannot do. */
async function takeUp(
  agent: ClientContext,
  watch: Watch,
  collector: Collector,
  want: { readonly layer: string; readonly session: string },
  known: InitializeResponse,
  profile: AgentProfile,
  limits: AcpLimits,
): Promise<boolean> {
  const params = { sessionId: want.session, cwd: want.layer, mcpServers: [] };
  const can = {
    "session/resume": known.agentCapabilities?.sessionCapabilities?.resume != null && !profile.lacks.includes("resume"),
    "session/load": known.agentCapabilities?.loadSession === true && !profile.lacks.includes("load"),
  };
  for (const method of ["session/resume", "session/load"] as const) {
    if (!can[method]) continue;
    try {
      await collector.whileReplaying(() => watch.ask(agent.request(method, params), { asked: method, ms: limits.sessionMs }));
      return true;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
    }
  }
  return false;
}
