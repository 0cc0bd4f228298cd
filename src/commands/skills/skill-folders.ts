// skill-folders: the folders from which coding agents read skills, and how to tell that an agent is
// used in a project.

type AgentOfFolder = { readonly name: string; readonly program: string; readonly mark: string };
export type SkillFolder = { readonly path: string; readonly agents: readonly AgentOfFolder[] };

/**
 * The same below a project's root and below the user's home. `mark` is a folder that shows that the
 * agent is used in a project.
 */
export const skillFolders: readonly SkillFolder[] = [
  {
    path: ".agents/skills",
    agents: [
      { name: "Codex", program: "codex", mark: ".codex" },
      { name: "Gemini CLI", program: "gemini", mark: ".gemini" },
      { name: "opencode", program: "opencode", mark: ".opencode" },
      { name: "Copilot CLI", program: "copilot", mark: ".copilot" },
      { name: "Cursor", program: "cursor-agent", mark: ".cursor" },
    ],
  },
  { path: ".claude/skills", agents: [{ name: "Claude Code", program: "claude", mark: ".claude" }] },
];
