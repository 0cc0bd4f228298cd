// compose-launch: composes the command, the environment and the config files for one turn from a
// profile and its login.
//
// Invariants:
//   A1. A filled-in value is not scanned again: double braces in it stay as they are, and so do
//       unknown placeholders.
//   A2. In a config file a value cannot end the quotes it is in.

import type { ChosenLogin } from "./choose-login.ts";
import type { AgentProfile, ConfigFile } from "./profile.ts";

/** What fills the placeholders of a profile for one turn: `{{home}}`, `{{url}}`, … */
export type TurnValues = {
  /** The private HOME, as the agent sees it. */
  readonly home: string;
  /** The meter's URL for model calls, and the token; empty without a key. */
  readonly url: string;
  readonly token: string;
  /** The proxy for the allowed hosts; empty if only the meter is reachable. */
  readonly proxy: string;
};

export type LaunchSpec = {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly passEnv: readonly string[];
  /** Below the private HOME. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
};

/** Everything that a turn of this profile is started with. */
export function composeLaunch(
  profile: AgentProfile,
  login: ChosenLogin,
  turnValues: TurnValues,
): LaunchSpec {
  const mode = profile.modes[profile.mode];
  const model = login.kind === "key" || login.kind === "own" ? login.model : profile.model;
  const values: Readonly<Record<string, string>> = { ...mode.values, ...turnValues, model };
  const hasModel = model !== "";
  const metered = login.kind === "key" ? login.way : null;
  const ownLogin = login.kind === "own" ? profile.ownLogin : null;
  const words = profile.argv.flatMap((word) => (word === "{{mode}}" ? (mode.argv ?? []) : [word]));

  const argv = [
    ...words,
    ...(profile.argv.includes("{{mode}}") ? [] : (mode.argv ?? [])),
    ...(hasModel ? profile.modelArgv : []),
    ...(metered?.argv ?? []),
  ];

  const env = {
    ...(turnValues.proxy === "" ? {} : proxyEnvironment),
    ...metered?.env,
    ...ownLogin?.env,
    ...(hasModel ? profile.modelEnv : {}),
    ...mode.env,
    // Last, because it includes the user's own values, which win.
    ...profile.env,
  };

  const files = [...profile.files, ...(metered?.files ?? []), ...(ownLogin?.configs ?? [])];
  return {
    argv: argv.map((word) => fillTemplate(word, values)),
    env: Object.fromEntries(
      Object.entries(env).map(([name, text]) => [name, fillTemplate(text, values)]),
    ),
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
  // Node's fetch reads the others only with this flag.
  NODE_USE_ENV_PROXY: "1",
} as const;

/**
 * A config file's text. JSON's strings and TOML's basic strings are escaped alike, except for one
 * character.
 */
export function renderConfigFile(
  { content }: Pick<ConfigFile, "content">,
  values: Readonly<Record<string, string>>,
): string {
  const escapeValue = (value: string): string =>
    JSON.stringify(value).slice(1, -1).replaceAll("\u007f", "\\u007f"); // A2
  return fillTemplate(
    content,
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, escapeValue(value)])),
  );
}

function fillTemplate(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? whole) : whole,
  ); // A1
}
