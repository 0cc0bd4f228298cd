// lease-times: how long a lease lasts, how often it is renewed, and when an owner gives up by itself.
//
// Invariants:
//   E1. An owner without confirmation stops well before another may take its run: the rest is the time to end its processes.
//   E2. The three belong together: one number sets them all.

import { invariant } from "../kit/invariant.ts";

export type LeaseTimes = {
  /** From the moment the database grants or renews it. */
  readonly leaseMs: number;
  readonly renewMs: number;
  /** Since the last confirmed renewal was sent, by the owner's own clock. */
  readonly stopMs: number;
  /** How long one question to the database may take. */
  readonly answerMs: number;
};

export const leaseMsDefault = 15_000;
/** Ending a process tree is promised within two seconds; below this the lease does not leave them. */
export const leaseMsMin = 8_000;
export const leaseMsMax = 600_000;

/** 15 s: renewed each 3 s, given up after 11 s, which leaves 4 s (E1). */
export function leaseTimes(leaseMs: number): LeaseTimes {
  invariant(leaseMs > 0, "a lease lasts some time");
  const renewMs = Math.floor(leaseMs / 5);
  return { leaseMs, renewMs, stopMs: Math.floor((leaseMs * 11) / 15), answerMs: Math.max(250, Math.floor((renewMs * 2) / 3)) };
}
