import type { Answer } from "../contracts/answer.ts";
import { agentProfiles, type AgentProfile } from "../agents/profiles.ts";
import { findHome } from "./home.ts";
import type { Place } from "./place.ts";
import { answered, refuse, reply } from "./reply.ts";
import { readSettings } from "./settings.ts";
import { rehearse } from "./rehearse.ts";

/** The agents that can be driven here: how each is found, and what its reported usage means. */
export function agents(place: Place, _input: object): Promise<Answer> {
  return answered(async () => {
    const settings = readSettings(place, findHome(place.cwd)?.root ?? place.cwd);
    const own = settings.kind === "settings" ? Object.entries(settings.config.agents ?? {}) : [];
    const list = [
      ...Object.values<AgentProfile>(agentProfiles).map(({ id, found, usage }) => ({
        name: id,
        found,
        usage,
        is_installed: found === "embedded",
      })),
      ...own.map(([name, { argv }]) => ({ name, found: argv?.join(" ") ?? "config", usage: "turn", is_installed: argv !== undefined })),
    ];
    const page = list.map(({ name, found, usage }) => `${name.padEnd(12)} ${found.padEnd(10)} usage: ${usage}`);
    return reply("ok", { message: `${list.length} agents.`, page, data: { agents: await Promise.resolve(list) } });
  });
}

/** Runs one harmless turn with an agent and says what came back. */
export function tryAgent(place: Place, input: { readonly name: string }): Promise<Answer> {
  return answered(async () => {
    if (input.name === "custom")
      return refuse("agent_unavailable", { message: "custom is a kind of agent: name one from the config instead." });
    return rehearse(place, input.name);
  });
}
