// lease-times: how long a lease lasts, how often it is renewed, and when an owner gives up by
// itself.
//
// Invariants:
//   E1. An owner whose lease isn't confirmed stops well before another may take its run: the
//       difference is the time to end its processes.
//   E2. All times follow from one number, but for the least time that a query gets.

import { invariant } from "../kit/invariant.ts";

export type LeaseTimes = {
  /** From the moment the database grants or renews it. */
  readonly leaseMs: number;
  readonly renewMs: number;
  /** Since the last confirmed renewal was sent, by the owner's own clock. */
  readonly stopMs: number;
  /** How long one query may take. */
  readonly answerMs: number;
};

export const leaseMsDefault = 15_000;
/**
 * Ending a process tree is promised within two seconds; below this the lease does not leave them.
 */
export const leaseMsMin = 8_000;
export const leaseMsMax = 600_000;
const answerMsMin = 250;

/** For 15 s: renewed every 3 s, given up after 11 s, which leaves 4 s to end processes (E1). */
export function computeLeaseTimes(leaseMs: number): LeaseTimes {
  invariant(leaseMs > 0, "a lease lasts some time");
  const renewMs = Math.floor(leaseMs / 5);
  return {
    leaseMs,
    renewMs,
    stopMs: Math.floor((leaseMs * 11) / 15),
    answerMs: Math.max(answerMsMin, Math.floor((renewMs * 2) / 3)),
  };
}
