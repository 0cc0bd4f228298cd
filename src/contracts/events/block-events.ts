// block-events: the fields of the events of what holds a run up: a question to a person, the circuit
// breaker, an agent that another takes over from; part of the one table in ../event.ts.

import * as v from "valibot";
import { BlockId, CursorPath, Hash } from "../ids.ts";
import { Cast, ShortLimit } from "../run-parts.ts";
import { maybe, text } from "./event-fields.ts";

export const blockEvents = {
  /**
   * `free`: any text is an answer too. `tests`: it asks what becomes of these changed tests, in
   * exactly this content.
   */
  block_opened: {
    block: BlockId,
    walk: CursorPath,
    step: text,
    hold: v.boolean(),
    house: maybe(v.boolean()),
    question: text,
    options: v.record(text, text),
    recommend: maybe(text),
    show: maybe(v.array(text)),
    code: maybe(text),
    free: maybe(v.boolean()),
    tests: maybe(v.object({ content: Hash, paths: v.array(text) })),
  },
  block_answered: { request: text, block: BlockId, answer: text, issues: maybe(v.array(text)) },
  circuit_breaker_opened: {
    because: v.picklist(["no_progress", "same_error", "probe_failed", "phase_cap"]),
    cooldown_until: text,
    detail: maybe(text),
    short: maybe(v.array(ShortLimit)),
  },
  circuit_breaker_closed: {},
  agent_switched: { role: text, from: text, to: text, player: Cast, until: maybe(text) },
} as const;
