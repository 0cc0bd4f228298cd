// drafts: builders for the events that decide returns, such as pausing, stopping and recording.

import type { Draft, EventOf } from "../contracts/event.ts";
import type { Shortfall } from "./budget.ts";
import type { Next } from "./next.ts";
import { liveExecutions } from "./selectors.ts";
import type { RunView } from "./state.ts";

export const record = (event: Draft): Next => ({ do: "record", event });

/** Only keys with a value: a key without one would be lost in the journal. */
export function definedFields<Fields extends Record<string, unknown>>(
  fields: Fields,
): { [K in keyof Fields]?: Exclude<Fields[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof Fields]?: Exclude<Fields[K], undefined>;
  };
}

export function paused(
  run: RunView,
  reason_code: string,
  more: Partial<Pick<EventOf<"run_paused">, "phase" | "phases" | "detail" | "actor" | "short">> = {},
): Next {
  return record({ event: "run_paused", from_state: run.status, to_state: "paused", reason_code, ...more });
}

export function stopped(run: RunView, reason_code: string, more: { readonly detail?: string; readonly actor?: string } = {}): Next {
  return record({ event: "run_stopped", from_state: run.status, to_state: "stopped", reason_code, ...more });
}

/** A change of the whole run waits until no action is under way. */
export function onceIdle(run: RunView, next: Next): Next | null {
  return liveExecutions(run).length > 0 ? null : next;
}

export function unaffordable({ scope, dimension, limit, left, need }: Shortfall): string {
  return `${dimension} of this ${scope}: the next turn may need ${figure(need)}, and ${figure(left)} of ${figure(limit)} are left`;
}

const figure = (value: number): string => String(Math.round(value * 1000) / 1000);
