// open-agents: implements the agents port with real processes: one process for one prompt or more,
// one meter account per turn.
//
// Invariants:
//   O1. A turn's account is open for as long as a process of the turn may live, and no longer.
//   O2. The meter's count is the usage; the agent's own report counts only if the meter saw
//       nothing.
//   O3. A lent login is copied back, however the turn ends; after a crash by the next process.

import { randomUUID } from "node:crypto";
import { homedir } from "node:os";
import type { Agents, TurnRequest, TurnResult } from "../ports/agent.ts";
import type { Account, Meter } from "../ports/meter.ts";
import { turnLimits, type TurnLimits } from "./turn/turn-limits.ts";
import { lendLogin, type LentLogin, returnLeftoverLoans } from "./lent-login.ts";
import { type Metering, openMetering } from "./metering.ts";
import { writePrivateConfig } from "./private-config.ts";
import { killMarkedProcesses } from "./process/end-tree.ts";
import { type Guardian, openGuardian } from "./process/guardian.ts";
import { createLifeFilter, createRunFilter } from "./process/process-mark.ts";
import type { ProcessCommand } from "./process/spawn-agent.ts";
import { composeProfileArgv, type EmbeddedAgent } from "./profiles/compose-argv.ts";
import { composeLaunch } from "./profiles/compose-launch.ts";
import { type ChosenLogin, chooseLogin } from "./profiles/choose-login.ts";
import type { AgentProfile } from "./profiles/profile.ts";
import { resolveProfile } from "./profiles/resolve-profile.ts";
import { agentProfiles } from "./profiles/shipped-profiles.ts";
import { toReturnContext } from "./judge-return.ts";
import {
  openSubmissions,
  type Submissions,
  type ValidateReturn,
} from "./answer-tools/submissions.ts";
import { toMcpConfigJson, describeReturnsServer, type StdioServer } from "./answer-tools/tools.ts";
import type { PreparedTurn } from "./prepared-turn.ts";
import { loadTurnRunner } from "./load-protocol.ts";

export type TurnParts = {
  readonly profile: AgentProfile;
  readonly account: Account | null;
  readonly tools: StdioServer | null;
};

export type AgentsOptions = {
  readonly embedded: EmbeddedAgent;
  readonly validateReturn: ValidateReturn;
  /**
   * Counts and cuts model calls, and serves the runner's own tools. Without it calls are neither
   * counted nor cut.
   */
  readonly meter?: Meter | null;
  /** The bundled program that offers the runner's own tools; none: they are not offered. */
  readonly returnsEntry?: string;
  /** Hosts every agent may reach. */
  readonly hosts?: readonly string[];
  /**
   * A scope's globs as a test for paths below the layer. Without it every path of the layer is
   * allowed.
   */
  readonly scopeOf?: (globs: readonly string[]) => (path: string) => boolean;
  /**
   * Identifies the repository, since two could have a run of one name: a sweep leaves the other's
   * agents alone.
   */
  readonly repository?: string;
  /** A private HOME; its config is written there and its login lent to it. */
  readonly home?: string;
  /** The user's environment and home, where keys and logins are. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly userHome?: string;
  /** Further variables of one turn; what the profile sets counts before them. */
  readonly turnEnv?: (request: TurnRequest) => Readonly<Record<string, string>>;
  /**
   * Wraps an agent's command in isolation: the command alone, or with its environment and folder.
   */
  readonly wrap?: (
    argv: readonly string[],
    request: TurnRequest,
    env: Readonly<Record<string, string>>,
    parts: TurnParts,
  ) => readonly string[] | ProcessCommand;
  readonly limits?: Partial<TurnLimits>;
  /** Resource limits of a turn, and where it writes. Without it they are not watched. */
  readonly boundsOf?: (request: TurnRequest) => PreparedTurn["bounds"];
};

export type OpenedAgents = Agents & {
  /**
   * The guardian also ends processes with this `NAME=value` in their environment if the runner
   * dies, until it's released.
   */
  readonly guard: (mark: string) => () => void;
  /** Loads the protocol that nearly all agents speak, before the first turn needs it. */
  readonly prepare: () => Promise<unknown>;
  /** Ends what this set of agents started and releases its guardian. */
  readonly close: () => Promise<void>;
};

