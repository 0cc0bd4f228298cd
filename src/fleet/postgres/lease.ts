// lease: the right to write to a run, for a time, by the database's clock; and the owner's own judgement of whether it still has it.
//
// Invariants:
//   L1. Of any number that take a run at once, one gets it; its epoch is one more than any before.
//   L2. The database's clock alone says when a lease ends. An owner judges itself by its monotonic clock, from when it *sent* what was
//       confirmed, so it always gives up before the database does.
//   L3. The monotonic clock may stand still while a machine sleeps: where it and the wall clock disagree, nothing counts as confirmed until
//       the database has confirmed it again.
//   L4. What is lost stays lost: no later answer gives it back.
//   L5. What was given back has no owner and is free, whatever it says about time: a renewal that was on its way holds it no longer.

import { JournalFailure } from "../../journal/failure.ts";
import type { Holder, Lease } from "../../ports/run-store.ts";
import type { LeaseTimes } from "../lease-times.ts";
import type { Database } from "./connect.ts";
import { storeFailure } from "./store-failure.ts";
import { durabilityFaults, settingColumns, settingsIn } from "./settings.ts";

export type LeaseClock = { readonly monotonicMs: () => number; readonly wallMs: () => number };
export const leaseClock: LeaseClock = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };

/** How far the two clocks may drift apart between two confirmations. */
const clockJumpMsMax = 2_000;

/** How long a row's lease still lasts, by the database's clock; null if it has lapsed. */
export const leaseLeft = `case when lease_until > clock_timestamp() then (extract(epoch from lease_until - clock_timestamp()) * 1000)::int::text end`;
export const msOf = (value: unknown): number | null => (typeof value === "string" ? Number(value) : null);

/** L5 */
export const isFree = "(owner is null or lease_until < clock_timestamp())";

export type Taken = {
  readonly epoch: number;
  readonly seq: number;
  readonly bytes: number;
  readonly head: Buffer;
  readonly sentMs: number;
  /** Why the store may lose what it acknowledges, as it is set now: it may have been set since it was opened. */
  readonly faults: readonly string[];
};

const takeSql = `update autopilot.run set epoch = epoch + 1, owner = $2::jsonb,
    take_overs = take_overs + case when owner is null then 0 else 1 end,
    lease_until = clock_timestamp() + $3::int * interval '1 ms', updated_at = now()
  where run_id = $1::text and ${isFree} returning epoch::text, seq::text, bytes::text, head, ${settingColumns}`;

/** Takes a run, made where it is not there; refuses with who has it. */
export async function takeRun(
  { ask, name }: Database,
  request: { readonly run: string; readonly kind: string; readonly holder: Holder; readonly leaseMs: number; readonly clock: LeaseClock },
): Promise<Taken> {
  const { run, holder, leaseMs, clock } = request;
  try {
    await ask("insert into autopilot.run (run_id, kind) values ($1, $2) on conflict do nothing", [run, request.kind]);
    for (;;) {
      const sentMs = clock.monotonicMs();
      const { rows } = await ask(takeSql, [run, JSON.stringify(holder), leaseMs]); // L1
      const row = rows[0];
      if (row !== undefined) {
        const [epoch, seq, bytes] = [Number(row["epoch"]), Number(row["seq"]), Number(row["bytes"])];
        return { epoch, seq, bytes, head: row["head"] as Buffer, sentMs, faults: durabilityFaults(settingsIn(row)) };
      }
      const { rows: held } = await ask(`select owner from autopilot.run where run_id = $1 and not ${isFree}`, [run]);
      const owner = held[0]?.["owner"] as Partial<Holder> | undefined;
      if (owner !== undefined) throw new JournalFailure({ kind: "run_locked", pid: owner.pid ?? null, host: owner.host ?? null });
    } // given back meanwhile: by another, or by this process, which did not hear that it was
  } catch (error) {
    throw storeFailure(error, name);
  }
}

export type HeldLease = Lease & {
  /** Reports that the run is lost, from whichever check. */
  readonly lose: (detail: string) => void;
  /** Why it is not held any more; null while it is. */
  readonly whyLost: () => string | null;
  /** Gives it back, so that the next owner need not wait. */
  readonly release: () => Promise<void>;
};

/** What is held: the row of a run, or of a worker. */
export type Leased = { readonly table: "run" | "worker"; readonly id: string };

/** Renews the lease until it is given back or lost. */
export function holdLease(
  { ask }: Database,
  request: {
    readonly of: Leased;
    readonly taken: Pick<Taken, "epoch" | "sentMs">;
    readonly times: LeaseTimes;
    readonly clock: LeaseClock;
  },
): HeldLease {
  const { of, taken, times, clock } = request;
  const mine = `where ${of.table}_id = $1::text and epoch = $2::bigint`;
  const renewSql = `update autopilot.${of.table} set lease_until = clock_timestamp() + $3::int * interval '1 ms' ${mine} and owner is not null`; // L5
  const releaseSql = `update autopilot.${of.table} set lease_until = timestamptz 'epoch', owner = null ${mine}`;
  const lost = new AbortController();
  let why: string | null = null;
  let confirmed = { sentMs: taken.sentMs, wallMs: clock.wallMs() };
  let isOver = false;
  let isAsking = false;

  const silentMs = (): number => clock.monotonicMs() - confirmed.sentMs;
  const hasJumped = (): boolean => Math.abs(clock.wallMs() - confirmed.wallMs - silentMs()) > clockJumpMsMax; // L3
  const lose = (detail: string): void => {
    if (why !== null || isOver) return;
    why = detail; // L4
    clearInterval(timer);
    lost.abort(new JournalFailure({ kind: "lease_lost", detail }));
  };
  const renew = async (): Promise<void> => {
    if (isAsking) return;
    isAsking = true;
    const sent = { sentMs: clock.monotonicMs(), wallMs: clock.wallMs() };
    try {
      const { count } = await ask(renewSql, [of.id, taken.epoch, times.leaseMs]);
      if (count === 1) confirmed = sent;
      else lose(of.table === "run" ? "another worker has taken it" : "another worker has this id");
    } catch {
      // Unheard is not lost: the watch below decides when it has lasted too long.
    } finally {
      isAsking = false;
    }
  };
  let renewedMs = clock.monotonicMs();
  const watch = (): void => {
    if (silentMs() >= times.stopMs) return lose(`nothing was heard of the store for ${Math.round(silentMs())} ms`); // L2
    if (clock.monotonicMs() - renewedMs < times.renewMs && !hasJumped()) return;
    renewedMs = clock.monotonicMs();
    void renew();
  };
  const timer = setInterval(watch, Math.max(20, Math.floor(times.renewMs / 6)));
  timer.unref();
  return {
    run: of.id,
    epoch: taken.epoch,
    lost: lost.signal,
    isConfirmed: () => why === null && !isOver && silentMs() < times.stopMs && !hasJumped(),
    lose,
    whyLost: () => why ?? (isOver ? "it was given back" : null),
    release: async () => {
      if (isOver) return;
      isOver = true;
      clearInterval(timer);
      // Unheard, it lapses by itself.
      if (why === null) await ask(releaseSql, [of.id, taken.epoch]).catch(() => undefined);
    },
  };
}
