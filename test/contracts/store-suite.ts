// store-suite: what every store must do, as tests that run over each of them.

import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Entry, Event } from "../../src/contracts/event.ts";
import { JournalFailure } from "../../src/journal/journal-failure.ts";
import { openJournal } from "../../src/journal/file-journal.ts";
import { genesis, lineBytesMax } from "../../src/journal/line.ts";
import {
  readBytes,
  failureFrom,
  freshFolder,
  skipped,
  still,
  surveyed,
} from "../../src/journal/scene.test-support.ts";
import type { RunRequest } from "../../src/ports/request-queue.ts";
import type { OpenOptions, RunStore } from "../../src/ports/run-store.ts";

export type Stage = {
  readonly store: RunStore;
  /**
   * Ends a run's lease as if its owner had been silent for too long; null if a lock ends with its
   * process and cannot lapse.
   */
  readonly lapse: ((run: string) => Promise<void>) | null;
};

const options: OpenOptions = { now: still.now, activeMs: still.activeMs };
let runs = 0;
const newRun = (): string => `run-2026-01-02-030405-${process.pid}${++runs}`;
const pause = (request: string): RunRequest => ({
  event: "control_requested",
  control: "pause",
  now: false,
  request,
  actor: "operator:ann",
});

async function exported(store: RunStore, run: string): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const line of store.lines(run, 0)) parts.push(line, Buffer.from("\n"));
  return Buffer.concat(parts).toString();
}

