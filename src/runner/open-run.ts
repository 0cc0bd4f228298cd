// open-run: opens a run (lock, journal, fold), lets a command read, append and drive it, and closes
// it.
//
// Invariants:
//   H0. A run that is not this user's is neither written to nor executed: each opening, a child's
//       too, passes the ownership check.
//   H1. A process that writes to a run holds its lock; a second one is refused with the first one's
//       pid.
//   H2. An external failure pauses the run, if the pause can still be written; for a full disk the
//       reserve is given up.
//   H3. After a failed sync this process writes nothing more: only a new one may find out what is
//       on disk.

import { randomUUID } from "node:crypto";
import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Draft, Entry } from "../contracts/event.ts";
import { findWeakerLevel } from "../contracts/isolation-levels.ts";
import type { Fold } from "../core/fold.ts";
import type { RunView } from "../core/state.ts";
import { drive } from "../engine/drive.ts";
import type { Group } from "../journal/group.ts";
import type { Journal } from "../journal/journal.ts";
import { openSnapshotRhythm } from "../journal/snapshot-rhythm.ts";
import { invariant } from "../kit/invariant.ts";
import type { Lease } from "../ports/run-store.ts";
import { writePlaybookFiles } from "../playbooks/registry/open-playbook.ts";
import { sendRequest } from "../project/requests/send-request.ts";
import { type ProjectPaths, runFolder } from "../project/runs/project-paths.ts";
import type { CommandContext } from "../project/command-context.ts";
import { product } from "../project/runs/product.ts";
import { refuseJournal } from "../project/runs/read-run.ts";
import { getRedaction } from "../project/secrets/context-redaction.ts";
import { refuse } from "../project/respond.ts";
import { type OpenBinding, openBinding } from "../project/runs/run-binding.ts";
import { requireAsAcknowledged, requireOwnRun } from "../project/runs/require-own-run.ts";
import { openStatusCache } from "./write-status-cache.ts";
import { freeForFullDisk } from "../project/runs/ended-folders.ts";
import { type SystemFailure, classifySystemError } from "../project/system-errors.ts";
import { requireMayGrant } from "./require-may-grant.ts";
import { closeGroup, openFoldedJournal, openHubFor, openSharedGroup } from "./open-journal.ts";
import { beginRun } from "./begin-run.ts";
import { openNotices } from "./run-notices.ts";
import { openRuntime } from "./open-runtime.ts";

const reserveFile = "reserve";
const reserveBytes = 64 * 1024;
/** Failures of the journal itself, or of its ownership: then no pause can be written. */
const neverPausedCodes: readonly string[] = [
  "run_locked",
  "journal_damaged",
  "journal_newer",
  "journal_unwritable",
  "lease_lost",
  "store_unreachable",
  "store_unusable",
  "store_lost_lines",
];

export type DriveOptions = {
  readonly watch?: (entry: Entry, run: RunView) => void;
  /** Options of this invocation alone. */
  readonly overrides?: Readonly<Record<string, string | number | boolean>>;
  /** Pauses the run when aborted, for a child whose parent was cancelled. */
  readonly cancel?: AbortSignal;
};

/** A run that this process has locked and opened. */
export type OpenRun = {
  readonly paths: ProjectPaths;
  readonly run: string;
  readonly folder: string;
  readonly view: () => RunView;
  readonly append: (event: Draft) => Promise<void>;
  readonly putBlob: (text: string) => Promise<string>;
  /** Drives the run to its next rest and returns why it rests. */
  readonly drive: (options?: DriveOptions) => Promise<string>;
};

/** Opens a run, passes it to `work`, and closes it. */
export function withRun<Value>(
  context: CommandContext,
  paths: ProjectPaths,
  run: string,
  work: (openRun: OpenRun) => Promise<Value>,
): Promise<Value> {
  return withRunIn({ context, paths, folder: runFolder(paths, run), run, group: null }, work);
}

type RunLocation = {
  readonly context: CommandContext;
  readonly paths: ProjectPaths;
  readonly folder: string;
  readonly run: string;
  /** The parent's group of journals with one sync; null for a run that has no parent. */
  readonly group: Group | null;
};

