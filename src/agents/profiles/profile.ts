// profile: the type of an agent's profile: everything that differs between agents, as data
// (command, protocol, login, modes, limits).
//
// Words in double braces are filled in when a turn begins: {{url}} {{token}} {{model}} {{home}}
// {{proxy}} and what the mode adds.

import type { AgentOverride } from "../../contracts/config.ts";
import type { ModelApi } from "../../contracts/model-api.ts";
import type { ProviderFault } from "../../contracts/event.ts";

/** `acp`: the Agent Client Protocol. The others: one process a turn, a line of JSON an event. */
export type AgentProtocol = "acp" | "claude-stream" | "codex-exec";

/**
 * Where the numbers an agent reports are, and what they count (turn/reported-usage.ts reads them).
 * Beside the answer: `turn`: this turn. `lastCall`: the turn's last model call only. `cumulative`:
 * the session so far. `quotaMeta`: in `_meta.quota` of the answer, this turn. `chunkMeta`: in
 * `_meta.usage` of message chunks, one for each model call. `none`: nothing that can be used.
 */
export type UsageMeaning = NonNullable<AgentOverride["usage"]>;

/**
 * `read`: it asks before it changes or runs anything. `edit`: before it runs anything. `full`: it
 * never asks.
 */
export type PermissionMode = NonNullable<AgentOverride["mode"]>;

/** How an agent's permission mode is set; everything named is applied. */
export type ModeSetting = {
  /** For `session/set_mode`. */
  readonly session?: string;
  /** For `session/set_config_option`: option and value. */
  readonly options?: Readonly<Record<string, string>>;
  /** Further arguments, in place of `{{mode}}`, else at the end. */
  readonly argv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Further values for the templates of the private config. */
  readonly values?: Readonly<Record<string, string>>;
};

/** A program that starts the agent. The first of the list that is on the PATH is used. */
export type AgentProgram = {
  readonly name: string;
  /** Its arguments. */
  readonly words: readonly string[];
  /** The arguments that make it print its version and end; null if it has none. */
  readonly version: readonly string[] | null;
  /** The oldest that is known to work; null if any does. */
  readonly versionMin: string | null;
  /** Other programs that must be on the PATH. */
  readonly requiredPrograms: readonly string[];
  /**
   * Two agents have programs of one name: the npm package distinguishes them. `only`: it must come
   * from this one. `not`: it must not.
   */
  readonly onlyPackage: string | null;
  readonly notPackage: string | null;
};

/** A settings file of the agent, written below its private HOME before a turn. */
export type ConfigFile = {
  /** Below the private HOME, with slashes, without `..`. */
  readonly path: string;
  readonly format: "json" | "toml";
  /** Values are inside double quotes in it, and are escaped for that. */
  readonly content: string;
};

/**
 * How its model calls are routed through the meter, with the user's key, which the agent never
 * sees.
 */
export type MeteredAccess = {
  readonly api: ModelApi;
  /**
   * The variables of the user's environment that may hold the key; the first that is set is taken.
   */
  readonly keyEnv: readonly string[];
  /** Where the provider is, unless the config or one of `upstreamEnv` says otherwise. */
  readonly upstream: string;
  readonly upstreamEnv: readonly string[];
  /** The default model; empty: the agent chooses. */
  readonly model: string;
  readonly env: Readonly<Record<string, string>>;
  readonly files: readonly ConfigFile[];
  /** Further words of the command. */
  readonly argv: readonly string[];
};

/**
 * A login file. Only one that `refreshes` is ever copied back from the agent: its tokens are
 * renewed while it works.
 */
export type LoginFile = { readonly path: string; readonly refreshes: boolean };

/**
 * How it works with its own login. Its calls are not counted by the meter, but pass through its
 * proxy.
 */
