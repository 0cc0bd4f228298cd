// table: maps playbook names to their implementations, which load only when a run needs them.

import type { Playbook } from "../contract/playbook.ts";
import type { FaceName } from "./playbook-names.ts";

/** Every face by the name flows call it; loaded when a run needs it. */
export const faces: Readonly<Record<string, () => Promise<Playbook>>> = {
  quality: async () => (await import("../quality/files/quality.ts")).qualityFace,
  staged: async () => (await import("../staged/files/staged.ts")).stagedFace,
  roadmap: async () => (await import("../roadmap/files/roadmap.ts")).roadmapFace,
} satisfies Record<FaceName, () => Promise<Playbook>>;

export function playbookOf(name: string | undefined): Promise<Playbook> | null {
  return name === undefined || !Object.hasOwn(faces, name) ? null : (faces[name]?.() ?? null);
}
