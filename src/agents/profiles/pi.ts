// pi: the profile of the pi coding agent, over its ACP adapter.

import {
  createMetered,
  createOwnLogin,
  createProgram,
  profileDefaults,
} from "./profile-defaults.ts";
import type { AgentProfile, ConfigFile } from "./profile.ts";

/** Makes the meter its provider, and its start quiet. */
const settings: ConfigFile = {
  path: ".pi/agent/settings.json",
  format: "json",
  content: `{ "defaultProvider": "autopilot", "defaultModel": "{{model}}", "quietStartup": true, "enableInstallTelemetry": false }\n`,
};
/**
 * The models file names this variable instead of the key: parallel turns share the file, and each
 * has a key of its own.
 */
const keyVariable = { AUTOPILOT_MODEL_KEY: "{{token}}" } as const;
/** Describes the meter as a provider; `cost` is 0 because the meter counts. */
const createModelsFile = (api: string): ConfigFile => ({
  path: ".pi/agent/models.json",
  format: "json",
  content: `{
  "providers": {
    "autopilot": {
      "baseUrl": "{{url}}",
      "apiKey": "$AUTOPILOT_MODEL_KEY",
      "api": "${api}",
      "models": [{ "id": "{{model}}", "name": "{{model}}", "reasoning": false, "input": ["text"],
        "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0 }, "contextWindow": 200000, "maxTokens": 16000 }]
    }
  }
}
`,
});

export const piProfile = {
  ...profileDefaults,
  id: "pi",
  title: "pi (pi-acp)",
  programs: [createProgram("pi-acp", [], { version: null, requiredPrograms: ["pi"] })],
  env: {
    PI_CODING_AGENT_DIR: "{{home}}/.pi/agent",
    PI_OFFLINE: "1",
    PI_SKIP_VERSION_CHECK: "1",
    PI_TELEMETRY: "0",
  },
  meters: [
    createMetered({
      api: "anthropic",
      keyEnv: ["ANTHROPIC_API_KEY"],
      upstreamEnv: ["ANTHROPIC_BASE_URL"],
      model: "claude-sonnet-5-5",
      env: keyVariable,
      files: [settings, createModelsFile("anthropic-messages")],
    }),
    createMetered({
      api: "openai-chat",
      keyEnv: ["OPENAI_API_KEY"],
      upstreamEnv: ["OPENAI_BASE_URL"],
      model: "gpt-5.5",
      env: keyVariable,
      files: [settings, createModelsFile("openai-completions")],
    }),
  ],
  ownLogin: createOwnLogin({
    files: [{ path: ".pi/agent/auth.json", refreshes: true }],
    hosts: [
      "api.anthropic.com",
      "console.anthropic.com",
      "platform.claude.com",
      "api.openai.com",
      "auth.openai.com",
      "chatgpt.com",
    ],
  }),
  // No modes: it never asks for permission, so only the sandbox restricts it.
  probes: [
    { where: "said", pattern: /^Error: ?429\b/im, fault: "limit" },
    { where: "said", pattern: /^Error: ?5\d\d\b/im, fault: "service" },
    // After a failed call its whole answer is its banner, or that it stopped retrying.
    {
      where: "said",
      pattern: /^pi v[\w.-]+\s+-+\s*$|Retry finished, resuming\.\s*$/,
      fault: "service",
    },
  ],
  mcp: false,
  minNode: "22.19.0",
  hints: {
    install: "npm install -g pi-acp @earendil-works/pi-coding-agent",
    login: "set ANTHROPIC_API_KEY or OPENAI_API_KEY, or run pi and /login",
  },
} as const satisfies AgentProfile;
