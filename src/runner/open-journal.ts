// open-journal: opens a run's journal at its source of truth: its folder, or a store that several
// machines share.

import { join } from "node:path";
import { type Fold, openFold } from "../core/fold.ts";
import type { Run } from "../core/state.ts";
import { findHubAddress } from "../fleet/address.ts";
import { readSharedMark } from "../fleet/shared-mark.ts";
import { JournalFailure } from "../journal/journal-failure.ts";
import { openJournal } from "../journal/file-journal.ts";
import type { Group } from "../journal/group.ts";
import type { Journal, JournalOptions } from "../journal/journal.ts";
import type { Redactor } from "../kit/redact.ts";
import type { Lease } from "../ports/run-store.ts";
import type { CommandContext } from "../project/command-context.ts";
import { openRequestQueue, type OwnedRequestQueue } from "../project/requests/request-queue.ts";
import { requireRepository } from "../project/runs/require-repository.ts";
import type { ProjectPaths } from "../project/runs/project-paths.ts";
import { systemClock } from "../project/runs/system-clock.ts";
import { redactJournal } from "../project/secrets/redacted-journal.ts";

/**
 * Opens a run's journal, redacted, and folds it as it is read. The lease is null if the folder is
 * the source of truth.
 */
export async function openFoldedJournal(
  context: CommandContext,
  folder: string,
  redactor: Redactor,
  commitGroup: Group | null = null,
): Promise<{ journal: Journal; fold: Fold; lease: Lease | null }> {
  let fold: Fold = openFold();
  const { journal, lease } = await openRunJournal(context, folder, {
    ...(commitGroup === null ? { commit: "sync" } : { commit: "group", commitGroup }),
    now: () => systemClock.now(),
    activeMs: () => systemClock.monotonicMs(),
    onSnapshot: (state) => {
      fold = openFold(state as Run);
      return true;
    },
    onEntry: (entry) => fold.apply(entry),
  });

  return { journal: redactJournal(journal, redactor), fold, lease };
}

/** Opens a journal in its folder, or in the store whose key the folder's marker file names. */
export async function openRunJournal(
  context: CommandContext,
  folder: string,
  options: JournalOptions,
): Promise<{ journal: Journal; lease: Lease | null }> {
  const mark = readSharedMark(folder);
  if (mark === null) return { journal: (await openJournal(folder, options)).journal, lease: null };
  return (await import("../fleet/shared-run.ts")).openShared({
    env: context.env,
    folder,
    mark,
    options,
  });
}

/**
 * Opens the repository through which machines exchange a shared run's commits; null if there is
 * none.
 */
export async function openHubFor(
  context: CommandContext,
  paths: ProjectPaths,
  folder: string,
  { epoch }: Lease,
): Promise<{ send(commit: string): Promise<void> } | null> {
  const mark = readSharedMark(folder);
  const url = findHubAddress(context.env);
  if (mark === null || url === null) return null;
  const hub = await (
    await import("../fleet/hub.ts")
  ).openHub(await requireRepository(paths.root), join(folder, "hub.git"), url);

  return { send: (commit) => hub.send(mark.key, epoch, commit) };
}

/**
 * Opens the requests to a run: those in its folder and, if the run is shared, those that other
 * machines left in the store.
 */
export async function openRunRequests(
  context: CommandContext,
  folder: string,
): Promise<OwnedRequestQueue> {
  const localRequests = await openRequestQueue(folder);
  const mark = readSharedMark(folder);
  if (mark === null) return localRequests;
  const storeRequests = await (
    await (await import("../fleet/shared-run.ts")).openSharedStore(context.env)
  ).requests(mark.key);

  let mayHoldRequests = true; // the store is read after it gave notice of a request, not before each step
  storeRequests.watch(() => (mayHoldRequests = true));
  return {
    pending: async () => {
      const storedRequests = mayHoldRequests ? await storeRequests.pending() : [];
      mayHoldRequests = storedRequests.length > 0;
      return [...(await localRequests.pending()), ...storedRequests];
    },
    forget: async (request) => {
      await localRequests.forget(request);
      // If the store can't be reached now, the request is found again later, recognised by its key,
      // and removed then.
      if (mayHoldRequests) await storeRequests.forget(request).catch(ignoreUnreachable);
    },
    watch: (callback) => {
      const unwatches = [localRequests.watch(callback), storeRequests.watch(callback)];
      return () => unwatches.forEach((unwatch) => unwatch());
    },
    acknowledge: (request) => localRequests.acknowledge(request),
    close: async () => {
      await storeRequests.close();
      await localRequests.close();
    },
  };
}

function ignoreUnreachable(error: unknown): void {
  if (!(error instanceof JournalFailure) || error.kind !== "store_unreachable") throw error;
}

/** Opens a group of journals in a run's folder: journals that share one sync. */
export async function openSharedGroup(folder: string): Promise<Group> {
  const { openGroup } = await import("../journal/group.ts");
  return openGroup(join(folder, "commit"));
}

/** Closes a group once it is open; null if none was opened. */
export async function closeGroup(opening: Promise<Group> | null): Promise<void> {
  const group = await opening?.catch(() => null); // the requester has already received the error
  group?.close();
}
