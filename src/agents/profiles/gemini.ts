// gemini: Google's Gemini CLI.

import { metered, createOwnLogin, profileDefaults, program } from "./profile-defaults.ts";
import type { AgentProfile } from "./profile.ts";

const settings = (selected: string): string => `{
  "security": { "auth": { "selectedType": "${selected}" }, "folderTrust": { "enabled": false } },
  "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false, "disableAutoUpdate": true, "disableUpdateNag": true },
  "privacy": { "usageStatisticsEnabled": false },
  "telemetry": { "enabled": false }
}
`;
const path = ".gemini/settings.json";
// Its own choice, "auto", asks a classifier first and tries that for a minute and a half before it gives up.
const model = "gemini-3-pro-preview";

export const geminiProfile = {
  ...profileDefaults,
  id: "gemini",
  title: "Gemini CLI",
  programs: [program("gemini", ["--acp", "--skip-trust"], { versionMin: "0.40.0" })],
  env: { GEMINI_TELEMETRY_ENABLED: "false", GEMINI_CLI_NO_RELAUNCH: "true" },
  modelArgv: ["-m", "{{model}}"],
  meters: [
    metered({
      api: "gemini",
      keyEnv: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
      upstreamEnv: ["GOOGLE_GEMINI_BASE_URL"],
      model,
      env: { GEMINI_API_KEY: "{{token}}", GOOGLE_GEMINI_BASE_URL: "{{url}}" },
      files: [{ path, format: "json", content: settings("gemini-api-key") }],
    }),
  ],
  ownLogin: createOwnLogin({
    files: [
      { path: ".gemini/oauth_creds.json", refreshes: true },
      { path: ".gemini/google_accounts.json", refreshes: false },
    ],
    hosts: ["cloudcode-pa.googleapis.com", "oauth2.googleapis.com", "www.googleapis.com", "accounts.google.com"],
    model,
    configs: [{ path, format: "json", content: settings("oauth-personal") }],
  }),
  // It continues after a refusal, so it is asked: what is out of scope is refused before it is done.
  mode: "read",
  modes: { read: { session: "default" }, edit: { session: "autoEdit" }, full: { session: "yolo" } },
  usage: "quotaMeta",
  probes: [
    { where: "said", pattern: /^\[API Error: .*(?:RESOURCE_EXHAUSTED|\b429\b)/im, fault: "limit" },
    { where: "said", pattern: /^\[API Error: /im, fault: "service" },
  ],
  stop: { eofMs: 2500 },
  minNode: "20.0.0",
  hints: { install: "npm install -g @google/gemini-cli", login: "set GEMINI_API_KEY, or run gemini once and log in" },
} as const satisfies AgentProfile;
