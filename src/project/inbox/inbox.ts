// inbox: requests of other processes, stored as files, for the one process that owns the run.
//
// A request stays in its file until the owner has journaled it and removes it. If the owner dies in between, the next one finds the file
// again, sees the request's key in the journal, and removes it without journaling it twice.

import { type FSWatcher, watch } from "node:fs";
import type { Inbox } from "../../ports/inbox.ts";
import { clearDrafts, inboxFolder, readNames, readRequests, removeRequest } from "./inbox-files.ts";
import { openInboxListener } from "./inbox-socket.ts";

export { sendRequest, type Sent } from "./inbox-send.ts";

export type OwnedInbox = Inbox & {
  /** The request is in the journal: the waiting caller is notified. */
  readonly acknowledge: (request: string) => void;
  readonly close: () => Promise<void>;
};

const pollEveryMs = 200;

/** Opens the inbox for the run's owner, who holds the run's lock. */
export async function openInbox(runDir: string): Promise<OwnedInbox> {
  await clearDrafts(runDir, Date.now());
  const callbacks = new Set<() => void>();
  const wake = (): void => callbacks.forEach((callback) => callback());
  const listener = await openInboxListener(runDir, wake);
  const stopWatching = watchNames(inboxFolder(runDir), wake);
  return {
    pending: () => readRequests(runDir),
    forget: async (request) => {
      await removeRequest(runDir, request);
      // The first report counts: for an acknowledged request this changes nothing, any other sender learns that nothing more will happen.
      listener?.report(request, "gone");
    },
    watch: (callback) => {
      callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
    acknowledge: (request) => listener?.report(request, "journaled"),
    close: async () => {
      callbacks.clear();
      stopWatching();
      await listener?.close();
    },
  };
}

/** Calls when a name appears in the folder: by the system's notification if it has one, and by polling, because that is not reliable. */
function watchNames(folder: string, onNew: () => void): () => void {
  let namesBefore = new Set<string>();
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    const names = await readNames(folder).catch(() => []);
    const isNew = names.some((name) => !namesBefore.has(name));
    namesBefore = new Set(names);
    isLooking = false;
    if (isNew) onNew();
  };
  const timer = setInterval(() => void look(), pollEveryMs);
  timer.unref();
  const watcher = watchFolder(folder, () => void look());
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
