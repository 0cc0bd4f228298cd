// shared-mark: the file in the folder of a run or portfolio that says that its journal is in a
// store, and under which key. It gives no rights: which store that is, only the environment says.

import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { readOwnFile } from "../project/own-file.ts";

export const sharedFile = "store.json";

/**
 * A run's id is made of its start time, so two machines may use the same one: the key is unique in
 * the store.
 */
export type SharedMark = { readonly key: string };

/** `run-2026-01-01-120000.0a1b2c3d`, and for a child run `…/run-2026-01-01-120500`. */
const keyPattern = /^run-[0-9-]{15,40}\.[0-9a-f]{8}(\/run-[0-9-]{15,60})*$/;
export const isRunKey = (text: string): boolean => keyPattern.test(text) && text.length <= 200;

/** The key of a task's run: whoever reads the portfolio's journal knows it. The nonce is random. */
export const runKey = (run: string, nonce: string): string => `${run}.${nonce.slice(0, 8)}`;

const portfolioPattern = /^portfolio-[0-9a-f]{16}$/;
export const isPortfolioKey = (text: string): boolean => portfolioPattern.test(text);
/**
 * The lease on planning a portfolio; its journal has a lease of its own, which every writer takes
 * for a moment.
 */
const plannerSuffix = "/planner";
export const plannerKey = (key: string): string => `${key}${plannerSuffix}`;
export const isPlannerKey = (key: string): boolean => key.endsWith(plannerSuffix);

/** Null if a run is kept in its own folder, as runs are unless a store is named. */
export const readSharedMark = (folder: string): SharedMark | null => readMark(folder, isRunKey);
/** Null if a portfolio is kept in its own folder. */
export const readPortfolioMark = (folder: string): SharedMark | null =>
  readMark(folder, isPortfolioKey);

function readMark(folder: string, isValidKey: (key: string) => boolean): SharedMark | null {
  const text = readOwnFile(join(folder, sharedFile), 4096);
  if (text === null) return null;
  try {
    const { key } = JSON.parse(text) as Partial<SharedMark>;
    return typeof key === "string" && isValidKey(key) ? { key } : null;
  } catch {
    return null; // not a mark of ours
  }
}

/** Marks a new run; a child run's key is below its parent's. Fails if there is a mark already. */
export function markShared(folder: string, key = createKey(folder)): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, sharedFile), `${JSON.stringify({ key })}\n`, {
    mode: 0o600,
    flag: "wx",
  });
}

function createKey(folder: string): string {
  const parent = readSharedMark(dirname(dirname(folder)));
  return parent === null
    ? `${basename(folder)}.${randomBytes(4).toString("hex")}`
    : `${parent.key}/${basename(folder)}`;
}
