// memory-store: the store without a disk, for tests and simulations. Leases are taken away by hand:
// `lapse` is what time does elsewhere.

import type { Entry } from "../../src/contracts/event.ts";
import { damaged, JournalFailure } from "../../src/journal/journal-failure.ts";
import type { Journal } from "../../src/journal/journal.ts";
import { MemoryStore, openMemoryJournal } from "../../src/journal/memory-journal.test-support.ts";
import type { RunRequest } from "../../src/ports/request-queue.ts";
import type { Lease, RunKind, RunStore } from "../../src/ports/run-store.ts";

type Kept = {
  readonly kind: RunKind;
  readonly store: MemoryStore;
  readonly requests: Map<string, RunRequest>;
  takeOvers: number;
  epoch: number;
};

/** `lapse` ends a run's lease as if its owner had been silent for too long. */
export function openMemoryStore(): RunStore & { readonly lapse: (run: string) => void } {
  const runs = new Map<string, Kept>();
  const leases = new Map<string, AbortController>();

  const keptAt = (run: string, kind: RunKind = "run"): Kept => {
    const kept = runs.get(run) ?? {
      kind,
      store: new MemoryStore(),
      requests: new Map(),
      takeOvers: 0,
      epoch: 0,
    };
    runs.set(run, kept);
    return kept;
  };

  const holder = { worker: "memory", host: "memory", pid: process.pid };
  return {
    lapse: (run) => {
      const kept = keptAt(run);
      if (kept.store.owner !== null) kept.takeOvers++;
      kept.store.crash();
      leases.get(run)?.abort(new JournalFailure({ kind: "lease_lost", detail: "it lapsed" }));
    },
    async open(run, kind, { known, under, ...options }) {
      const kept = keptAt(run, kind);
      const at = kept.store.position;
      // A store that counts takings, as a shared one does: a line's epoch is its owner's.
      const opened = await openMemoryJournal(kept.store, { commit: "group", ...options });
      const line =
        known === undefined || known.seq === at.seq ? at.prev : prevOf(kept.store.lines[known.seq]);
      if (known !== undefined && line !== known.prev) {
        await opened.journal.close();
        throw new JournalFailure({
          kind: "store_lost_lines",
          detail: `line ${known.seq} of ${run} was acknowledged and is not there`,
        });
      }

      const ended = new AbortController();
      leases.set(run, ended);
      kept.epoch = at.epoch + 1;

      const lease = {
        run,
        epoch: kept.epoch,
        isConfirmed: () => !ended.signal.aborted,
        lost: ended.signal,
      };

      return {
        ...opened,
        journal: under === undefined ? opened.journal : appendedUnder(under, opened.journal),
        lease,
      };
    },
    async read(run, from, onEntry) {
      const { store } = keptAt(run);
      for (const line of store.lines.slice(from.seq)) onEntry(JSON.parse(line) as Entry);
      return { ...store.position };
    },
    async *lines(run, afterSeq) {
      for (const line of keptAt(run).store.lines.slice(afterSeq)) yield Buffer.from(line);
    },
    async readBlob(run, hash) {
      const bytes = keptAt(run).store.blobs.get(hash);
      if (bytes === undefined) throw damaged(null, null, `blob ${hash} cannot be read (ENOENT)`);
      return Buffer.from(bytes);
    },
    hasBlob: async (run, hash) => keptAt(run).store.blobs.has(hash),
    runs: async () =>
      [...runs].map(([run, { kind, store, takeOvers, epoch }]) => ({
        run,
        kind,
        seq: store.position.seq,
        epoch,
        holder: store.owner === null ? null : holder,
        takeOvers,
      })),
    send: async (run, request) => {
      const { requests } = keptAt(run);
      if (!requests.has(request.request)) requests.set(request.request, request);
    },
    requests: async (run) => {
      const { requests } = keptAt(run);
      return {
        pending: async () => [...requests.values()],
        forget: async (request) => void requests.delete(request),
        watch: () => () => undefined,
        close: async () => undefined,
      };
    },
    close: async () => undefined,
  };
}

/** T3: nothing comes between asking and writing, for both are done in one turn. */
const appendedUnder = ({ lost }: Lease, journal: Journal): Journal => ({
  get position() {
    return journal.position;
  },
  append: async (events) => {
    lost.throwIfAborted();
    return journal.append(events);
  },
  appendSync: (events) => {
    lost.throwIfAborted();
    return journal.appendSync(events);
  },
  putBlob: (bytes) => journal.putBlob(bytes),
  readBlob: (hash) => journal.readBlob(hash),
  snapshot: (state) => journal.snapshot(state),
  close: () => journal.close(),
});

/** The hash of the line before, as a line has it. */
const prevOf = (line: string | undefined): string | undefined =>
  /"prev":"([0-9a-f]{64})","crc":"[0-9a-f]{8}"\}$/.exec(line ?? "")?.[1];