async function withRunIn<Value>(
  location: RunLocation,
  work: (openRun: OpenRun) => Promise<Value>,
): Promise<Value> {
  try {
    return await withLockedRun(location, work);
  } catch (error) {
    const failure = classifySystemError(error, [location.folder]);
    if (failure === null || neverPausedCodes.includes(failure.code)) {
      return refuseJournal(error, location.run);
    } // H3

    const state = await pauseForFailure(location, failure); // H2
    return refuse(failure.code, {
      run_id: location.run,
      message: failure.message,
      remediation: [failure.hint],
      ...(state === null ? {} : { state }),
    });
  }
}

async function withLockedRun<Value>(
  location: RunLocation,
  work: (openRun: OpenRun) => Promise<Value>,
): Promise<Value> {
  const { context, paths, folder, run, group } = location;
  const record = await requireOwnRun(context, paths, folder, run); // H0

  const { journal, fold, lease } = await openFoldedJournal(
    context,
    folder,
    getRedaction(context, paths.root).redactor,
    group,
  ); // H1
  const view = (): RunView => foldView(fold);
  const opened: OpenedRun = { ...location, journal, fold, lease, view };

  const binding = openBinding({
    env: context.env,
    paths,
    folder,
    record,
    position: () => journal.position,
  });

  const writer = openWriter(opened);
  let hasStaleFiles = false;

  const append = async (event: Draft): Promise<void> => {
    hasStaleFiles = true;
    // The policy its user adopts may be weaker than the acknowledged one; the record is updated
    // before the journal.
    if (event.event === "policy_changed" && event.adopted && event.isolation !== undefined) {
      binding.update({ isolation: findWeakerLevel(binding.record().isolation, event.isolation) });
    }

    await writer.write(event);
  };

  const driveOpened = (options: DriveOptions = {}): Promise<string> => {
    hasStaleFiles = false; // a driving process writes the files itself
    return driveRun(opened, { binding, writer }, options);
  };

  try {
    requireAsAcknowledged(view(), record, folder); // H0
    const value = await work({
      paths,
      run,
      folder,
      view,
      append,
      putBlob: (text) => journal.putBlob(text),
      drive: driveOpened,
    });

    await writer.snapshotAtEnd();
    if (hasStaleFiles) await writePlaybookFiles({ context, paths, folder, view });
    await writer.close();
    if (group === null) binding.rememberHead(); // lines that only the shared log has on disk must not be visible yet

    return value;
  } finally {
    await journal.close();
  }
}

type OpenedRun = RunLocation & {
  readonly journal: Journal;
  readonly fold: Fold;
  readonly lease: Lease | null;
  readonly view: () => RunView;
};