export type OwnLogin = {
  /** Login files below HOME, lent for a turn. The login exists if the first does. */
  readonly files: readonly LoginFile[];
  /** Variables of the user's environment that are a login by themselves; passed on. */
  readonly tokenEnv: readonly string[];
  /** The hosts it cannot work without. */
  readonly hosts: readonly string[];
  /** The default model; empty: the agent chooses. */
  readonly model: string;
  readonly env: Readonly<Record<string, string>>;
  /** Written before a turn with this login. */
  readonly configs: readonly ConfigFile[];
};

/**
 * A sign that the model provider, not the agent, failed. A matching probe overrules an `end_turn`,
 * so a pattern must not fit what an agent says about its work: it begins where a line begins, with
 * words that the program and not the model writes.
 */
export type FailureProbe = {
  /**
   * `said`: the text of the answer. `meta`: a value in an update or in the prompt's answer.
   * `stderr`: the end of its stderr.
   */
  readonly where: "said" | "meta" | "stderr";
  /** For `meta`: the path of the value, `_meta.codex.threadStatus.type`. */
  readonly path?: string;
  readonly pattern: RegExp;
  readonly fault: ProviderFault;
};

export type AgentProfile = {
  readonly id: string;
  /** Its display name. */
  readonly title: string;
  readonly protocol: AgentProtocol;
  /**
   * `embedded`: shipped with the runner, plays a script. `named`: the cast has its command line.
   * `path`: a program looked up on the PATH.
   */
  readonly found: "embedded" | "named" | "path";
  readonly programs: readonly AgentProgram[];
  /**
   * Its command line, once resolved (see resolveProfile); the first is the program. Templates are
   * still in it.
   */
  readonly argv: readonly string[];
  /** Names passed from the runner's environment, besides the ones every agent gets. */
  readonly passEnv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Written before every turn, whatever the login. */
  readonly files: readonly ConfigFile[];
  /** Words that name the model, if one is named: `-m {{model}}`. */
  readonly modelArgv: readonly string[];
  /** Variables that name the model, if one is named. */
  readonly modelEnv: Readonly<Record<string, string>>;
  /**
   * The session option that names the model, if one is named; null if words, environment or files
   * do.
   */
  readonly modelOption: string | null;
  /**
   * The model that the user asks for; empty: the default of the chosen entry of `meters`, or of
   * `ownLogin`.
   */
  readonly model: string;
  /** Ways through the meter; the first whose key is set is used. None: it cannot be metered. */
  readonly meters: readonly MeteredAccess[];
  readonly ownLogin: OwnLogin | null;
  /** The config's choice; null: the key if there is one, else the agent's own login. */
  readonly login: "key" | "own" | null;
  /** False for scripts and the user's own commands, which need no login. */
  readonly needsLogin: boolean;
  /** Further hosts it may reach. */
  readonly hosts: readonly string[];
  readonly mode: PermissionMode;
  readonly modes: Readonly<Record<PermissionMode, ModeSetting>>;
  readonly usage: UsageMeaning;
  /**
   * Whether it reports what its session has cost so far. That may come after its answer, and is
   * waited for unless a meter counts.
   */
  readonly reportsCost: boolean;
  readonly probes: readonly FailureProbe[];
  /**
   * How long it takes to end by itself once its input has ended; 0: it does not, and needs TERM at
   * once.
   */
  readonly stop: { readonly eofMs: number };
  /** Capabilities that it announces and that fail when they are used. */
  readonly lacks: readonly ("resume" | "load")[];
  /** Whether it starts the MCP servers named in `session/new` (or by its own flag) over stdio. */
  readonly mcp: boolean;
  /** Arguments that name them, if `session/new` is not enough: `{{mcp}}` is their JSON. */
  readonly mcpArgv?: readonly string[];
  /** The oldest Node it runs on, if it is a Node program; else null. */
  readonly minNode: string | null;
  /** If one of these is installed too, this one is used only if named. */
  readonly yieldsTo: readonly string[];
  readonly hints: { readonly install: string; readonly login: string };
};
