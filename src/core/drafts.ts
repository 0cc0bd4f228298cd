// drafts: builders for the events that decide returns, such as pausing, stopping and recording.

import type { Draft, EventOf } from "../contracts/event.ts";
import type { NextAction } from "./next-action.ts";
import { listLiveAttempts } from "./selectors.ts";
import type { RunView } from "./state.ts";

export const record = (event: Draft): NextAction => ({ do: "record", event });

/** Only keys with a value: a key without one would be lost in the journal. */
export function definedFields<Fields extends Record<string, unknown>>(
  fields: Fields,
): { [K in keyof Fields]?: Exclude<Fields[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof Fields]?: Exclude<Fields[K], undefined>;
  };
}

export function pauseRun(
  run: RunView,
  reason_code: string,
  fields: Partial<
    Pick<EventOf<"run_paused">, "phase" | "phases" | "detail" | "actor" | "short">
  > = {},
): NextAction {
  return record({
    event: "run_paused",
    from_state: run.status,
    to_state: "paused",
    reason_code,
    ...fields,
  });
}

export function stopRun(
  run: RunView,
  reason_code: string,
  fields: { readonly detail?: string; readonly actor?: string } = {},
): NextAction {
  return record({
    event: "run_stopped",
    from_state: run.status,
    to_state: "stopped",
    reason_code,
    ...fields,
  });
}

/** A change of the whole run waits until no attempt is live. */
export function whenIdle(run: RunView, next: NextAction): NextAction | null {
  return listLiveAttempts(run).length > 0 ? null : next;
}
