// status: the runs of a store and who holds them. One question for all runs.

import type { Answer } from "../../contracts/answer.ts";
import { requireStoreAddress } from "../../fleet/address.ts";
import type { StoredRun } from "../../ports/run-store.ts";
import { columned } from "../../views/columned.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { answered, reply } from "../../project/reply.ts";

export type FleetStatusInput = { readonly store?: string | undefined; readonly all?: boolean | undefined };

const shownMax = 20;

export function fleetStatus(place: CommandContext, input: FleetStatusInput): Promise<Answer> {
  return answered(async () => {
    const url = requireStoreAddress(place.env, input.store);
    const { openPostgresStore } = await import("../../fleet/postgres/store.ts");
    const store = await openPostgresStore(url);
    try {
      const runs = await store.runs();
      const held = runs.filter(({ holder }) => holder !== null);
      const takeOvers = runs.reduce((sum, run) => sum + run.takeOvers, 0);
      const shown = input.all === true ? runs : [...held, ...runs.filter(({ holder }) => holder === null).toReversed()].slice(0, shownMax);
      const message = `${runs.length} ${runs.length === 1 ? "run" : "runs"} in ${store.database.name}, ${held.length} held, ${takeOvers} ${takeOvers === 1 ? "take-over" : "take-overs"}.`;
      return reply("ok", {
        message,
        page: [
          message,
          ...(shown.length === 0 ? [] : ["", ...columned([["RUN", "HELD BY", "LINES", "EPOCH", "TAKE-OVERS"], ...shown.map(rowOf)])]),
          ...(shown.length < runs.length ? [`… ${runs.length - shown.length} more: autopilot fleet status --all`] : []),
        ],
        data: {
          store: store.database.name,
          runs: runs.map(({ run, kind, seq, epoch, holder, takeOvers: taken }) => ({
            run_id: run,
            kind,
            seq,
            epoch,
            holder,
            take_overs: taken,
          })),
          held: held.length,
          take_overs: takeOvers,
        },
      });
    } finally {
      await store.close();
    }
  });
}

const rowOf = ({ run, holder, seq, epoch, takeOvers }: StoredRun): readonly string[] => [
  run,
  holder === null ? "nobody" : `${holder.worker} (pid ${holder.pid})`,
  String(seq),
  String(epoch),
  String(takeOvers),
];
