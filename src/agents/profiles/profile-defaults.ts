// profile-defaults: default values for the parts of a profile, so that each profile states only
// what is its own.

import type { AgentProfile, MeteredAccess, OwnLogin, AgentProgram } from "./profile.ts";

export const profileDefaults = {
  protocol: "acp",
  found: "path",
  argv: [],
  passEnv: [],
  env: {},
  files: [],
  modelArgv: [],
  modelEnv: {},
  modelOption: null,
  model: "",
  login: null,
  needsLogin: true,
  hosts: [],
  mode: "full",
  modes: { read: {}, edit: {}, full: {} },
  usage: "none",
  reportsCost: false,
  probes: [],
  stop: { eofMs: 2500 },
  lacks: [],
  mcp: true,
  minNode: null,
  yieldsTo: [],
} as const satisfies Partial<AgentProfile>;

/** A program that starts an agent, with defaults. */
export const createProgram = (
  name: string,
  words: readonly string[],
  more: Partial<AgentProgram> = {},
): AgentProgram => ({
  name,
  words,
  version: ["--version"],
  versionMin: null,
  requiredPrograms: [],
  onlyPackage: null,
  notPackage: null,
  ...more,
});

/** The default URL of each API. The meter appends an agent's path to it. */
const upstreams = {
  anthropic: "https://api.anthropic.com",
  "openai-responses": "https://api.openai.com/v1",
  "openai-chat": "https://api.openai.com/v1",
  gemini: "https://generativelanguage.googleapis.com",
} as const;

/** One way through the meter, with defaults. */
export const createMetered = (
  settings: Pick<MeteredAccess, "api" | "keyEnv"> & Partial<MeteredAccess>,
): MeteredAccess => ({
  upstream: upstreams[settings.api],
  upstreamEnv: [],
  model: "",
  env: {},
  files: [],
  argv: [],
  ...settings,
});

export const createOwnLogin = (
  login: Pick<OwnLogin, "files" | "hosts"> & Partial<OwnLogin>,
): OwnLogin => ({
  tokenEnv: [],
  model: "",
  env: {},
  configs: [],
  ...login,
});
