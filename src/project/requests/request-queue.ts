// request-queue: the queue in which the process that owns a run finds the requests of other
// processes, stored as files.
//
// A request stays in its file until the owner has journaled it and removes it. If the owner dies in
// between, the next one finds the file again, sees the request's key in the journal, and removes it
// without journaling it twice.

import { type FSWatcher, watch } from "node:fs";
import type { RequestQueue } from "../../ports/request-queue.ts";
import {
  clearTemporaryFiles,
  requestFolder,
  readRequestNames,
  readRequests,
  removeRequest,
} from "./request-files.ts";
import { openRequestSocket } from "./request-socket.ts";

export type OwnedRequestQueue = RequestQueue & {
  /** The request is in the journal: the waiting caller is notified. */
  readonly acknowledge: (request: string) => void;
  readonly close: () => Promise<void>;
};

const pollEveryMs = 200;

/** Opens the queue for the run's owner, who holds the run's lock. */
export async function openRequestQueue(runDir: string): Promise<OwnedRequestQueue> {
  await clearTemporaryFiles(runDir, Date.now());
  const callbacks = new Set<() => void>();
  const wake = (): void => callbacks.forEach((callback) => callback());
  const socket = await openRequestSocket(runDir, wake);
  const stopWatching = watchNames(requestFolder(runDir), wake);

  return {
    pending: () => readRequests(runDir),
    forget: async (request) => {
      await removeRequest(runDir, request);
      // The first report counts: for an acknowledged request this changes nothing, any other sender
      // learns that nothing more will happen.
      socket?.report(request, "gone");
    },
    watch: (callback) => {
      callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
    acknowledge: (request) => socket?.report(request, "journaled"),
    close: async () => {
      callbacks.clear();
      stopWatching();
      await socket?.close();
    },
  };
}

/**
 * Calls `onNew` when a name appears in the folder. File system notifications are not reliable, so
 * the folder is polled as well.
 */
function watchNames(folder: string, onNew: () => void): () => void {
  let namesBefore = new Set<string>();
  let isReading = false;

  const lookForNew = async (): Promise<void> => {
    if (isReading) return;
    isReading = true;
    const names = await readRequestNames(folder).catch(() => []);
    const isNew = names.some((name) => !namesBefore.has(name));
    namesBefore = new Set(names);
    isReading = false;
    if (isNew) onNew();
  };
  const timer = setInterval(() => void lookForNew(), pollEveryMs);
  timer.unref();
  const watcher = watchFolder(folder, () => void lookForNew());

  return () => {
    clearInterval(timer);
    watcher?.close();
  };
}

function watchFolder(folder: string, onChange: () => void): FSWatcher | null {
  try {
    const watcher = watch(folder, { persistent: false }, onChange);
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}
