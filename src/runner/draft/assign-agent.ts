// assign-agent: checks that an agent can be used here and returns how a run starts it; of a scripted
// agent the script is stored with the run.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { extendableProfiles } from "../../agents/profiles/resolve-profile.ts";
import { findShippedProfile } from "../../agents/profiles/shipped-profiles.ts";
import type { Config } from "../../contracts/config.ts";
import type { Cast } from "../../contracts/event.ts";
import { Script } from "../../contracts/script.ts";
import { isRefused, readLocated } from "../../kit/located.ts";
import { didYouMean } from "../../kit/suggest.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { refuse } from "../../project/respond.ts";
import { checkAvailability, describeLoginProblem, isOwnCommand } from "./agent-availability.ts";
import { chooseUnnamedAgent } from "./choose-unnamed-agent.ts";

/** What assigning an agent to a role needs. */
export type AssignmentInputs = {
  readonly context: CommandContext;
  readonly config: Config;
  /** Stores a script's text with the run and returns its hash. */
  readonly storeScript: (text: string) => Promise<string>;
};

const scriptedPrefix = "scripted:";

/** Without a name: the only agent installed, or the one the user chooses. */
export async function assignAgent(
  inputs: AssignmentInputs,
  role: string,
  givenName: string | undefined,
): Promise<Cast> {
  const { context, config, storeScript } = inputs;
  const name = givenName ?? (await chooseUnnamedAgent(context, config, role)).name;

  if (name.startsWith(scriptedPrefix)) {
    const script = readScript(context, name.slice(scriptedPrefix.length));
    return { agent: "scripted", script: await storeScript(script) };
  }

  if (name === "scripted") refuseMissingScript();
  if (!listKnownAgents(config).includes(name)) refuseUnknownAgent(name, config);
  return checkInstalledAgent(context, config, name);
}

/** How to start an agent that is installed here; refuses one that cannot be used. */
async function checkInstalledAgent(
  context: CommandContext,
  config: Config,
  name: string,
): Promise<Cast> {
  const availability = await checkAvailability(context, name, config);
  const { profile, argv, override, login } = availability;
  const isFound = isOwnCommand(availability) && availability.problem === null;
  const { problem, fix } = isFound ? describeLoginProblem(login) : availability;

  if (problem !== null) {
    const title = findShippedProfile(name) === null ? name : profile.title;
    return refuse("agent_unavailable", {
      message: `${title} cannot be used here: ${problem}.`,
      remediation: [fix ?? profile.hints.install, `autopilot agents try ${name}`],
      data: { agent: name },
    });
  }

  const hasOverride = Object.keys(override).length > 0;
  return { agent: name, argv: [...argv], ...(hasOverride ? { override } : {}) };
}

const refuseMissingScript = (): never =>
  refuse("agent_unavailable", {
    message: "The agent scripted plays a script, and none is named.",
    remediation: [
      "name its file too: scripted:FILE",
      "autopilot schema script says what may stand in one",
    ],
  });

const refuseUnknownAgent = (name: string, config: Config): never =>
  refuse("agent_unavailable", {
    message: `There is no agent called ${name} here.${didYouMean(name, listKnownAgents(config))}`,
    remediation: [
      "autopilot agents lists what is here",
      `set agents.${name}.argv in .autopilot/config.yaml to the command of an ACP agent`,
    ],
  });

const listKnownAgents = (config: Config): readonly string[] => [
  ...extendableProfiles.filter((name) => name !== "custom"),
  ...Object.keys(config.agents ?? {}),
];

/**
 * Reads a script, YAML or JSON, and returns it as the agent reads it, which is JSON; refuses if it
 * does not fit its schema.
 */
function readScript(context: CommandContext, file: string): string {
  const path = resolve(context.cwd, file);
  const bytes = readScriptFile(path, file);
  const parsed = readLocated(path, bytes, Script);

  if (isRefused(parsed)) {
    const problems = parsed.findings.map(({ line, message }) => `${file}:${line}: ${message}`);
    refuse("script_invalid", {
      message: problems.join("; "),
      data: { findings: parsed.findings },
    });
  }

  return JSON.stringify(parsed.value);
}

function readScriptFile(path: string, file: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    return refuse("script_invalid", {
      message: `The script ${file} cannot be read: ${(error as Error).message}`,
    });
  }
}
