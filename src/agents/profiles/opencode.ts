// opencode: the profile of opencode, one agent for many providers; which of them is metered follows
// from the key that is set.

import {
  createMetered,
  createOwnLogin,
  createProgram,
  profileDefaults,
} from "./profile-defaults.ts";
import type { AgentProfile, ConfigFile } from "./profile.ts";

const keyVariable = { AUTOPILOT_MODEL_KEY: "{{token}}" } as const;
const configPath = ".config/opencode/opencode.json";
const commonSettings = `"autoupdate": false, "share": "disabled", "permission": { "edit": "{{edit}}", "bash": "{{bash}}", "webfetch": "deny" }`;

/**
 * The key is in the environment and not in the file, which parallel turns share. `suffix`: what the
 * provider's SDK expects at the end of its URL. `limit`: for a model that opencode does not
 * know, which tells it when to shorten a conversation; the usual models of both APIs allow as much.
 */
const createConfig = (provider: string, sdkPackage: string, suffix: string): ConfigFile => ({
  path: configPath,
  format: "json",
  content: `{
  ${commonSettings},
  "model": "${provider}/{{model}}",
  "small_model": "${provider}/{{model}}",
  "enabled_providers": ["${provider}"],
  "provider": {
    "${provider}": {
      "npm": "${sdkPackage}",
      "name": "${provider}",
      "options": { "baseURL": "{{url}}${suffix}", "apiKey": "{env:AUTOPILOT_MODEL_KEY}" },
      "models": { "{{model}}": { "name": "{{model}}", "tool_call": true, "limit": { "context": 200000, "output": 32000 } } }
    }
  }
}
`,
});

export const opencodeProfile = {
  ...profileDefaults,
  id: "opencode",
  title: "opencode",
  programs: [createProgram("opencode", ["acp"], { versionMin: "1.0.0" })],
  // It refuses to start if one of these is set but empty.
  env: {
    OPENCODE_CONFIG: "{{home}}/.config/opencode/opencode.json",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  },
  meters: [
    createMetered({
      api: "anthropic",
      keyEnv: ["ANTHROPIC_API_KEY"],
      upstreamEnv: ["ANTHROPIC_BASE_URL"],
      model: "claude-sonnet-5-5",
      env: keyVariable,
      files: [createConfig("anthropic", "@ai-sdk/anthropic", "/v1")],
    }),
    createMetered({
      api: "openai-chat",
      keyEnv: ["OPENAI_API_KEY"],
      upstreamEnv: ["OPENAI_BASE_URL"],
      model: "gpt-5.5",
      env: keyVariable,
      // A name of our own: as `openai` it would call the Responses API, and not `openai-chat`.
      files: [createConfig("autopilot", "@ai-sdk/openai-compatible", "")],
    }),
  ],
  ownLogin: createOwnLogin({
    files: [{ path: ".local/share/opencode/auth.json", refreshes: true }],
    hosts: [
      "opencode.ai",
      "api.anthropic.com",
      "console.anthropic.com",
      "platform.claude.com",
      "api.openai.com",
      "auth.openai.com",
      "chatgpt.com",
      "api.github.com",
      "github.com",
      "*.githubcopilot.com",
      "openrouter.ai",
      "generativelanguage.googleapis.com",
    ],
    configs: [{ path: configPath, format: "json", content: `{ ${commonSettings} }\n` }],
  }),
  modes: {
    read: { values: { edit: "ask", bash: "ask" } },
    edit: { values: { edit: "allow", bash: "ask" } },
    full: { values: { edit: "allow", bash: "allow" } },
  },
  usage: "lastCall",
  reportsCost: true,
  stop: { eofMs: 2000 },
  hints: {
    install: "npm install -g opencode-ai",
    login: "set ANTHROPIC_API_KEY or OPENAI_API_KEY, or run opencode auth login",
  },
} as const satisfies AgentProfile;
