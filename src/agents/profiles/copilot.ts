// copilot: the profile of GitHub's Copilot CLI.

import {
  createMetered,
  createOwnLogin,
  createProgram,
  profileDefaults,
} from "./profile-defaults.ts";
import type { AgentProfile } from "./profile.ts";

const env = { COPILOT_AUTO_UPDATE: "false" } as const;

export const copilotProfile = {
  ...profileDefaults,
  id: "copilot",
  title: "GitHub Copilot CLI",
  programs: [createProgram("copilot", ["--acp"], { versionMin: "1.0.0" })],
  env,
  modelArgv: ["--model", "{{model}}"],
  // Never a short key here: it would be redacted from the output wherever its letters occur. The
  // meter's own tokens are long.
  meters: [
    createMetered({
      api: "openai-chat",
      keyEnv: ["COPILOT_PROVIDER_API_KEY", "OPENAI_API_KEY"],
      upstreamEnv: ["COPILOT_PROVIDER_BASE_URL", "OPENAI_BASE_URL"],
      model: "gpt-5.4",
      env: {
        COPILOT_OFFLINE: "true",
        COPILOT_PROVIDER_TYPE: "openai",
        COPILOT_PROVIDER_WIRE_API: "completions",
        COPILOT_PROVIDER_BASE_URL: "{{url}}",
        COPILOT_PROVIDER_API_KEY: "{{token}}",
        COPILOT_MODEL: "{{model}}",
      },
    }),
  ],
  ownLogin: createOwnLogin({
    files: [{ path: ".copilot/config.json", refreshes: false }],
    tokenEnv: ["COPILOT_GITHUB_TOKEN"],
    hosts: [
      "api.github.com",
      "github.com",
      "*.githubcopilot.com",
      "copilot-proxy.githubusercontent.com",
    ],
  }),
  modes: {
    read: { options: { allow_all: "off" } },
    edit: { options: { allow_all: "off" } },
    full: { options: { allow_all: "on" } },
  },
  // It does not start the MCP servers that a session names.
  mcpArgv: ["--additional-mcp-config", "{{mcp}}"],
  usage: "cumulative",
  probes: [
    { where: "said", pattern: /^Error: ?429\b/im, fault: "limit" },
    { where: "said", pattern: /^Error: ?40[13]\b/im, fault: "access" },
    { where: "said", pattern: /^Error: ?4\d\d\b/im, fault: "request" },
    { where: "said", pattern: /^Error: ?5\d\d\b/im, fault: "service" },
  ],
  stop: { eofMs: 1500 },
  hints: {
    install: "npm install -g @github/copilot",
    login:
      "run copilot once and log in with /login, or set COPILOT_PROVIDER_API_KEY to a model provider's key",
  },
} as const satisfies AgentProfile;
