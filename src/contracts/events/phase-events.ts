// phase-events: the fields of the events of phases; part of the one table in ../event.ts.

import * as v from "valibot";
import { PhaseRead } from "../documents-read.ts";
import { CursorPath } from "../ids.ts";
import { Count, maybe, text } from "./event-fields.ts";

export const phaseEvents = {
  phases_read: { phases: v.array(PhaseRead) },
  artifacts_surveyed: {
    gone: v.array(text),
    proved: v.array(text),
    /** Of phases under way: the first step that had passed and whose artifacts are gone. */
    lost: maybe(v.array(v.strictObject({ walk: CursorPath, step: text }))),
  },
  phase_started: { walk: CursorPath },
  /**
   * `again`: finished phases that come after all others and are run again, since what they
   * inspected changes.
   */
  phase_reopened: { walk: CursorPath, visit: Count, because: text, again: maybe(v.array(text)) },
  phases_rewound: {
    walk: CursorPath,
    step: text,
    to: text,
    count: maybe(text),
    per: maybe(text),
    retry: maybe(v.boolean()),
  },
  phase_skipped: { walk: CursorPath, because: text },
  phase_completed: { walk: CursorPath, because: maybe(text), pause: maybe(text) },
  phase_failed: { walk: CursorPath, because: maybe(text), pause: maybe(text) },
  closing_completed: { walk: CursorPath, because: maybe(text), pause: maybe(text) },
  closing_failed: { walk: CursorPath, because: maybe(text), pause: maybe(text) },
} as const;
