// agent-return: reads what a step's agent returned in this visit, and fields of it.

import type { CursorView } from "../../../core/state.ts";
import type { RoadmapParts } from "./parts.ts";

/** The step's last return in this visit; null if there was none or it can no longer be read. */
export function readReturn({ readBlob }: Pick<RoadmapParts, "readBlob">, cursor: CursorView, step: string): unknown {
  const hash = cursor.handed?.[step];
  const bytes = hash === undefined ? null : readBlob(hash);
  if (bytes === null) return null;
  try {
    return (JSON.parse(bytes.toString("utf8")) as { readonly claim?: unknown }).claim ?? null;
  } catch {
    return null; // a damaged blob is found by `verify`
  }
}

export const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
export const textsOf = (value: unknown, name: string): readonly string[] => {
  const list = fieldOf(value, name);
  return Array.isArray(list) ? list.filter((item) => typeof item === "string") : [];
};
