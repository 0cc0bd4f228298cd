import type { Face } from "../contract/face.ts";
import type { FaceName } from "./face-names.ts";

/** Every face by the name flows call it; loaded when a run needs it. */
export const faces: Readonly<Record<string, () => Promise<Face>>> = {
  quality: async () => (await import("../quality/files/quality.ts")).qualityFace,
  staged: async () => (await import("../staged/files/staged.ts")).stagedFace,
  roadmap: async () => (await import("../roadmap/files/roadmap.ts")).roadmapFace,
} satisfies Record<FaceName, () => Promise<Face>>;

export function faceOf(name: string | undefined): Promise<Face> | null {
  return name === undefined || !Object.hasOwn(faces, name) ? null : (faces[name]?.() ?? null);
}
