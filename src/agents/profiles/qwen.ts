// qwen: the profile of Qwen Code, a fork of the Gemini CLI.

import {
  createMetered,
  createOwnLogin,
  createProgram,
  profileDefaults,
} from "./profile-defaults.ts";
import type { AgentProfile } from "./profile.ts";

const composeSettings = (selected: string): string => `{
  "security": { "auth": { "selectedType": "${selected}" }, "folderTrust": { "enabled": false } },
  "general": { "disableAutoUpdate": true, "disableUpdateNag": true, "enableAutoUpdate": false },
  "privacy": { "usageStatisticsEnabled": false },
  "telemetry": { "enabled": false }
}
`;
const settingsPath = ".qwen/settings.json";
const openaiCompatible = {
  env: { OPENAI_API_KEY: "{{token}}", OPENAI_BASE_URL: "{{url}}", OPENAI_MODEL: "{{model}}" },
  files: [{ path: settingsPath, format: "json", content: composeSettings("openai") }],
} as const;

export const qwenProfile = {
  ...profileDefaults,
  id: "qwen",
  title: "Qwen Code",
  programs: [createProgram("qwen", ["--acp"], { versionMin: "0.10.0" })],
  env: { QWEN_TELEMETRY_ENABLED: "false" },
  meters: [
    createMetered({
      api: "openai-chat",
      keyEnv: ["DASHSCOPE_API_KEY", "QWEN_API_KEY"],
      upstream: "https://dashscope.aliyuncs.com/compatible-mode/v1",
      model: "qwen3-coder-plus",
      ...openaiCompatible,
    }),
    createMetered({
      api: "openai-chat",
      keyEnv: ["OPENAI_API_KEY"],
      upstreamEnv: ["OPENAI_BASE_URL"],
      model: "gpt-5.5",
      ...openaiCompatible,
    }),
  ],
  ownLogin: createOwnLogin({
    files: [{ path: ".qwen/oauth_creds.json", refreshes: true }],
    hosts: ["chat.qwen.ai", "portal.qwen.ai", "dashscope.aliyuncs.com"],
    configs: [{ path: settingsPath, format: "json", content: composeSettings("qwen-oauth") }],
  }),
  modes: {
    read: { session: "default" },
    edit: { session: "auto-edit" },
    full: { session: "yolo" },
  },
  usage: "chunkMeta",
  probes: [
    { where: "said", pattern: /^\[API Error: .*\b429\b/im, fault: "limit" },
    { where: "said", pattern: /^\[API Error: /im, fault: "service" },
  ],
  // It announces that it can resume, and answers that it knows no such method.
  lacks: ["resume"],
  minNode: "20.0.0",
  hints: {
    install: "npm install -g @qwen-code/qwen-code",
    login: "set DASHSCOPE_API_KEY, or run qwen once and log in",
  },
} as const satisfies AgentProfile;
