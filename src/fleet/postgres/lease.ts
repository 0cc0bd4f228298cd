// lease: takes and holds the right to write to a run for a limited time, by the database's clock;
// and judges whether this owner still has it. What follows if it doesn't: append.ts writes nothing
// more, runner/open-run.ts pauses the run, meter/model-call.ts sends no call of a model; if it is a
// worker's, commands/fleet/work-on-run.ts ends its runs.
//
// Invariants:
//   L1. If several processes take a run at once, one gets it; its epoch is one more than any
//       before.
//   L2. Only the database's clock decides when a lease ends. An owner goes by its monotonic clock,
//       from when it *sent* the renewal that was confirmed, so it always gives up before the
//       database does.
//   L3. The monotonic clock may stand still while a machine sleeps: if it and the wall clock
//       disagree, nothing counts as confirmed until the database has confirmed it again.
//   L4. A lost lease stays lost: no later answer gives it back.
//   L5. A released lease has no owner and is free, whatever its time says: a renewal that was still
//       on its way doesn't renew it.

import { JournalFailure } from "../../journal/journal-failure.ts";
import type { Holder, Lease } from "../../ports/run-store.ts";
import type { LeaseTimes } from "../lease-times.ts";
import type { Database } from "./connect.ts";
import { storeFailure } from "./store-failure.ts";
import { findDurabilityFaults, settingColumns, parseSettings } from "./settings.ts";

export type LeaseClock = { readonly monotonicMs: () => number; readonly wallMs: () => number };
export const leaseClock: LeaseClock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
};

/** How far the two clocks may drift apart between two confirmations. */
const clockJumpMsMax = 2_000;

/** SQL: how many milliseconds a row's lease still lasts, as text; null if it has lapsed. */
export const leaseLeftColumn = `case when lease_until > clock_timestamp() then (extract(epoch from lease_until - clock_timestamp()) * 1000)::int::text end`;
export const parseMs = (value: unknown): number | null =>
  typeof value === "string" ? Number(value) : null;

/** SQL: whether a row's lease may be taken (L5). */
export const freeCondition = "(owner is null or lease_until < clock_timestamp())";

export type TakenRun = {
  readonly epoch: number;
  readonly seq: number;
  readonly bytes: number;
  readonly head: Buffer;
  readonly sentMs: number;
  /**
   * Why the store may lose acknowledged lines, by its settings now: they may have changed since the
   * store was opened.
   */
  readonly faults: readonly string[];
};

const takeSql = `update autopilot.run set epoch = epoch + 1, owner = $2::jsonb,
    take_overs = take_overs + case when owner is null then 0 else 1 end,
    lease_until = clock_timestamp() + $3::int * interval '1 ms', updated_at = now()
  where run_id = $1::text and ${freeCondition} returning epoch::text, seq::text, bytes::text, head, ${settingColumns}`;

/** Takes a run, which is created if it is missing. Throws a JournalFailure that says who has it. */
export async function takeRun(
  { query, name }: Database,
  request: {
    readonly run: string;
    readonly kind: string;
    readonly holder: Holder;
    readonly leaseMs: number;
    readonly clock: LeaseClock;
  },
): Promise<TakenRun> {
  const { run, holder, leaseMs, clock } = request;
  try {
    await query("insert into autopilot.run (run_id, kind) values ($1, $2) on conflict do nothing", [
      run,
      request.kind,
    ]);

    for (;;) {
      const sentMs = clock.monotonicMs();
      const { rows } = await query(takeSql, [run, JSON.stringify(holder), leaseMs]); // L1
      const row = rows[0];
      if (row !== undefined) {
        const [epoch, seq, bytes] = [
          Number(row["epoch"]),
          Number(row["seq"]),
          Number(row["bytes"]),
        ];

        return {
          epoch,
          seq,
          bytes,
          head: row["head"] as Buffer,
          sentMs,
          faults: findDurabilityFaults(parseSettings(row)),
        };
      }

      const { rows: held } = await query(
        `select owner from autopilot.run where run_id = $1 and not ${freeCondition}`,
        [run],
      );
      const owner = held[0]?.["owner"] as Partial<Holder> | undefined;
      if (owner !== undefined) {
        throw new JournalFailure({
          kind: "run_locked",
          pid: owner.pid ?? null,
          host: owner.host ?? null,
        });
      }
    } // nobody holds it now: it was released between the two queries, so it is tried again
  } catch (error) {
    throw storeFailure(error, name);
  }
}

