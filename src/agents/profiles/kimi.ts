// kimi: the profile of Moonshot's Kimi Code.

import {
  createMetered,
  createOwnLogin,
  createProgram,
  profileDefaults,
} from "./profile-defaults.ts";
import type { AgentProfile, ConfigFile } from "./profile.ts";

const config: ConfigFile = {
  path: ".kimi-code/config.toml",
  format: "toml",
  content: `default_permission_mode = "{{permission}}"\ntelemetry = false\n`,
};

export const kimiProfile = {
  ...profileDefaults,
  id: "kimi",
  title: "Kimi Code",
  programs: [createProgram("kimi", ["acp"], { versionMin: "1.0.0" })],
  env: {
    KIMI_CODE_HOME: "{{home}}/.kimi-code",
    KIMI_CODE_NO_AUTO_UPDATE: "1",
    KIMI_DISABLE_TELEMETRY: "1",
  },
  meters: [
    createMetered({
      api: "openai-chat",
      keyEnv: ["KIMI_API_KEY", "MOONSHOT_API_KEY"],
      upstream: "https://api.moonshot.ai/v1",
      upstreamEnv: ["KIMI_BASE_URL"],
      model: "kimi-k2-turbo-preview",
      // Through the environment and not through its config file, which parallel turns share.
      env: {
        KIMI_MODEL_NAME: "{{model}}",
        KIMI_MODEL_API_KEY: "{{token}}",
        KIMI_MODEL_BASE_URL: "{{url}}",
        KIMI_MODEL_PROVIDER_TYPE: "openai",
      },
      files: [config],
    }),
  ],
  ownLogin: createOwnLogin({
    files: [
      { path: ".kimi-code/credentials/kimi-code.json", refreshes: true },
      // Its provider and model are here; the agent's changes are never copied back.
      { path: ".kimi-code/config.toml", refreshes: false },
    ],
    hosts: ["api.kimi.com", "auth.kimi.com", "www.kimi.com", "api.moonshot.ai", "api.moonshot.cn"],
  }),
  // It continues after a refused request, so it asks before each action: a change out of scope is
  // refused before it is made.
  mode: "read",
  modes: {
    read: { session: "default", values: { permission: "manual" } },
    edit: { session: "default", values: { permission: "manual" } },
    full: { session: "yolo", values: { permission: "yolo" } },
  },
  minNode: "22.19.0",
  hints: {
    install: "npm install -g @moonshot-ai/kimi-code",
    login: "set KIMI_API_KEY, or run kimi login",
  },
} as const satisfies AgentProfile;
