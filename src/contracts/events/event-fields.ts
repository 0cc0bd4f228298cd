// event-fields: small schemas that the events of several files share.

import * as v from "valibot";
import { RunStatus } from "../objective.ts";

export const Scalar = v.union([v.string(), v.number(), v.boolean()]);
export const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
export const text = v.string();
/**
 * A field that not every event of the name has. One that is added to a released event always is:
 * older journals lack it.
 */
export const maybe = <S extends v.GenericSchema>(schema: S) => v.optional(schema);

/** Fields of an event that changes the run's state. */
export const stateChange = { from_state: RunStatus, to_state: RunStatus };
