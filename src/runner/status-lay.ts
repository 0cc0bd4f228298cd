import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunView } from "../core/state.ts";
import type { Position } from "../journal/journal.ts";
import { product } from "../project/runs/product.ts";
import { type Shelved, shelfFile, shelvedFromBytes } from "./status-shelf.ts";

const laidAfterMs = 300;

export type ShelfParts = { readonly folder: string; readonly view: () => RunView; readonly position: () => Readonly<Position> };
export type Shelf = {
  /** Something was acknowledged. */
  readonly note: () => void;
  /** Lays it out once more and is done. */
  readonly close: () => Promise<void>;
};

/** Lays out how a long run stands, a little after each change and off the path of those who wait for it. */
export function openShelf(parts: ShelfParts): Shelf {
  let soon: NodeJS.Timeout | null = null;
  let isStale = false;
  const later = (): void => {
    soon ??= setTimeout(() => {
      soon = null;
      void lay(parts).then(
        (isLaid) => {
          isStale = !isLaid;
        },
        () => undefined, // it stays stale, and ends no run
      );
    }, laidAfterMs).unref();
  };
  return {
    note: () => {
      isStale = true;
      if (parts.position().byte >= shelvedFromBytes) later();
    },
    close: async () => {
      if (soon !== null) clearTimeout(soon);
      if (isStale) await lay(parts);
    },
  };
}

/** False where the state is behind the journal: what comes next lays it out. */
async function lay({ folder, view, position }: ShelfParts): Promise<boolean> {
  if (position().byte < shelvedFromBytes) return true;
  const { statusTold } = await import("./status-told.ts"); // a short run never needs it
  const { seq, byte, prev } = position();
  if (view().seq !== seq) return false;
  const shelved: Shelved = {
    product,
    byte,
    prev,
    pid: process.pid,
    rested: statusTold(view(), null),
    owned: statusTold(view(), { pid: process.pid }),
  };
  try {
    const path = join(folder, shelfFile);
    writeFileSync(`${path}.new`, JSON.stringify(shelved), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch {
    // A short cut that cannot be written is none: `status` folds the journal instead.
  }
  return true;
}
