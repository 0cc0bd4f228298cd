// shipped-profiles: the list of shipped agents; a new agent is added here. Whatever differs between
// agents is in their profiles and nowhere in code, but for how a command-line agent's output is
// read: `../cli/*-dialect.ts`.

import { claudeProfiles } from "./claude.ts";
import { codexProfiles } from "./codex.ts";
import { copilotProfile } from "./copilot.ts";
import { cursorProfile } from "./cursor.ts";
import { geminiProfile } from "./gemini.ts";
import { kimiProfile } from "./kimi.ts";
import { opencodeProfile } from "./opencode.ts";
import { piProfile } from "./pi.ts";
import { profileDefaults } from "./profile-defaults.ts";
import type { AgentProfile } from "./profile.ts";
import { qwenProfile } from "./qwen.ts";

/** Of agents that log in nowhere, or in a way of their own. */
const withoutLogin = {
  ...profileDefaults,
  programs: [],
  meters: [],
  ownLogin: null,
  needsLogin: false,
} as const;

export const agentProfiles = {
  ...claudeProfiles,
  ...codexProfiles,
  copilot: copilotProfile,
  cursor: cursorProfile,
  gemini: geminiProfile,
  qwen: qwenProfile,
  opencode: opencodeProfile,
  kimi: kimiProfile,
  pi: piProfile,
  scripted: {
    ...withoutLogin,
    id: "scripted",
    title: "the embedded agent that plays a script",
    found: "embedded",
    usage: "turn",
    minNode: "20.19.0",
    hints: { install: "shipped with autopilot: --agent scripted:FILE", login: "" },
  },
  custom: {
    ...withoutLogin,
    id: "custom",
    title: "any command that speaks the Agent Client Protocol",
    found: "named",
    usage: "turn",
    hints: {
      install: "set agents.NAME.argv in the config to its command",
      login: "log in to it as its maker says",
    },
  },
} as const satisfies Readonly<Record<string, AgentProfile>>;

/**
 * The shipped profile of a name. Called with untrusted names, so inherited members do not count.
 */
export function findShippedProfile(name: string): AgentProfile | null {
  const table: Readonly<Record<string, AgentProfile>> = agentProfiles;
  return Object.hasOwn(table, name) ? (table[name] ?? null) : null;
}
