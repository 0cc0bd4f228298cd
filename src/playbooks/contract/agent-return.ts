// agent-return: reads what a step's agent returned in this visit (a visit is one pass through a
// phase), and fields of it.

import type { CursorView } from "../../core/state.ts";

type Parts = { readonly readBlob: (hash: string) => Buffer | null };

/** The step's last return in this visit; null if there was none or it can no longer be read. */
export function readReturn(
  { readBlob }: Parts,
  cursor: Pick<CursorView, "handed">,
  step: string,
): unknown {
  const hash = cursor.handed?.[step];
  const bytes = hash === undefined ? null : readBlob(hash);
  if (bytes === null) return null;
  try {
    return (JSON.parse(bytes.toString("utf8")) as { readonly claim?: unknown }).claim ?? null;
  } catch {
    return null; // a damaged blob is found by `verify`
  }
}

/** A field of a return, or of any other value of unknown shape; undefined if there is none. */
export const readField = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

/** The texts of a field that should be a list of texts; empty if it is something else. */
export const readTexts = (value: unknown, name: string): readonly string[] => {
  const list = readField(value, name);
  return Array.isArray(list) ? list.filter((item) => typeof item === "string") : [];
};
