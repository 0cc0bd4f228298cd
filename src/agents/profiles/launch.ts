// launch: a profile's templates filled in for one turn: the command, the environment, the config files.
//
// Invariants:
//   A1. What is filled in is not read again: a value with double braces in it stays as it is, and so do words no turn brings.
//   A2. In a config file a value cannot end the quotes it is in.

import type { ChosenLogin } from "./login.ts";
import type { AgentProfile, ConfigFile } from "./profile.ts";

/** What a turn brings along. */
export type TurnValues = {
  /** The private HOME, as the agent sees it. */
  readonly home: string;
  /** Where the agent sends its model calls, and what it shows there; empty without a key. */
  readonly url: string;
  readonly token: string;
  /** The proxy in front of the allowed hosts; empty if nothing but the meter is to be reached. */
  readonly proxy: string;
};

export type LaunchSpec = {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly passEnv: readonly string[];
  /** Below the private HOME. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
};

export function launchSpec(profile: AgentProfile, login: ChosenLogin, turn: TurnValues): LaunchSpec {
  const mode = profile.modes[profile.mode];
  const model = login.kind === "key" || login.kind === "own" ? login.model : profile.model;
  const values: Readonly<Record<string, string>> = { ...mode.values, ...turn, model };
  const isNamed = model !== "";
  const way = login.kind === "key" ? login.way : null;
  const own = login.kind === "own" ? profile.own : null;
  const words = profile.argv.flatMap((word) => (word === "{{mode}}" ? (mode.argv ?? []) : [word]));
  const argv = [
    ...words,
    ...(profile.argv.includes("{{mode}}") ? [] : (mode.argv ?? [])),
    ...(isNamed ? profile.modelArgv : []),
    ...(way?.argv ?? []),
  ];
  const env = {
    ...(turn.proxy === "" ? {} : proxyEnvironment),
    ...way?.env,
    ...own?.env,
    ...(isNamed ? profile.modelEnv : {}),
    ...mode.env,
    // Last, because the user's own words are in it.
    ...profile.env,
  };
  const files = [...profile.files, ...(way?.files ?? []), ...(own?.configs ?? [])];
  return {
    argv: argv.map((word) => fillTemplate(word, values)),
    env: Object.fromEntries(Object.entries(env).map(([name, text]) => [name, fillTemplate(text, values)])),
    passEnv: [...profile.passEnv, ...(login.kind === "own" ? login.variables : [])],
    files: files.map((file) => ({ path: file.path, text: renderConfigFile(file, values) })),
  };
}

const proxyEnvironment = {
  HTTP_PROXY: "{{proxy}}",
  HTTPS_PROXY: "{{proxy}}",
  http_proxy: "{{proxy}}",
  https_proxy: "{{proxy}}",
  NO_PROXY: "127.0.0.1,localhost",
  no_proxy: "127.0.0.1,localhost",
  // Node's own fetch looks at the others only when it is told to.
  NODE_USE_ENV_PROXY: "1",
} as const;

/** A config file's text. JSON's strings and TOML's basic strings are escaped alike, except for one character. */
export function renderConfigFile({ content }: Pick<ConfigFile, "content">, values: Readonly<Record<string, string>>): string {
  const escaped = (value: string): string => JSON.stringify(value).slice(1, -1).replaceAll("\u007f", "\\u007f"); // A2
  return fillTemplate(content, Object.fromEntries(Object.entries(values).map(([name, value]) => [name, escaped(value)])));
}

function fillTemplate(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => (Object.hasOwn(values, name) ? (values[name] ?? whole) : whole)); // A1
}
