// choose-login: chooses how an agent logs in: with the user's key through the meter, with its own
// login past the meter, or not at all.

import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Upstream } from "../../ports/meter.ts";
import type { AgentProfile, LoginFile, MeteredAccess } from "./profile.ts";

export type ChosenLogin =
  /** Through the meter. The agent sees a token in the key's place. */
  | {
      readonly kind: "key";
      readonly variable: string;
      readonly way: MeteredAccess;
      readonly upstream: Upstream;
      readonly model: string;
    }
  /** With its own login: files that are lent, or variables that are passed on. */
  | {
      readonly kind: "own";
      readonly files: readonly LoginFile[];
      readonly variables: readonly string[];
      readonly hosts: readonly string[];
      readonly model: string;
    }
  /** The agent needs no login that the runner knows of. */
  | { readonly kind: "none" }
  | { readonly kind: "missing"; readonly problem: string; readonly fix: string };

type Environment = Readonly<Record<string, string | undefined>>;

/** The key if there is one, else the agent's own login, unless the config asks for one of them. */
export function chooseLogin(
  profile: AgentProfile,
  env: Environment,
  userHome: string,
): ChosenLogin {
  const keyLogin = profile.login === "own" ? null : findKeyLogin(profile, env);
  if (keyLogin !== null) return keyLogin;
  const ownLogin = profile.login === "key" ? null : findOwnLogin(profile, env, userHome);
  if (ownLogin !== null) return ownLogin;
  if (!profile.needsLogin && profile.login === null) return { kind: "none" };

  return { kind: "missing", problem: explainMissing(profile), fix: profile.hints.login };
}

function findKeyLogin(profile: AgentProfile, env: Environment): ChosenLogin | null {
  for (const way of profile.meters) {
    const variable = way.keyEnv.find((name) => (env[name] ?? "").trim() !== "");
    if (variable === undefined) continue;
    const configuredUpstream = way.upstreamEnv
      .map((name) => (env[name] ?? "").trim())
      .find((text) => text !== "");
    const base = (configuredUpstream ?? way.upstream).replace(/\/+$/, "");
    const upstream = { api: way.api, base, key: (env[variable] ?? "").trim() };

    return {
      kind: "key",
      variable,
      way,
      upstream,
      model: profile.model === "" ? way.model : profile.model,
    };
  }

  return null;
}

function findOwnLogin(
  profile: AgentProfile,
  env: Environment,
  userHome: string,
): ChosenLogin | null {
  const { ownLogin } = profile;
  if (ownLogin === null) return null;
  const files = ownLogin.files.filter(
    ({ path }) => lstatSync(join(userHome, path), { throwIfNoEntry: false })?.isFile() ?? false,
  );

  const variables = ownLogin.tokenEnv.filter((name) => (env[name] ?? "") !== "");
  // The login exists if its first file does; the others belong to it.
  const hasFiles = files.length > 0 && files[0]?.path === ownLogin.files[0]?.path;
  if (!hasFiles && variables.length === 0) return null;
  const model = profile.model === "" ? ownLogin.model : profile.model;

  return { kind: "own", files: hasFiles ? files : [], variables, hosts: ownLogin.hosts, model };
}

function explainMissing({ login, meters, ownLogin }: AgentProfile): string {
  const keys = [...new Set(meters.flatMap(({ keyEnv }) => keyEnv))].join(" or ");
  const files = ownLogin?.files.map(({ path }) => `~/${path}`)[0];
  if (login === "key" && keys === "") return "it cannot be used with a key";
  if (login === "own" && ownLogin === null) return "it has no login of its own";
  const noKey = login === "own" || keys === "" ? [] : [`${keys} is not set`];
  const noFile = login === "key" || files === undefined ? [] : [`${files} is not there`];

  return [...noKey, ...noFile].join(" and ");
}
