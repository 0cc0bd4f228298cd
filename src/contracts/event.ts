// event: the schemas of all journal events. The journal is the only source of truth of a run.
//
// Names are in the past tense. A released event never changes its meaning; a new meaning is a new
// name. Journals of released versions have the words `walk` (a cursor's path) and `oracles`
// (protected tests and settings). Live events are another type: live-event.ts.

import * as v from "valibot";
import { pullRequestEvents } from "./forge/pull-request.ts";
import { phaseEvents } from "./events/phase-events.ts";
import { runEvents } from "./events/run-events.ts";
import { stepEvents } from "./events/step-events.ts";
import { blockEvents } from "./events/block-events.ts";
import { Actor } from "./ids.ts";
import { IsolationInForce } from "./isolation-in-force.ts";
import { Base, Cast, ProviderFault } from "./run-parts.ts";

export { interruptions } from "./events/step-events.ts";
export { Base, Cast, IsolationInForce, ProviderFault };

/** Fields of every event; the journal adds seq, epoch, ts, prev and crc. */
const commonFields = { actor: Actor, reason_code: v.string() };

const events = {
  ...runEvents,
  ...pullRequestEvents,
  ...phaseEvents,
  ...stepEvents,
  ...blockEvents,
} as const;
export type EventName = keyof typeof events;
export const eventNames = Object.keys(events) as EventName[];

const buildEventSchema = (name: EventName): v.StrictObjectSchema<v.ObjectEntries, undefined> =>
  v.strictObject({ event: v.literal(name), ...commonFields, ...events[name] });
/** One strict schema per event, by name. */
export const eventSchemas = Object.fromEntries(
  eventNames.map((name) => [name, buildEventSchema(name)]),
) as Readonly<Record<EventName, ReturnType<typeof buildEventSchema>>>;

type DataOf<Entries> = Entries extends v.ObjectEntries
  ? v.InferOutput<v.StrictObjectSchema<Entries, undefined>>
  : never;
export type EventOf<N extends EventName> = {
  readonly event: N;
  readonly actor: Actor;
  readonly reason_code: string;
} & Readonly<DataOf<(typeof events)[N]>>;
export type Event = { [N in EventName]: EventOf<N> }[EventName];
/** Before its actor and reason are known; the engine fills in both. */
export type Draft = {
  [N in EventName]: Omit<EventOf<N>, "actor" | "reason_code"> & {
    actor?: Actor;
    reason_code?: string;
  };
}[EventName];

/**
 * The journal's envelope of an event. One line is
 * `{"seq":…,"epoch":…,"ts":…,"active_ms":…,"event":…,"actor":…,"reason_code":…,…data,"prev":"<sha256
 * of the line before>","crc":"<crc32 of this line up to here>"}`. The first line also has
 * `"journal":1`, the version of the format.
 */
export type Envelope = {
  readonly seq: number;
  readonly epoch: number;
  readonly ts: string;
  readonly active_ms: number;
  readonly prev: string;
  readonly crc: string;
};
export type Entry = Event & Envelope;
export type EntryOf<Name extends EventName> = Extract<Entry, { event: Name }>;