export type HeldLease = Lease & {
  /** Reports that the run is lost, from whichever check. */
  readonly reportLost: (detail: string) => void;
  /** Why it is not held any more; null while it is. */
  readonly whyLost: () => string | null;
  /** Gives it back, so that the next owner need not wait. */
  readonly release: () => Promise<void>;
};

/** What is held: the row of a run, or of a worker. */
export type LeasedRow = { readonly table: "run" | "worker"; readonly id: string };

/** Renews the lease until it is given back or lost. */
export function holdLease(
  { query }: Database,
  request: {
    readonly row: LeasedRow;
    readonly taken: Pick<TakenRun, "epoch" | "sentMs">;
    readonly times: LeaseTimes;
    readonly clock: LeaseClock;
  },
): HeldLease {
  const { row, taken, times, clock } = request;
  const ownRow = `where ${row.table}_id = $1::text and epoch = $2::bigint`;
  const renewSql = `update autopilot.${row.table} set lease_until = clock_timestamp() + $3::int * interval '1 ms' ${ownRow} and owner is not null`; // L5
  const releaseSql = `update autopilot.${row.table} set lease_until = timestamptz 'epoch', owner = null ${ownRow}`;
  const lost = new AbortController();
  let lostReason: string | null = null;
  let confirmed = { sentMs: taken.sentMs, wallMs: clock.wallMs() };
  let isReleased = false;
  let isRenewing = false;

  const silentMs = (): number => clock.monotonicMs() - confirmed.sentMs;
  const hasJumped = (): boolean =>
    Math.abs(clock.wallMs() - confirmed.wallMs - silentMs()) > clockJumpMsMax; // L3

  const reportLost = (detail: string): void => {
    if (lostReason !== null || isReleased) return;
    lostReason = detail; // L4
    clearInterval(timer);
    lost.abort(new JournalFailure({ kind: "lease_lost", detail }));
  };

  const renew = async (): Promise<void> => {
    if (isRenewing) return;
    isRenewing = true;
    const sent = { sentMs: clock.monotonicMs(), wallMs: clock.wallMs() };

    try {
      const { count } = await query(renewSql, [row.id, taken.epoch, times.leaseMs]);
      if (count === 1) confirmed = sent;
      else
        reportLost(
          row.table === "run" ? "another worker has taken it" : "another worker has this id",
        );
    } catch {
      // A lost answer isn't a lost lease: `watch` decides when the silence has lasted too long.
    } finally {
      isRenewing = false;
    }
  };

  let renewedMs = clock.monotonicMs();
  const watch = (): void => {
    if (silentMs() >= times.stopMs) {
      return reportLost(`nothing was heard of the store for ${Math.round(silentMs())} ms`);
    } // L2

    if (clock.monotonicMs() - renewedMs < times.renewMs && !hasJumped()) return;
    renewedMs = clock.monotonicMs();
    void renew();
  };
  const timer = setInterval(watch, Math.max(20, Math.floor(times.renewMs / 6)));
  timer.unref();

  return {
    run: row.id,
    epoch: taken.epoch,
    lost: lost.signal,
    isConfirmed: () =>
      lostReason === null && !isReleased && silentMs() < times.stopMs && !hasJumped(),
    reportLost,
    whyLost: () => lostReason ?? (isReleased ? "it was given back" : null),
    release: async () => {
      if (isReleased) return;
      isReleased = true;
      clearInterval(timer);

      // If the release doesn't arrive, the lease lapses by itself.
      if (lostReason === null) {
        await query(releaseSql, [row.id, taken.epoch]).catch(() => undefined);
      }
    },
  };
}
