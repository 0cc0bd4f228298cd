// checkout-kind: how folders for agents and checks are created here: the cheapest way that works,
// found by trying.

import { randomUUID } from "node:crypto";
import { constants, copyFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore, type Store } from "../bases/store.ts";
import type { CheckoutKind } from "./checkouts.ts";

/**
 * Views need the isolation `overlay`, which mounts them; reflink copies need a file system that
 * supports them.
 */
export function chooseCheckoutKind(level: string, runDir: string, store?: Store): CheckoutKind {
  if (level === "overlay") return "overlay";
  return canReflink(store, runDir) ? "reflink" : "copy";
}

/**
 * Whether a reflink copy from the cache to the run's folder works: only within one file system, and
 * only in some.
 */
function canReflink(store: Store | undefined, runDir: string): boolean {
  const name = `.reflink-${randomUUID()}`;
  let source: string | null = null;

  try {
    source = join((store ?? openStore()).folder, "drafts", name);
    writeFileSync(source, "try");
    copyFileSync(source, join(runDir, name), constants.COPYFILE_FICLONE_FORCE);

    return true;
  } catch {
    return false; // unsupported; or the cache cannot be used, which creating a checkout will report
  } finally {
    for (const path of [source, join(runDir, name)]) {
      if (path !== null) rmSync(path, { force: true });
    }
  }
}

export const checkoutKindDescriptions: Readonly<Record<CheckoutKind, string>> = {
  overlay: "overlay: each folder is a view of files that are made once and shared",
  reflink: "reflink: each folder is a copy that shares its blocks with files that are made once",
  copy: "copy: every file is written anew for each folder",
};
