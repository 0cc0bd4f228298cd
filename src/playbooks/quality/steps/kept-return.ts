// kept-return: reads what the agent of a step returned, from the recorded blob.

import type { CursorView } from "../../../core/state.ts";

/** What the agent of a cursor's step handed back, as its turn was kept; null if it handed nothing back or that can no longer be read. */
export function keptReturn(readBlob: (hash: string) => Buffer | null, cursor: Pick<CursorView, "handed">, step = "do"): unknown {
  const hash = cursor.handed?.[step];
  const bytes = hash === undefined ? null : readBlob(hash);
  if (bytes === null) return null;
  try {
    return (JSON.parse(bytes.toString("utf8")) as { readonly claim?: unknown }).claim ?? null;
  } catch {
    return null;
  }
}