export function openAgents(options: AgentsOptions): OpenedAgents {
  const agentsId = randomUUID();
  const repository = options.repository ?? "";
  let guardian: Guardian | null = null;
  const getGuardian = (): Guardian => (guardian ??= openGuardian(agentsId));

  return {
    turn: (request) =>
      runTurn(
        options,
        request,
        { run: request.run, attempt: request.attempt, repository, agentsId },
        getGuardian,
      ),
    guard: (mark) => getGuardian().alsoEnd(mark),
    prepare: () => loadTurnRunner("acp"),
    // Leaves this process's own agents alone: after a crash attempts are settled one at a time, and
    // agents of the first ones already run.
    sweep: async (run) => {
      const sweptCount = await killMarkedProcesses(
        (words) => createRunFilter(run, repository)(words) && !createLifeFilter(agentsId)(words),
        "all",
      );

      if (options.home !== undefined) {
        returnLeftoverLoans(lendableFiles, options.userHome ?? homedir(), options.home);
      } // O3

      return sweptCount;
    },
    close: async () => {
      await killMarkedProcesses(createLifeFilter(agentsId), "since_runner");
      guardian?.dismiss();
      guardian = null;
    },
  };
}

/** Every file that may have been lent. */
const lendableFiles = Object.values(agentProfiles).flatMap(
  ({ ownLogin: own }: AgentProfile) => own?.files ?? [],
);

