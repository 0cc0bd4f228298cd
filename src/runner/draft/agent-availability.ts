// agent-availability: checks whether each agent can be used on this machine: installed, logged in,
// and what prevents it.

import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute } from "node:path";
import { findAgent, type FoundAgent, findOnPath } from "../../agents/find-agents.ts";
import { chooseLogin, type ChosenLogin } from "../../agents/profiles/choose-login.ts";
import type { AgentProfile } from "../../agents/profiles/profile.ts";
import { resolveProfile } from "../../agents/profiles/resolve-profile.ts";
import { agentProfiles } from "../../agents/profiles/shipped-profiles.ts";
import type { AgentOverride, Config } from "../../contracts/config.ts";
import type { CommandContext } from "../../project/command-context.ts";

export type AgentAvailability = {
  readonly name: string;
  readonly profile: AgentProfile;
  readonly override: Omit<AgentOverride, "argv">;
  readonly state: FoundAgent["state"];
  /** The agent's command line; empty if it is not installed. */
  readonly argv: readonly string[];
  readonly realPath: string | null;
  readonly version: string | null;
  readonly login: ChosenLogin;
  /** Null if the agent can be used. */
  readonly problem: string | null;
  readonly fix: string | null;
};

/** Checks every agent with a profile or a setting, including the embedded one. */
export function listAvailability(
  context: CommandContext,
  config: Config,
): Promise<readonly AgentAvailability[]> {
  const shipped = Object.keys(agentProfiles).filter((name) => name !== "custom");
  const names = [...new Set([...shipped, ...Object.keys(config.agents ?? {})])];
  return Promise.all(names.map((name) => checkAvailability(context, name, config)));
}

export async function checkAvailability(
  context: CommandContext,
  name: string,
  config: Config,
): Promise<AgentAvailability> {
  const setting =
    config.agents !== undefined && Object.hasOwn(config.agents, name)
      ? config.agents[name]
      : undefined;

  const { argv: configuredArgv, ...override } = setting ?? {};
  const resolved = resolveProfile({
    agent: name,
    ...(configuredArgv === undefined ? {} : { argv: [...configuredArgv] }),
    override,
  });
  if ("problem" in resolved) return createUnresolved(name, override, resolved.problem);
  const { profile } = resolved;
  const login = chooseLogin(profile, context.env, getUserHome(context));
  const location = await locateAgent(profile, context);
  const problemAndFix =
    location.problem === null
      ? describeLoginProblem(login)
      : { problem: location.problem, fix: location.fix };

  const { state, argv, realPath, version } = location;
  return { name, profile, override, state, argv, realPath, version, login, ...problemAndFix };
}

/** Says what is missing for the login; the problem is null if nothing is. */
export const describeLoginProblem = (
  login: ChosenLogin,
): Pick<AgentAvailability, "problem" | "fix"> =>
  login.kind === "missing"
    ? { problem: `not logged in: ${login.problem}`, fix: login.fix }
    : { problem: null, fix: null };

export const isUsable = ({ state, problem }: AgentAvailability): boolean =>
  state === "installed" && problem === null;

/**
 * Finds the agents to choose from if none is named: none that yields to another, and not the
 * embedded one.
 */
export function findCandidates(
  availability: readonly AgentAvailability[],
): readonly AgentAvailability[] {
  const installed = availability.filter(
    (agent) =>
      agent.profile.found !== "embedded" && (agent.state === "installed" || isOwnCommand(agent)),
  );
  const isInstalled = (wanted: string): boolean => installed.some(({ name }) => name === wanted);
  return installed.filter(({ profile }) => !profile.yieldsTo.some(isInstalled));
}

/**
 * Whether the agent is a user's own command. It is started as it is; if it doesn't exist, starting
 * it reports that.
 */
export const isOwnCommand = ({
  profile,
  argv,
}: Pick<AgentAvailability, "profile" | "argv">): boolean =>
  profile.found === "named" && argv.length > 0;

/** The agent's command line as shown to people: every placeholder filled in. */
export const toShownCommand = ({
  profile,
  argv,
}: Pick<AgentAvailability, "profile" | "argv">): readonly string[] =>
  profile.found === "embedded"
    ? ["autopilot", "go", "--agent", "scripted:FILE"]
    : argv.flatMap((word) =>
        word === "{{mode}}" ? (profile.modes[profile.mode].argv ?? []) : [word],
      );

export const getUserHome = (context: CommandContext): string => context.env["HOME"] ?? homedir();

type AgentLocation = Pick<
  FoundAgent,
  "state" | "argv" | "realPath" | "version" | "problem" | "fix"
>;

async function locateAgent(profile: AgentProfile, context: CommandContext): Promise<AgentLocation> {
  const unknown = { argv: [], realPath: null, version: null, problem: null, fix: null };
  switch (profile.found) {
    case "path":
      return findAgent(profile, context.env);
    case "embedded":
      return { ...unknown, state: "installed" };
    case "named":
      return locateOwnCommand(profile, context, unknown);
  }
}

/** Locates a user's own command, without running it. */
function locateOwnCommand(
  { argv, id, hints }: AgentProfile,
  { env }: CommandContext,
  unknown: Omit<AgentLocation, "state">,
): AgentLocation {
  const [program] = argv;
  if (program === undefined) {
    return {
      ...unknown,
      state: "missing",
      problem: "no command is given for it",
      fix: `set agents.${id}.argv in the config`,
    };
  }

  // It is started in a folder that agents write to: a program looked up there could change with
  // every turn.
  if (program.includes("/") && !isAbsolute(program)) {
    return {
      ...unknown,
      state: "unfit",
      problem: `${program} isn't an absolute path`,
      fix: `write agents.${id}.argv with the program's whole path`,
    };
  }

  if (program.includes("/") ? existsSync(program) : findOnPath(program, env) !== null) {
    return { ...unknown, state: "installed", argv };
  }

  const fix = hints.install.replace("agents.NAME", () => `agents.${id}`);
  return {
    ...unknown,
    state: "missing",
    argv,
    problem: program.includes("/") ? `${program} does not exist` : `${program} is not on the PATH`,
    fix,
  };
}

const createUnresolved = (
  name: string,
  override: Omit<AgentOverride, "argv">,
  why: string,
): AgentAvailability => ({
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
