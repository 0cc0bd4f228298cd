import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Config } from "../contracts/config.ts";
import type { Cast } from "../contracts/event.ts";
import type { Flow } from "../contracts/flow.ts";
import { Script } from "../contracts/script.ts";
import { stepsEverywhere } from "../flows/lists.ts";
import { didYouMean } from "../kit/suggest.ts";
import { isRefused, readLocated } from "../kit/located.ts";
import { loadedFlow } from "./flows.ts";
import type { Place } from "./place.ts";
import { refuse } from "./reply.ts";

/** Who plays which role. A script is read and checked now, and kept with the run: what an agent could change later decides nothing. */
export async function castOf(
  place: Place,
  agent: string | undefined,
  config: Config,
  flow: Flow,
  keep: (text: string) => Promise<string>,
): Promise<Record<string, Cast>> {
  const roles = await rolesOf(place, flow);
  const named = (role: string): string | undefined => agent ?? config.roles?.[role] ?? config.agent;
  const cast: Record<string, Cast> = {};
  for (const role of roles) cast[role] = await castFor(place, role, named(role), config, keep);
  return cast;
}

/** The roles of a flow and of every flow it calls: who plays them is settled before any agent could have a say. */
async function rolesOf(place: Place, flow: Flow, roles = new Set<string>(), known = new Set([flow.flow])): Promise<ReadonlySet<string>> {
  for (const { step } of stepsEverywhere(flow)) {
    if (step.agent !== undefined) roles.add(step.agent);
    if (step.flow === undefined || known.has(step.flow)) continue;
    known.add(step.flow);
    await rolesOf(place, (await loadedFlow(place, step.flow)).flow, roles, known);
  }
  return roles;
}

export async function castFor(
  place: Place,
  role: string,
  name: string | undefined,
  config: Config,
  keep: (text: string) => Promise<string>,
): Promise<Cast> {
  const known = Object.keys(config.agents ?? {});
  if (name === undefined) {
    return refuse("agent_unavailable", {
      message: `No agent is named for the role ${role}.`,
      remediation: ["--agent scripted:FILE plays a script", ...known.map((one) => `--agent ${one}`)],
    });
  }
  if (name.startsWith("scripted:")) return { agent: "scripted", script: await keep(scriptText(place, name.slice("scripted:".length))) };
  const argv = config.agents?.[name]?.argv;
  if (argv !== undefined) return { agent: name, argv: [...argv] };
  return refuse("agent_unavailable", {
    message: `There is no agent called ${name} here${didYouMean(name, known)}.`,
    remediation: [
      "autopilot agents lists what is here",
      `set agents.${name}.argv in .autopilot/config.yaml to the command of an ACP agent`,
    ],
  });
}

function scriptText(place: Place, file: string): string {
  const path = resolve(place.cwd, file);
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    return refuse("script_invalid", { message: `The script ${file} cannot be read: ${(error as Error).message}` });
  }
  const read = readLocated(path, bytes, Script);
  if (isRefused(read))
    refuse("script_invalid", {
      message: read.findings.map(({ line, message }) => `${file}:${line}: ${message}`).join("; "),
      data: { findings: read.findings },
    });
  return bytes.toString("utf8");
}
