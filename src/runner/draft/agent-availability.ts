// agent-availability: whether each agent can be used on this machine: installed, logged in, and what prevents it.

import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute } from "node:path";
import { findAgent, type FoundAgent, onPath } from "../../agents/find.ts";
import { chooseLogin, type ChosenLogin } from "../../agents/profiles/login.ts";
import type { AgentProfile } from "../../agents/profiles/profile.ts";
import { resolveProfile } from "../../agents/profiles/resolve.ts";
import { agentProfiles } from "../../agents/profiles/table.ts";
import type { AgentOverride, Config } from "../../contracts/config.ts";
import type { CommandContext } from "../../project/command-context.ts";

export type AgentAvailability = {
  readonly name: string;
  readonly profile: AgentProfile;
  readonly override: Omit<AgentOverride, "argv">;
  readonly state: FoundAgent["state"];
  /** Its command line; empty if it is missing. */
  readonly argv: readonly string[];
  readonly realPath: string | null;
  readonly version: string | null;
  readonly login: ChosenLogin;
  /** Null if the agent can be used. */
  readonly problem: string | null;
  readonly fix: string | null;
};

/** Every agent with a profile or a setting, including the embedded one. */
export function agentsHere(context: CommandContext, config: Config): Promise<readonly AgentAvailability[]> {
  const shipped = Object.keys(agentProfiles).filter((name) => name !== "custom");
  const names = [...new Set([...shipped, ...Object.keys(config.agents ?? {})])];
  return Promise.all(names.map((name) => availabilityOf(context, name, config)));
}

export async function availabilityOf(context: CommandContext, name: string, config: Config): Promise<AgentAvailability> {
  const said = config.agents !== undefined && Object.hasOwn(config.agents, name) ? config.agents[name] : undefined;
  const { argv: words, ...override } = said ?? {};
  const resolved = resolveProfile({ agent: name, ...(words === undefined ? {} : { argv: [...words] }), override });
  if ("problem" in resolved) return unresolved(name, override, resolved.problem);
  const { profile } = resolved;
  const login = chooseLogin(profile, context.env, getUserHome(context));
  const found = await foundBy(profile, context);
  const trouble = found.problem === null ? unready(login) : { problem: found.problem, fix: found.fix };
  const { state, argv, realPath, version } = found;
  return { name, profile, override, state, argv, realPath, version, login, ...trouble };
}

/** The problem is empty if the login is complete. */
export const unready = (login: ChosenLogin): Pick<AgentAvailability, "problem" | "fix"> =>
  login.kind === "missing" ? { problem: `not logged in: ${login.problem}`, fix: login.fix } : { problem: null, fix: null };

export const isUsable = ({ state, problem }: AgentAvailability): boolean => state === "installed" && problem === null;

/** The candidates if no agent is named: none that yields to another, and not the embedded one. */
export function candidates(availability: readonly AgentAvailability[]): readonly AgentAvailability[] {
  const installed = availability.filter(
    (agent) => agent.profile.found !== "embedded" && (agent.state === "installed" || isOwnCommand(agent)),
  );
  return installed.filter(({ profile }) => !profile.yieldsTo.some((other) => installed.some(({ name }) => name === other)));
}

/** A user's own command is started as it is: whether it exists shows then. */
export const isOwnCommand = ({ profile, argv }: Pick<AgentAvailability, "profile" | "argv">): boolean =>
  profile.found === "named" && argv.length > 0;

/** Its command line, as shown: every placeholder filled in. */
export const agentAvailabilityCommand = ({ profile, argv }: Pick<AgentAvailability, "profile" | "argv">): readonly string[] =>
  profile.found === "embedded"
    ? ["autopilot", "go", "--agent", "scripted:FILE"]
    : argv.flatMap((word) => (word === "{{mode}}" ? (profile.modes[profile.mode].argv ?? []) : [word]));

export const getUserHome = (context: CommandContext): string => context.env["HOME"] ?? homedir();

type Found = Pick<FoundAgent, "state" | "argv" | "realPath" | "version" | "problem" | "fix">;

async function foundBy(profile: AgentProfile, context: CommandContext): Promise<Found> {
  const nothing = { argv: [], realPath: null, version: null, problem: null, fix: null };
  switch (profile.found) {
    case "path":
      return findAgent(profile, context.env);
    case "embedded":
      return { ...nothing, state: "installed" };
    case "named":
      return named(profile, context, nothing);
  }
}

/** A user's own command: it is not run to inspect it. */
function named({ argv, id, hints }: AgentProfile, { env }: CommandContext, nothing: Omit<Found, "state">): Found {
  const [program] = argv;
  if (program === undefined)
    return { ...nothing, state: "missing", problem: "no command is given for it", fix: `set agents.${id}.argv in the config` };
  // It is started in a folder that agents write to: a program looked up there could change with every turn.
  if (program.includes("/") && !isAbsolute(program))
    return {
      ...nothing,
      state: "unfit",
      problem: `${program} isn't an absolute path`,
      fix: `write agents.${id}.argv with the program's whole path`,
    };
  if (program.includes("/") ? existsSync(program) : onPath(program, env) !== null) return { ...nothing, state: "installed", argv };
  const fix = hints.install.replace("agents.NAME", `agents.${id}`);
  return {
    ...nothing,
    state: "missing",
    argv,
    problem: program.includes("/") ? `${program} does not exist` : `${program} is not on the PATH`,
    fix,
  };
}

const unresolved = (name: string, override: Omit<AgentOverride, "argv">, why: string): AgentAvailability => ({
  name,
  profile: agentProfiles.custom,
  override,
  state: "missing",
  argv: [],
  realPath: null,
  version: null,
  login: { kind: "none" },
  problem: `agents.${name}.like: ${why}`,
  fix: `fix agents.${name}.like in the config`,
});