export function storeSuite(name: string, stage: () => Stage): void {
  describe(`a store (${name})`, () => {
    const put = async (
      run: string,
      ...batches: readonly (readonly Event[])[]
    ): Promise<readonly Entry[]> => {
      const { journal } = await stage().store.open(run, "run", options);
      const entries: Entry[] = [];
      for (const batch of batches) entries.push(...(await journal.append(batch)));
      await journal.close();

      return entries;
    };

    test("holds the same bytes as a file that was given the same events", async () => {
      const { store } = stage();
      const run = newRun();
      const dir = freshFolder();

      for (const batches of [[[skipped(1)], [surveyed("ü\u2028"), skipped(2)]], [[skipped(3)]]]) {
        const file = await openJournal(dir, still);
        const { journal } = await store.open(run, "run", options);

        for (const batch of batches) {
          expect(await journal.append(batch)).toStrictEqual(await file.journal.append(batch));
        }

        expect(journal.position).toEqual(file.journal.position);
        await file.journal.close();
        await journal.close();
      }

      expect(await exported(store, run)).toBe(readBytes(dir).toString());
    });

    test("gives back after reopening what it acknowledged, under a greater epoch", async () => {
      const { store } = stage();
      const run = newRun();
      const entries = await put(run, [skipped(1), surveyed("a", "b")], [skipped(2)]);
      const again = await store.open(run, "run", options);
      expect(again.entries).toStrictEqual(entries);
      expect(again).toMatchObject({ snapshot: null, repaired: null, lease: { epoch: 2 } });
      expect(await again.journal.append([skipped(3)])).toMatchObject([{ seq: 4, epoch: 2 }]);
      await again.journal.close();
    });

    test("has one owner of a run at a time, and says who", async () => {
      const { store } = stage();
      const run = newRun();
      const { journal, lease } = await store.open(run, "run", options);
      expect(lease.isConfirmed()).toBe(true);
      expect(await failureFrom(store.open(run, "run", options))).toMatchObject({
        kind: "run_locked",
        trouble: { pid: process.pid },
      });

      expect((await store.runs()).find((row) => row.run === run)?.holder).toMatchObject({
        pid: process.pid,
      });

      await journal.append([skipped(1)]);
      await journal.close();
      await journal.close();
      expect((await store.runs()).find((row) => row.run === run)).toMatchObject({
        kind: "run",
        seq: 1,
        holder: null,
        takeOvers: 0,
      });

      await (await store.open(run, "run", options)).journal.close();
    });

    test("lets an owner that lost its run write nothing: no line, no snapshot", async () => {
      const { store, lapse } = stage();
      const run = newRun();
      const stale = await store.open(run, "run", options);
      const [first] = await stale.journal.append([skipped(1)]);
      if (lapse === null) return stale.journal.close(); // a lock of the kernel is had until its process ends
      await lapse(run);
      const next = await store.open(run, "run", options);
      expect(next.entries).toEqual([first]);
      const refused = await failureFrom(stale.journal.append([skipped(66)]));
      expect(["lease_lost", "run_locked"]).toContain(refused.kind);
      await expect(stale.journal.append([skipped(67)])).rejects.toThrow(JournalFailure);
      await expect(stale.journal.snapshot({ seq: 1 })).rejects.toThrow(JournalFailure);
      await expect(stale.journal.putBlob("late")).rejects.toThrow(JournalFailure);
      await stale.journal.close(); // gives back nothing that is another's
      expect(await next.journal.append([skipped(2)])).toMatchObject([
        { seq: 2, epoch: next.lease.epoch },
      ]);

      expect(next.lease.epoch).toBeGreaterThan(stale.lease.epoch);
      await next.journal.close();
      expect(await exported(store, run)).not.toContain("step-6");
      expect((await store.runs()).find((row) => row.run === run)).toMatchObject({
        seq: 2,
        takeOvers: 1,
      });
    });

    test("keeps what was appended together in order, and goes on after an event that belongs in a blob", async () => {
      const { store } = stage();
      const run = newRun();
      const { journal } = await store.open(run, "run", options);
      const large = { ...skipped(0), step: "x".repeat(lineBytesMax) } as Event;
      const refused = failureFrom(journal.append([skipped(9), large]));
      const appended = await Promise.all(
        [1, 2, 3, 4, 5, 6, 7].map((n) => journal.append([skipped(n), surveyed(String(n))])),
      );

      expect((await refused).kind).toBe("event_too_large");
      expect(appended.flat().map(({ seq }) => seq)).toEqual(
        Array.from({ length: 14 }, (_, index) => index + 1),
      );

      expect(await journal.append([])).toEqual([]);
      await journal.close();
      const seen: Entry[] = [];
      const again = await store.open(run, "run", {
        ...options,
        onEntry: (entry) => seen.push(entry),
      });
      expect([seen, again.entries]).toEqual([appended.flat(), []]);
      await again.journal.close();
    });

    test("takes a snapshot of where it stands, and only that", async () => {
      const { store } = stage();
      const run = newRun();
      const { journal } = await store.open(run, "run", options);
      await journal.append([skipped(1), skipped(2)]);
      expect([await journal.snapshot({ seq: 1 }), await journal.snapshot({ seq: 2 })]).toEqual([
        false,
        true,
      ]);

      await journal.append([skipped(3)]);
      await journal.close();
      const short = await store.open(run, "run", options);
      expect(short).toMatchObject({ snapshot: { seq: 2 }, entries: [{ seq: 3 }] });
      await short.journal.close();
      const whole = await store.open(run, "run", { ...options, onSnapshot: () => false });
      expect(whole).toMatchObject({
        snapshot: null,
        entries: [{ seq: 1 }, { seq: 2 }, { seq: 3 }],
      });

      await whole.journal.close();
    });

    test("keeps blobs by their hash, for owners and readers", async () => {
      const { store } = stage();
      const run = newRun();
      const { journal } = await store.open(run, "run", options);
      const [text, bytes] = [
        await journal.putBlob("ü"),
        await journal.putBlob(new Uint8Array([0, 255, 10])),
      ];
      expect(await journal.putBlob("ü")).toBe(text);
      expect((await journal.readBlob(text)).toString()).toBe("ü");
      await journal.append([skipped(1)]);
      await journal.close();
      expect([...(await store.readBlob(run, bytes))]).toEqual([0, 255, 10]);
      expect([await store.hasBlob(run, bytes), await store.hasBlob(run, "0".repeat(64))]).toEqual([
        true,
        false,
      ]);

      expect(await failureFrom(store.readBlob(run, "0".repeat(64)))).toMatchObject({
        kind: "journal_damaged",
      });
    });

    test("is read by others while its owner writes, on from where they were", async () => {
      const { store } = stage();
      const run = newRun();
      expect(await store.read(newRun(), genesis, () => undefined)).toEqual(genesis);
      const { journal } = await store.open(run, "run", options);
      const first = await journal.append([skipped(1), skipped(2)]);
      const seen: Entry[] = [];
      const at = await store.read(run, genesis, (entry) => seen.push(entry));
      const second = await journal.append([skipped(3)]);
      expect(await store.read(run, at, (entry) => seen.push(entry))).toEqual(journal.position);
      expect(seen).toEqual([...first, ...second]);
      await journal.close();
    });

    test("keeps requests until they are forgotten, each once, in order", async () => {
      const { store } = stage();
      const run = newRun();
      await put(run, [skipped(1)]);
      const [a, b] = [pause(randomUUID()), pause(randomUUID())];
      for (const request of [a, b, a]) await store.send(run, request);
      const requests = await store.requests(run);
      expect(await requests.pending()).toEqual([a, b]);
      await requests.forget(a.request);
      expect(await requests.pending()).toEqual([b]);
      await requests.close();
    });

    test("says when it has lost a line that it acknowledged once, and changes nothing", async () => {
      const { store } = stage();
      const run = newRun();
      await put(run, [skipped(1)], [skipped(2)]);
      const before = await exported(store, run);
      const end = await store.read(run, genesis, () => undefined);
      const known = { seq: 2, prev: end.prev };
      await (await store.open(run, "run", { ...options, known })).journal.close();

      for (const gone of [
        { seq: 3, prev: "1".repeat(64) },
        { seq: 2, prev: "1".repeat(64) },
      ]) {
        expect(
          await failureFrom(store.open(run, "run", { ...options, known: gone })),
        ).toMatchObject({ kind: "store_lost_lines" });
      }

      expect(await exported(store, run)).toBe(before);
      await (await store.open(run, "run", options)).journal.close();
    });
  });
}
