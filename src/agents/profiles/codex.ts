// codex: the profiles of OpenAI's Codex: over the current ACP adapter, over the small older one,
// and by its own command.

import {
  createMetered,
  createOwnLogin,
  createProgram,
  profileDefaults,
} from "./profile-defaults.ts";
import type { AgentProfile } from "./profile.ts";

/**
 * Settings for both logins. `plugins` and `apps` would ask github.com at the start, and make every
 * end wait if it cannot be reached.
 */
const settingsToml = `model = "{{model}}"
check_for_update_on_startup = false
approval_policy = "{{approval}}"
sandbox_mode = "{{sandbox}}"
[analytics]
enabled = false
[feedback]
enabled = false
[features]
plugins = false
apps = false
`;
/** Chooses the meter. A key of the file itself, so it stands before the first table. */
const chosenProviderToml = `model_provider = "autopilot"
`;
/** Describes the meter as a provider of models. */
const providerTableToml = `[model_providers.autopilot]
name = "autopilot"
base_url = "{{url}}"
wire_api = "responses"
env_key = "AUTOPILOT_MODEL_KEY"
requires_openai_auth = false
supports_websockets = false
request_max_retries = 1
stream_max_retries = 0
`;
const model = "gpt-5.5";
const zedPackage = "@zed-industries/codex-acp";
const configPath = ".codex/config.toml";

const modeValues = {
  read: { approval: "on-request", sandbox: "read-only" },
  edit: { approval: "on-request", sandbox: "workspace-write" },
  full: { approval: "never", sandbox: "danger-full-access" },
} as const;

const codex = {
  ...profileDefaults,
  // It refuses to create its helper programs below a temporary folder. They are in CODEX_HOME, so
  // TMPDIR must be no folder above that.
  env: { CODEX_HOME: "{{home}}/.codex", TMPDIR: "{{home}}/tmp" },
  meters: [
    createMetered({
      api: "openai-responses",
      keyEnv: ["OPENAI_API_KEY", "CODEX_API_KEY"],
      upstreamEnv: ["OPENAI_BASE_URL"],
      model,
      env: { AUTOPILOT_MODEL_KEY: "{{token}}" },
      files: [
        {
          path: configPath,
          format: "toml",
          content: `${chosenProviderToml}${settingsToml}${providerTableToml}`,
        },
      ],
    }),
  ],
  ownLogin: createOwnLogin({
    files: [{ path: ".codex/auth.json", refreshes: true }],
    hosts: ["chatgpt.com", "auth.openai.com", "api.openai.com"],
    model,
    configs: [{ path: configPath, format: "toml", content: settingsToml }],
  }),
  // The first that matches counts: single statuses, then every other 4xx, then the words that may
  // stand without one.
  probes: [
    {
      where: "said",
      pattern: /^exceeded retry limit, last status: 429\b|^You['’]ve hit your usage limit/im,
      fault: "limit",
    },
    {
      where: "said",
      pattern: /^(?:exceeded retry limit, last|unexpected) status:? 40[13]\b/im,
      fault: "access",
    },
    {
      where: "said",
      pattern: /^(?:exceeded retry limit, last|unexpected) status:? 4\d\d\b/im,
      fault: "request",
    },
    {
      where: "said",
      pattern:
        /^exceeded retry limit\b|^unexpected status 5\d\d\b|^stream disconnected before completion/im,
      fault: "service",
    },
    {
      where: "meta",
      path: "_meta.codex.threadStatus.type",
      pattern: /^systemError$/,
      fault: "service",
    },
  ],
} as const satisfies Partial<AgentProfile>;

const loginHint = "set OPENAI_API_KEY, or run codex login";

export const codexProfiles = {
  codex: {
    ...codex,
    id: "codex",
    title: "Codex (codex-acp)",
    programs: [createProgram("codex-acp", [], { version: null, notPackage: zedPackage })],
    modes: {
      read: { session: "read-only", values: modeValues.read },
      edit: { session: "workspace-write", values: modeValues.edit },
      full: { session: "agent-full-access", values: modeValues.full },
    },
    usage: "turn",
    stop: { eofMs: 3500 },
    minNode: "20.0.0",
    hints: { install: "npm install -g @agentclientprotocol/codex-acp", login: loginHint },
  },
  "codex-zed": {
    ...codex,
    id: "codex-zed",
    title: "Codex (the small adapter of Zed)",
    programs: [createProgram("codex-acp", [], { version: null, onlyPackage: zedPackage })],
    modes: {
      read: { session: "read-only", values: modeValues.read },
      edit: { session: "auto", values: modeValues.edit },
      full: { session: "full-access", values: modeValues.full },
    },
    // It does not end when its input ends.
    stop: { eofMs: 0 },
    yieldsTo: ["codex"],
    hints: { install: "npm install -g @zed-industries/codex-acp", login: loginHint },
  },
  "codex-cli": {
    ...codex,
    id: "codex-cli",
    title: "Codex (codex exec)",
    protocol: "codex-exec",
    programs: [
      createProgram("codex", ["exec", "--json", "--skip-git-repo-check"], { versionMin: "0.60.0" }),
    ],
    // It cannot ask here: actions that need permission are refused.
    modes: {
      read: { values: { ...modeValues.read, approval: "never" } },
      edit: { values: { ...modeValues.edit, approval: "never" } },
      full: { values: modeValues.full },
    },
    // It reports the whole thread's usage if the thread is resumed, else this turn's. The
    // difference to what came before is right for both.
    usage: "cumulative",
    yieldsTo: ["codex", "codex-zed"],
    hints: { install: "npm install -g @openai/codex", login: loginHint },
  },
} as const satisfies Readonly<Record<string, AgentProfile>>;
