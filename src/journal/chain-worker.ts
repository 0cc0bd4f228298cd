// chain-worker: runs as the program of the second thread (second-thread.ts): checks one section,
// leaves its verdict, and ends.

import { workerData } from "node:worker_threads";
import { isSound, type Section } from "./chain-check.ts";
import { cell, verdict } from "./second-thread.ts";

const { section, board } = workerData as { readonly section: Section; readonly board: Int32Array };

function shouldContinue(): boolean {
  Atomics.add(board, cell.progress, 1);
  return Atomics.load(board, cell.isCancelled) === 0;
}

function judge(): number {
  try {
    const isSectionSound = isSound(section, shouldContinue);
    if (isSectionSound === null) return verdict.none;
    return isSectionSound ? verdict.sound : verdict.bad;
  } catch {
    // A failed read says nothing about the journal: the caller reads it again.
    return verdict.none;
  }
}

Atomics.store(board, cell.verdict, judge());
Atomics.notify(board, cell.verdict);