/** What is known of a turn before anything of it is opened. */
type TurnSetup = {
  readonly options: AgentsOptions;
  readonly request: TurnRequest;
  readonly mark: PreparedTurn["mark"];
  readonly getGuardian: () => Guardian;
  readonly profile: AgentProfile;
  readonly login: UsableLogin;
  /** The hosts it may reach for its work. */
  readonly hosts: readonly string[];
  /** The user's environment and home. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly userHome: string;
};

/**
 * Opens what the turn needs (answers, meter, login), runs the agent's protocol, and closes all of
 * it, however that ended.
 */
async function runTurn(
  options: AgentsOptions,
  request: TurnRequest,
  mark: PreparedTurn["mark"],
  getGuardian: () => Guardian,
): Promise<TurnResult> {
  if (request.cancel.aborted) {
    return {
      kind: "cut",
      by: "cancel",
      detail: "The turn was cancelled before it began.",
      usage: null,
    };
  }

  const env = options.env ?? process.env;
  const userHome = options.userHome ?? homedir();
  const chosen = chooseProfile(options, request, env, userHome);
  if ("problem" in chosen) return createUnavailable(chosen.problem);

  const { profile, login } = chosen;
  const hosts = [...new Set([...(options.hosts ?? []), ...profile.hosts])];
  const setup = { options, request, mark, getGuardian, profile, login, hosts, env, userHome };

  const context = toReturnContext(request);
  const submissions = openSubmissions(request.returns, options.validateReturn, context);
  const metering = openTurnMetering(setup, submissions);
  const warnings: string[] = [];
  let loan: LentLogin | null = null;
  let result: TurnResult;

  try {
    if (login.kind === "own" && options.home !== undefined) {
      loan = await lendLogin(profile, userHome, options.home);
    }

    const prepared = prepareTurn(setup, submissions, metering);
    const meteredRequest: TurnRequest = {
      ...request,
      onAskAgain: (ask, errors, raw, usage) =>
        request.onAskAgain(ask, errors, raw, metering.takeUsed() ?? usage), // O2
    };

    // Loaded with the first turn that needs it.
    const runProtocolTurn = await loadTurnRunner(profile.protocol);
    result = await runProtocolTurn(meteredRequest, prepared);
  } finally {
    metering.close(); // O1
    const returnedLogin = await loan?.giveBack(); // O3
    for (const { path, why } of returnedLogin?.keptFiles ?? []) {
      warnings.push(`~/${path}, which was lent to it, was not taken back: ${why}`);
    }
  }

  const refusedHosts = metering.account?.refusedHosts() ?? [];
  if (refusedHosts.length > 0) {
    warnings.push(`it wanted to reach ${refusedHosts.join(", ")}, not among the allowed hosts`);
  }

  return addWarnings({ ...result, usage: metering.takeUsed() ?? result.usage }, warnings); // O2
}

/** A turn that did not end normally has one sentence: a refused host may be why. */
const addWarnings = (result: TurnResult, warnings: readonly string[]): TurnResult =>
  result.kind === "ended"
    ? { ...result, warnings: [...result.warnings, ...warnings] }
    : { ...result, detail: [result.detail, ...warnings].join("; ") };

function openTurnMetering(
  { options, request, login, hosts }: TurnSetup,
  submissions: Submissions,
): Metering {
  return openMetering(options.meter ?? null, {
    attempt: request.attempt,
    upstreams: login.kind === "key" ? [login.upstream] : [],
    hosts: login.kind === "own" ? [...new Set([...hosts, ...login.hosts])] : hosts,
    left: request.allowanceLeft,
    isUnpaid: request.isUnpaid,
    onTool: submissions.onTool,
  });
}

/** Composes what the protocol's turn gets, and writes the agent's config to its private HOME. */
function prepareTurn(
  { options, request, mark, getGuardian, profile, login, hosts, env, userHome }: TurnSetup,
  submissions: Submissions,
  metering: Metering,
): PreparedTurn {
  const { account } = metering;
  const usesProxy = hosts.length > 0 || login.kind === "own";
  const turnValues = {
    home: options.home ?? userHome,
    url: login.kind === "key" ? (account?.urlOf(login.way.api) ?? "") : "",
    token: account?.token ?? "",
    proxy: usesProxy ? (account?.proxyUrl ?? "") : "",
  };

  if (options.home !== undefined) writePrivateConfig(profile, { ...turnValues, login });
  const launch = composeLaunch(profile, login, turnValues);
  const tools = describeOwnTools(options, request, profile, account);
  const parts: TurnParts = { profile, account, tools };

  return {
    profile,
    argv: [...launch.argv, ...composeToolArguments(profile, tools)],
    env: { ...options.turnEnv?.(request), ...launch.env },
    passEnv: launch.passEnv,
    inherited: env,
    home: options.home ?? null,
    model: "model" in login ? login.model : profile.model,
    mark,
    wrap: (command) => {
      const wrapped = options.wrap?.(command.argv, request, command.env, parts);
      return toWrappedCommand(command, wrapped);
    },
    guardian: getGuardian(),
    validateReturn: options.validateReturn,
    submissions,
    metering,
    tools,
    isInScope: options.scopeOf?.(request.scope) ?? (() => true),
    mayFetch: hosts.length > 0,
    limits: { ...turnLimits, ...options.limits },
    bounds: options.boundsOf?.(request) ?? null,
  };
}

/** How the agent starts the runner's own tools; null if they are not offered. */
function describeOwnTools(
  { returnsEntry, embedded }: AgentsOptions,
  request: TurnRequest,
  { mcp }: AgentProfile,
  account: Account | null,
): StdioServer | null {
  if (account === null || returnsEntry === undefined || !mcp) return null;
  return describeReturnsServer(
    { node: embedded.nodePath, entry: returnsEntry },
    account,
    request.returns?.schema ?? null,
  );
}

/** Arguments that name the tools, for agents that don't start the servers of a session. */
const composeToolArguments = (
  { mcpArgv = [] }: AgentProfile,
  tools: StdioServer | null,
): readonly string[] =>
  tools === null
    ? []
    : mcpArgv.map((word) => word.replace("{{mcp}}", () => toMcpConfigJson(tools)));

type UsableLogin = Exclude<ChosenLogin, { kind: "missing" }>;

/** The profile, command and login of a turn; or why there is none. */
function chooseProfile(
  options: AgentsOptions,
  request: TurnRequest,
  env: Readonly<Record<string, string | undefined>>,
  userHome: string,
): { readonly profile: AgentProfile; readonly login: UsableLogin } | { readonly problem: string } {
  const resolved = resolveProfile(request.cast);
  if ("problem" in resolved) return resolved;
  const command = composeProfileArgv(resolved.profile, request.cast, options.embedded);
  if ("problem" in command) return command;
  const profile = { ...resolved.profile, argv: command.argv };
  const login = chooseLogin(profile, env, userHome);
  if (login.kind === "missing") {
    return { problem: `it is not logged in: ${login.problem}; ${login.fix}` };
  }

  if (login.kind === "key" && (options.meter ?? null) === null) {
    return {
      problem: "it would be used with a key, and there is no meter that holds the key for it",
    };
  }

  return { profile, login };
}

const createUnavailable = (problem: string): TurnResult => ({
  kind: "failed",
  reason: "agent_unavailable",
  detail: `The agent cannot be started: ${problem}.`,
  said: "",
  usage: null,
});

function toWrappedCommand(
  plain: ProcessCommand,
  wrapped: readonly string[] | ProcessCommand | undefined,
): ProcessCommand {
  if (wrapped === undefined) return plain;
  return "argv" in wrapped ? wrapped : { ...plain, argv: wrapped };
}
