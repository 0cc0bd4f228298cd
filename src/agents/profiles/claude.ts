// claude: the profiles of Claude Code: over its ACP adapter, and by its own command.

import {
  createMetered,
  createOwnLogin,
  createProgram,
  profileDefaults,
} from "./profile-defaults.ts";
import type { AgentProfile } from "./profile.ts";

const env = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  DISABLE_TELEMETRY: "1",
  DISABLE_ERROR_REPORTING: "1",
  // Otherwise it retries silently for minutes; the runner has its own retries.
  CLAUDE_CODE_MAX_RETRIES: "1",
  // With any other value than this, and run as root, the adapter asks for a permission mode that
  // Claude Code itself then refuses.
  IS_SANDBOX: "1",
} as const;

const claude = {
  ...profileDefaults,
  env,
  modelEnv: { ANTHROPIC_MODEL: "{{model}}" },
  meters: [
    createMetered({
      api: "anthropic",
      keyEnv: ["ANTHROPIC_API_KEY"],
      upstreamEnv: ["ANTHROPIC_BASE_URL"],
      env: { ANTHROPIC_BASE_URL: "{{url}}", ANTHROPIC_API_KEY: "{{token}}" },
    }),
  ],
  ownLogin: createOwnLogin({
    files: [{ path: ".claude/.credentials.json", refreshes: true }],
    tokenEnv: ["CLAUDE_CODE_OAUTH_TOKEN"],
    hosts: ["api.anthropic.com", "platform.claude.com", "console.anthropic.com"],
  }),
  probes: [
    {
      where: "said",
      pattern:
        /^API Error: ?429\b|^Claude (?:AI |Code )?usage limit reached|^You['’]ve (?:hit|reached) your .*limit/im,
      fault: "limit",
    },
    { where: "said", pattern: /^API Error: ?(?:5\d\d\b|.*overloaded_error)/im, fault: "service" },
    { where: "said", pattern: /^API Error: ?40[13]\b|^Invalid API key\b/im, fault: "access" },
    { where: "said", pattern: /^API Error: ?4\d\d\b/im, fault: "request" },
  ],
} as const satisfies Partial<AgentProfile>;

const loginHint =
  "set ANTHROPIC_API_KEY, or run claude once and log in (claude setup-token makes a token for CLAUDE_CODE_OAUTH_TOKEN)";

export const claudeProfiles = {
  claude: {
    ...claude,
    id: "claude",
    title: "Claude Code (claude-agent-acp)",
    // The adapter has no version flag: it would wait for the protocol.
    programs: [
      createProgram("claude-agent-acp", [], { version: null }),
      createProgram("claude-code-acp", [], { version: null }),
    ],
    modes: {
      read: { session: "default" },
      edit: { session: "acceptEdits" },
      full: { session: "bypassPermissions" },
    },
    // It continues after a refused request, so it asks before each action: a change out of scope is
    // refused before it is made.
    mode: "read",
    usage: "turn",
    reportsCost: true,
    stop: { eofMs: 1500 },
    minNode: "20.0.0",
    hints: { install: "npm install -g @agentclientprotocol/claude-agent-acp", login: loginHint },
  },
  "claude-cli": {
    ...claude,
    id: "claude-cli",
    title: "Claude Code (claude -p)",
    protocol: "claude-stream",
    programs: [
      createProgram("claude", ["-p", "--output-format", "stream-json", "--verbose", "{{mode}}"], {
        versionMin: "2.0.0",
      }),
    ],
    modelArgv: ["--model", "{{model}}"],
    modes: {
      // It cannot ask here: actions that need permission are refused.
      read: { argv: ["--permission-mode", "default"] },
      edit: { argv: ["--permission-mode", "acceptEdits"] },
      full: { argv: ["--permission-mode", "bypassPermissions"] },
    },
    mode: "full",
    usage: "turn",
    reportsCost: true,
    stop: { eofMs: 1500 },
    yieldsTo: ["claude"],
    hints: { install: "npm install -g @anthropic-ai/claude-code", login: loginHint },
  },
} as const satisfies Readonly<Record<string, AgentProfile>>;
