// kimi: Moonshot's Kimi Code, and pi, which are Node programs that need a newer Node than the runner.

import { metered, own, profileDefaults, program } from "./profile-defaults.ts";
import type { AgentProfile, ConfigFile } from "./profile.ts";

const kimiConfig: ConfigFile = {
  path: ".kimi-code/config.toml",
  format: "toml",
  content: `default_permission_mode = "{{permission}}"\ntelemetry = false\n`,
};

const piSettings: ConfigFile = {
  path: ".pi/agent/settings.json",
  format: "json",
  content: `{ "defaultProvider": "autopilot", "defaultModel": "{{model}}", "quietStartup": true, "enableInstallTelemetry": false }\n`,
};
/** It reads the key from this variable; the file, which parallel turns share, does not contain it. */
const piKey = { AUTOPILOT_MODEL_KEY: "{{token}}" } as const;
const piModels = (api: string): ConfigFile => ({
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

export const kimiProfiles = {
  kimi: {
    ...profileDefaults,
    id: "kimi",
    title: "Kimi Code",
    programs: [program("kimi", ["acp"], { versionMin: "1.0.0" })],
    env: { KIMI_CODE_HOME: "{{home}}/.kimi-code", KIMI_CODE_NO_AUTO_UPDATE: "1", KIMI_DISABLE_TELEMETRY: "1" },
    meters: [
      metered({
        api: "openai-chat",
        keyEnv: ["KIMI_API_KEY", "MOONSHOT_API_KEY"],
        upstream: "https://api.moonshot.ai/v1",
        upstreamEnv: ["KIMI_BASE_URL"],
        model: "kimi-k2-turbo-preview",
        // By the environment and not by its config, which parallel turns share.
        env: {
          KIMI_MODEL_NAME: "{{model}}",
          KIMI_MODEL_API_KEY: "{{token}}",
          KIMI_MODEL_BASE_URL: "{{url}}",
          KIMI_MODEL_PROVIDER_TYPE: "openai",
        },
        files: [kimiConfig],
      }),
    ],
    own: own({
      files: [
        { path: ".kimi-code/credentials/kimi-code.json", refreshes: true },
        // Its provider and model are here; the agent's changes are never copied back.
        { path: ".kimi-code/config.toml", refreshes: false },
      ],
      hosts: ["api.kimi.com", "auth.kimi.com", "www.kimi.com", "api.moonshot.ai", "api.moonshot.cn"],
    }),
    // It continues after a refusal, so it is asked: what is out of scope is refused before it is done.
    mode: "read",
    modes: {
      read: { session: "default", values: { permission: "manual" } },
      edit: { session: "default", values: { permission: "manual" } },
      full: { session: "yolo", values: { permission: "yolo" } },
    },
    minNode: "22.19.0",
    hints: { install: "npm install -g @moonshot-ai/kimi-code", login: "set KIMI_API_KEY, or run kimi login" },
  },
  pi: {
    ...profileDefaults,
    id: "pi",
    title: "pi (pi-acp)",
    programs: [program("pi-acp", [], { version: null, needs: ["pi"] })],
    env: { PI_CODING_AGENT_DIR: "{{home}}/.pi/agent", PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0" },
    meters: [
      metered({
        api: "anthropic",
        keyEnv: ["ANTHROPIC_API_KEY"],
        upstreamEnv: ["ANTHROPIC_BASE_URL"],
        model: "claude-sonnet-5-5",
        env: piKey,
        files: [piSettings, piModels("anthropic-messages")],
      }),
      metered({
        api: "openai-chat",
        keyEnv: ["OPENAI_API_KEY"],
        upstreamEnv: ["OPENAI_BASE_URL"],
        model: "gpt-5.5",
        env: piKey,
        files: [piSettings, piModels("openai-completions")],
      }),
    ],
    own: own({
      files: [{ path: ".pi/agent/auth.json", refreshes: true }],
      hosts: ["api.anthropic.com", "console.anthropic.com", "platform.claude.com", "api.openai.com", "auth.openai.com", "chatgpt.com"],
    }),
    // It never asks: only the sandbox restricts it.
    probes: [
      { where: "said", pattern: /^Error: ?429\b/im, fault: "limit" },
      { where: "said", pattern: /^Error: ?5\d\d\b/im, fault: "service" },
      // Nothing but its banner, or its last try: that is all it reports of a failed call.
      { where: "said", pattern: /^pi v[\w.-]+\s+-+\s*$|Retry finished, resuming\.\s*$/, fault: "service" },
    ],
    mcp: false,
    minNode: "22.19.0",
    hints: {
      install: "npm install -g pi-acp @earendil-works/pi-coding-agent",
      login: "set ANTHROPIC_API_KEY or OPENAI_API_KEY, or run pi and /login",
    },
  },
} as const satisfies Readonly<Record<string, AgentProfile>>;