type Writer = {
  readonly append: (events: readonly Draft[]) => Promise<readonly Entry[]>;
  /** Appends one event and folds it. */
  readonly write: (event: Draft) => Promise<void>;
  readonly snapshotAtEnd: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/**
 * Appends events: checks who may grant them, sends commits to the hub first, takes snapshots, keeps
 * the status cache.
 */
function openWriter(opened: OpenedRun): Writer {
  const { context, paths, folder, journal, fold, lease, view } = opened;
  const statusCache = openStatusCache({ folder, view, position: () => journal.position });
  const snapshots = openSnapshotRhythm(() => journal.snapshot(view()));
  let hub: ReturnType<typeof openHubFor> | null = null;

  const sendCommit = async (commit: string): Promise<void> => {
    if (lease !== null) {
      await (await (hub ??= openHubFor(context, paths, folder, lease)))?.send(commit);
    }
  };

  const append = async (events: readonly Draft[]): Promise<readonly Entry[]> => {
    await snapshots.beforeAppend(events.length);
    for (const event of events) requireMayGrant(context, event);
    // A commit is sent before the line that names it, so that the hub has it (fleet/hub.ts).
    for (const event of events) {
      if (event.event === "changes_applied" || event.event === "tests_put_back") {
        await sendCommit(event.commit);
      }
    }

    const entries = await journal.append(
      events.map((event) => ({ actor: "system", reason_code: "ok", ...event })),
    );

    statusCache.onEntry();
    return entries;
  };

  return {
    append,
    write: async (event) => {
      for (const entry of await append([event])) fold.apply(entry);
    },
    snapshotAtEnd: snapshots.atEnd,
    close: statusCache.close,
  };
}

async function driveRun(
  opened: OpenedRun,
  { binding, writer }: { readonly binding: OpenBinding; readonly writer: Writer },
  options: DriveOptions,
): Promise<string> {
  const { context, paths, folder, group, journal, fold, lease, view } = opened;
  // Child runs share this process, so their journals share a sync; the group is opened with the
  // first of them.
  let childGroup: Promise<Group> | null = null;
  const shareGroup = (): Promise<Group> =>
    group === null ? (childGroup ??= openSharedGroup(folder)) : Promise.resolve(group);

  const { runtime, isolation, close } = await openRuntime({
    context,
    paths,
    folder,
    view,
    recorder: {
      append: writer.append,
      putBlob: (bytes) => journal.putBlob(bytes),
      readBlob: (hash) => journal.readBlob(hash),
    },
    readBlob: (hash) => journal.readBlob(hash),
    watch: options.watch ?? (() => undefined),
    cancel: options.cancel ?? null,
    isOwner: () => lease === null || lease.isConfirmed(),
    beginChild: (childFolder, event, blobs) =>
      beginRun({ context, paths, folder: childFolder, event, blobs, isShared: lease !== null }),
    withChild: async (childFolder, child, childWork) =>
      withRunIn(
        { context, paths, folder: childFolder, run: child, group: await shareGroup() },
        childWork,
      ),
  });

  // A journal that accepts nothing more ends the loop at its next line; this request makes sure
  // that there is one at once.
  const onLeaseLost = (): void => {
    const pause = {
      event: "control_requested",
      control: "pause",
      now: true,
      request: randomUUID(),
      actor: "system",
    } as const;
    void sendRequest(folder, pause, { waitMs: 0 });
  };
  lease?.lost.addEventListener("abort", onLeaseLost);

  try {
    binding.rememberHead();
    writeReserve(folder);
    await writer.write({
      event: "run_opened",
      opening: view().opening + 1,
      owner: { pid: process.pid, host: hostname() },
      product,
      isolation,
      ...(options.overrides === undefined ? {} : { options: { ...options.overrides } }),
    });

    return await drive(runtime, fold);
  } finally {
    lease?.lost.removeEventListener("abort", onLeaseLost);
    await close();
    await closeGroup(childGroup);
  }
}

function foldView(fold: Fold): RunView {
  const { state } = fold;
  invariant(state.status !== "unborn", "a journal begins with its draft");
  return state;
}

/** Writes a file that is deleted when the disk is full, so that the pause can be written. H2 */
function writeReserve(folder: string): void {
  try {
    writeFileSync(join(folder, reserveFile), Buffer.alloc(reserveBytes), { mode: 0o600 });
  } catch {
    // If the disk is too full for the reserve, the journal itself reports it.
  }
}

const workBytesMin = 4 << 20;

function hasRoomToWork(folder: string): boolean {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize >= workBytesMin;
}

/**
 * Reopens the journal, writes the pause, and returns the run's state; null if the system refuses
 * even that.
 */
async function pauseForFailure(
  { context, paths, folder }: RunLocation,
  { code, message }: SystemFailure,
): Promise<string | null> {
  if (code === "disk_full") rmSync(join(folder, reserveFile), { force: true });
  try {
    const { journal, fold } = await openFoldedJournal(
      context,
      folder,
      getRedaction(context, paths.root).redactor,
    );

    try {
      if (code === "disk_full") await freeForFullDisk(folder, () => hasRoomToWork(folder));
      if (foldView(fold).status === "running") {
        const change = { from_state: "running", to_state: "paused" } as const;
        const event = {
          event: "run_paused",
          actor: "system",
          reason_code: code,
          detail: message,
          ...change,
        } as const;
        for (const entry of await journal.append([event])) {
          fold.apply(entry);
          openNotices(context, paths, folder)(entry, foldView(fold));
        }
      }

      return foldView(fold).status;
    } finally {
      await journal.close();
    }
  } catch (error) {
    if (classifySystemError(error) === null) throw error;
    return null; // the pause could not be written; everything acknowledged before is in the journal
  }
}
