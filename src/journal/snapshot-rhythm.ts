// snapshot-rhythm: when a snapshot of a run's state is taken: every so many events as it is
// written, and as it is closed if enough came since the last one.

const everyEvents = 10_000;
const atEndEvents = 500;
/** A refused snapshot (the state lags behind, or is too large) is tried again after this many. */
const retryEvents = 100;

export type SnapshotRhythm = {
  readonly beforeAppend: (events: number) => Promise<void>;
  readonly atEnd: () => Promise<void>;
};

/** `take` returns false if the snapshot was refused. */
export function openSnapshotRhythm(take: () => Promise<boolean>): SnapshotRhythm {
  let eventsSince = 0;

  return {
    beforeAppend: async (events) => {
      if (eventsSince >= everyEvents) {
        eventsSince = (await take()) ? 0 : everyEvents - retryEvents;
      }

      eventsSince += events;
    },
    atEnd: async () => {
      if (eventsSince >= atEndEvents) await take();
    },
  };
}
