// bare-writers: what sharing syncs could gain at all: writers that do nothing but append 300 bytes
// twice a step, with one write and one sync for all that come together. No engine, no events, no
// chain: whatever else a step does comes on top of this.

import { closeSync, fdatasync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

const line = Buffer.from(`${"x".repeat(299)}\n`);
const appendsPerStep = 2;

/** Steps a second of all writers together. */
export async function bareRateOf(folder: string, writers: number, steps: number): Promise<number> {
  const path = join(folder, "bare-writers.log");
  const fd = openSync(path, "a", 0o600);
  let waiting: (() => void)[] = [];
  let isBusy = false;

  const flush = (): void => {
    const batch = waiting;
    if (batch.length === 0) {
      isBusy = false;
      return;
    }

    waiting = [];
    writeSync(fd, Buffer.concat(batch.map(() => line)));
    fdatasync(fd, (error) => {
      if (error !== null) throw error;
      for (const done of batch) done();
      setImmediate(flush);
    });
  };

  const append = (): Promise<void> =>
    new Promise((done) => {
      waiting.push(done);
      if (isBusy) return;
      isBusy = true;
      setImmediate(flush);
    });

  const write = async (): Promise<void> => {
    for (let n = 0; n < steps * appendsPerStep; n++) await append();
  };

  const began = performance.now();
  await Promise.all(Array.from({ length: writers }, write));
  const ms = performance.now() - began;
  closeSync(fd);
  rmSync(path);

  return (writers * steps * 1000) / ms;
}
