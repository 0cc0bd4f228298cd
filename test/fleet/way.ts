// way: a way to a database that can fail as networks do: silent in one direction or both, only for
// connections that are there, slow, or reset.

import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";

import { tmpdir } from "node:os";
import { join } from "node:path";

const socketName = ".s.PGSQL.5432";

export type Way = {
  /** The folder of a socket that behaves like the server's. */
  readonly folder: string;
  /** From the client to the server. */
  isUpCut: boolean;
  isDownCut: boolean;
  delayMs: number;
  /** Connections that are there hear nothing more; new ones come through. */
  readonly forgetOld: () => void;
  readonly reset: () => void;
  readonly heal: () => void;
  readonly close: () => void;
};

export function openWay(serverFolder: string): Way {
  const folder = mkdtempSync(join(tmpdir(), "autopilot-way-"));
  const pairs = new Set<{ readonly near: Socket; readonly far: Socket; isForgotten: boolean }>();

  const way: Way = {
    folder,
    isUpCut: false,
    isDownCut: false,
    delayMs: 0,
    forgetOld: () => pairs.forEach((pair) => (pair.isForgotten = true)),
    reset: () => {
      for (const { near, far } of pairs) {
        near.destroy();
        far.destroy();
      }
    },
    heal: () => Object.assign(way, { isUpCut: false, isDownCut: false, delayMs: 0 }),
    close: () => {
      way.reset();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };

  const server = createServer((near) => {
    const pair = { near, far: connect(join(serverFolder, socketName)), isForgotten: false };
    const { far } = pair;
    pairs.add(pair);

    const pass = (to: Socket, bytes: Buffer, isCut: () => boolean): void => {
      const on = (): void => void (isCut() || pair.isForgotten || to.destroyed || to.write(bytes));
      if (way.delayMs > 0) setTimeout(on, way.delayMs);
      else on();
    };
    near.on("data", (bytes) => pass(far, bytes, () => way.isUpCut));
    far.on("data", (bytes) => pass(near, bytes, () => way.isDownCut));

    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on("error", () => undefined);
      one.on("close", () => {
        other.destroy();
        pairs.delete(pair);
      });
    }
  });
  server.listen(join(folder, socketName));
  return way;
}
