// machine: a fake outside with a disk that survives a power cut. Every touch of the world is a
// tick; at any tick the plug may be pulled.

import { MemoryStore } from "../../src/journal/memory-journal.test-support.ts";
import type { RunRequest } from "../../src/ports/request-queue.ts";
import type { EndedTurn } from "../../src/ports/turn-receipts.ts";
import type { Chance } from "./chance.ts";

/** The power is gone. Whatever was not on disk never was. */
export class PowerCut extends Error {
  override readonly name = "PowerCut";
}

/**
 * `base`: how many commits there were when it was made. `file`: what its agent changed. `isKept`:
 * whether that may be applied.
 */
export type Layer = {
  state: "dirty" | "intact";
  tree: string;
  isDone: boolean;
  base: number;
  file: string;
  isKept: boolean;
};

/**
 * What survives: the journal, layers, commits, keyed effects, artifacts, requests, agents that
 * nobody ended.
 */
export class Disk {
  readonly store = new MemoryStore();
  readonly layers = new Map<string, Layer>();
  readonly receipts = new Map<string, EndedTurn>();
  readonly commits: { key: string; commit: string; tree: string; file: string }[] = [];
  readonly effects = new Map<string, number>();
  readonly files = new Map<string, number>();
  readonly requests: RunRequest[] = [];
  readonly children = new Map<string, number>();
  readonly alive = new Set<string>();
  /** Turns that were begun, in order; the bill is what they cost. */
  readonly turns: string[] = [];
  readonly interrupted = new Set<string>();
  spent = 0;
  trees = 1;
  /** Wakes the engine when a request arrives. */
  ring: (() => void) | null = null;
}

/** One life of the machine: it ends by itself, or at the tick where the plug is pulled. */
export class Machine {
  readonly disk: Disk;
  readonly #cutAt: number;
  readonly #chance: Chance | null;
  readonly #faultIn: (() => boolean) | null;
  readonly #onTick: ((now: number) => void) | null;
  isDead = false;
  now = 0;

  constructor(
    disk: Disk,
    options: {
      cutAt?: number;
      chance?: Chance;
      faultIn?: () => boolean;
      onTick?: (now: number) => void;
    } = {},
  ) {
    this.disk = disk;
    this.#cutAt = options.cutAt ?? Number.POSITIVE_INFINITY;
    this.#chance = options.chance ?? null;
    this.#faultIn = options.faultIn ?? null;
    this.#onTick = options.onTick ?? null;
  }

  /** Time passes; others may get their turn first. */
  async tick(): Promise<void> {
    this.tickNow();
    const yields = this.#chance === null ? 1 : 1 + this.#chance.below(4);
    for (let n = 0; n < yields; n++) await Promise.resolve();
    if (this.isDead) throw new PowerCut();
  }

  tickNow(): void {
    if (this.isDead) throw new PowerCut();
    this.now++;
    this.#onTick?.(this.now);

    if (this.now === this.#cutAt || this.#faultIn?.() === true) {
      this.isDead = true;
      this.disk.store.crash();
      throw new PowerCut();
    }
  }
}
