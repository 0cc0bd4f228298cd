// table: maps playbook names to their implementations, which load only when a run needs them.

import type { Playbook } from "../contract/playbook.ts";
import type { PlaybookName } from "./playbook-names.ts";

export const playbooks: Readonly<Record<string, () => Promise<Playbook>>> = {
  quality: async () => (await import("../quality/files/quality.ts")).qualityPlaybook,
  staged: async () => (await import("../staged/files/staged.ts")).stagedPlaybook,
  roadmap: async () => (await import("../roadmap/files/roadmap.ts")).roadmapPlaybook,
} satisfies Record<PlaybookName, () => Promise<Playbook>>;

/** Null if the flow names no playbook, or one that does not exist. */
export function loadPlaybook(name: string | undefined): Promise<Playbook> | null {
  return name === undefined || !Object.hasOwn(playbooks, name)
    ? null
    : (playbooks[name]?.() ?? null);
}
