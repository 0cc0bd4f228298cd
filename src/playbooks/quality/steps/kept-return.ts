// kept-return: reads what the agent of a step returned, from the recorded blob.

import type { CursorView } from "../../../core/state.ts";

/** The return of a step's last turn; null if there was none or it can no longer be read. */
export function readReturn(readBlob: (hash: string) => Buffer | null, cursor: Pick<CursorView, "handed">, step = "do"): unknown {
  const hash = cursor.handed?.[step];
  const bytes = hash === undefined ? null : readBlob(hash);
  if (bytes === null) return null;
  try {
    return (JSON.parse(bytes.toString("utf8")) as { readonly claim?: unknown }).claim ?? null;
  } catch {
    return null;
  }
}
