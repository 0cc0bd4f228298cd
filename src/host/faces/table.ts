import type { Face } from "./face.ts";

/** Every face by the name flows call it; loaded when a run needs it. */
export const faces: Readonly<Record<string, () => Promise<Face>>> = {};

export function faceOf(name: string | undefined): Promise<Face> | null {
  return name === undefined || !Object.hasOwn(faces, name) ? null : (faces[name]?.() ?? null);
}
