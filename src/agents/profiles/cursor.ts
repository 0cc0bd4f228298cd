// cursor: the profile of Cursor's CLI, which works with a Cursor account only.

import { createOwnLogin, createProgram, profileDefaults } from "./profile-defaults.ts";
import type { AgentProfile } from "./profile.ts";

export const cursorProfile = {
  ...profileDefaults,
  id: "cursor",
  title: "Cursor CLI",
  programs: [createProgram("cursor-agent", ["acp"])],
  meters: [],
  ownLogin: createOwnLogin({
    files: [{ path: ".config/cursor/auth.json", refreshes: true }],
    tokenEnv: ["CURSOR_API_KEY", "CURSOR_AUTH_TOKEN"],
    hosts: ["*.cursor.sh", "*.cursorapi.com"],
  }),
  // No `modes`: Cursor has no permission mode. It asks, and its requests are answered.
  hints: { install: "see cursor.com/cli", login: "run cursor-agent login, or set CURSOR_API_KEY" },
} as const satisfies AgentProfile;
