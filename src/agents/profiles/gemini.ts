// gemini: the profile of Google's Gemini CLI.

import {
  createMetered,
  createOwnLogin,
  createProgram,
  profileDefaults,
} from "./profile-defaults.ts";
import type { AgentProfile } from "./profile.ts";

const composeSettings = (selected: string): string => `{
  "security": { "auth": { "selectedType": "${selected}" }, "folderTrust": { "enabled": false } },
  "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false, "disableAutoUpdate": true, "disableUpdateNag": true },
  "privacy": { "usageStatisticsEnabled": false },
  "telemetry": { "enabled": false }
}
`;
const settingsPath = ".gemini/settings.json";
// The agent's own choice, "auto", asks a classifier model first, and retries that for a minute and
// a half before it gives up.
const model = "gemini-3-pro-preview";

export const geminiProfile = {
  ...profileDefaults,
  id: "gemini",
  title: "Gemini CLI",
  programs: [createProgram("gemini", ["--acp", "--skip-trust"], { versionMin: "0.40.0" })],
  env: { GEMINI_TELEMETRY_ENABLED: "false", GEMINI_CLI_NO_RELAUNCH: "true" },
  modelArgv: ["-m", "{{model}}"],
  meters: [
    createMetered({
      api: "gemini",
      keyEnv: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
      upstreamEnv: ["GOOGLE_GEMINI_BASE_URL"],
      model,
      env: { GEMINI_API_KEY: "{{token}}", GOOGLE_GEMINI_BASE_URL: "{{url}}" },
      files: [{ path: settingsPath, format: "json", content: composeSettings("gemini-api-key") }],
    }),
  ],
  ownLogin: createOwnLogin({
    files: [
      { path: ".gemini/oauth_creds.json", refreshes: true },
      { path: ".gemini/google_accounts.json", refreshes: false },
    ],
    hosts: [
      "cloudcode-pa.googleapis.com",
      "oauth2.googleapis.com",
      "www.googleapis.com",
      "accounts.google.com",
    ],
    model,
    configs: [{ path: settingsPath, format: "json", content: composeSettings("oauth-personal") }],
  }),
  // It continues after a refused request, so it asks before each action: a change out of scope is
  // refused before it is made.
  mode: "read",
  modes: { read: { session: "default" }, edit: { session: "autoEdit" }, full: { session: "yolo" } },
  usage: "quotaMeta",
  probes: [
    { where: "said", pattern: /^\[API Error: .*(?:RESOURCE_EXHAUSTED|\b429\b)/im, fault: "limit" },
    { where: "said", pattern: /^\[API Error: /im, fault: "service" },
  ],
  stop: { eofMs: 2500 },
  minNode: "20.0.0",
  hints: {
    install: "npm install -g @google/gemini-cli",
    login: "set GEMINI_API_KEY, or run gemini once and log in",
  },
} as const satisfies AgentProfile;
