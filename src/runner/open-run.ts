// open-run: opens a run: the lock, the journal, the fold; and drives it if asked.
//
// Invariants:
//   H0. A run that is not this user's is neither written to nor executed: each opening, a child's too, passes the ownership check.
//   H1. A process that writes to a run holds its lock; a second one is refused with the first one's pid.
//   H2. An external failure pauses the run, if the pause can still be written; for a full disk the reserve is given up.
//   H3. After a failed sync this process writes nothing more: only a new one may find out what is on disk.

import { randomUUID } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Draft, Entry, EventOf } from "../contracts/event.ts";
import { weakerLevel } from "../contracts/isolation-order.ts";
import type { Fold } from "../core/fold.ts";
import type { RunView } from "../core/state.ts";
import { drive } from "../engine/drive.ts";
import type { Group } from "../journal/group.ts";
import { storeAddress } from "../fleet/address.ts";
import { markShared, sharedMark } from "../fleet/shared-mark.ts";
import { invariant } from "../kit/invariant.ts";
import { writePlaybookFiles } from "../playbooks/registry/open-playbook.ts";
import { sendRequest } from "../project/inbox/inbox.ts";
import { type ProjectPaths, runFolder } from "../project/runs/project-paths.ts";
import { actorOf, type CommandContext } from "../project/command-context.ts";
import { product } from "../project/runs/product.ts";
import { refuseJournal } from "../project/runs/read-run.ts";
import { redactDraft, redactedJournal } from "../project/secrets/redacted-journal.ts";
import { redactionOf } from "../project/secrets/redaction-of.ts";
import { refuse } from "../project/reply.ts";
import { bindRun, type BindingRecord } from "../project/runs/run-binding.ts";
import { requireAsAcknowledged, requireOwnRun } from "../project/runs/require-own-run.ts";
import { openStatusCache } from "./write-status-cache.ts";
import { systemClock } from "../project/runs/system-clock.ts";
import { type Trouble, classifySystemError } from "../project/system-errors.ts";
import { requireMayGrant } from "./may-grant.ts";
import { closeGroup, openFolded, openHubFor, readOpen, openSharedGroup } from "./open-journal.ts";
import { openNotices } from "./run-notices.ts";
import { openRuntime } from "./open-runtime.ts";

const snapshotEveryEvents = 10_000;
const snapshotAtEndEvents = 500;
const reserveBytes = 64 * 1024;
/** Failures of the journal itself, or of its ownership: a pause cannot be written. */
const neverPaused: readonly string[] = [
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

/** An open run. */
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

export function withRun<Value>(
  context: CommandContext,
  paths: ProjectPaths,
  run: string,
  work: (openRun: OpenRun) => Promise<Value>,
): Promise<Value> {
  return withRunIn(context, paths, runFolder(paths, run), run, work);
}

async function withRunIn<Value>(
  context: CommandContext,
  paths: ProjectPaths,
  folder: string,
  run: string,
  work: (openRun: OpenRun) => Promise<Value>,
  group: Group | null = null,
): Promise<Value> {
  try {
    return await holding(context, paths, folder, run, work, group);
  } catch (error) {
    const trouble = classifySystemError(error);
    if (trouble === null || neverPaused.includes(trouble.code)) return refuseJournal(error, run); // H3
    const state = await pauseFor(context, paths, folder, trouble); // H2
    return refuse(trouble.code, {
      run_id: run,
      message: trouble.message,
      remediation: [trouble.hint],
      ...(state === null ? {} : { state }),
    });
  }
}

async function holding<Value>(
  context: CommandContext,
  paths: ProjectPaths,
  folder: string,
  run: string,
  work: (openRun: OpenRun) => Promise<Value>,
  group: Group | null,
): Promise<Value> {
  let bound = await requireOwnRun(context, paths, folder, run); // H0
  const { journal, fold, lease } = await openFolded(context, folder, redactionOf(context, paths.root).redactor, group); // H1
  const view = (): RunView => foldView(fold);
  let hub: ReturnType<typeof openHubFor> | null = null;
  const sendCommit = async (commit: string): Promise<void> => {
    if (lease !== null) await (await (hub ??= openHubFor(context, paths, folder, lease)))?.send(commit);
  };
  const statusCache = openStatusCache({ folder, view, position: () => journal.position });
  let unsnapped = 0;
  const rebind = (said: Partial<Pick<BindingRecord, "isolation" | "head">>): void => {
    bound = { ...bound, ...said };
    bindRun(context.env, paths, folder, bound);
  };
  /** Once per opening and once at its end, never for each event. */
  const rememberHead = (): void => {
    const { seq, byte, prev } = journal.position;
    try {
      if (seq !== bound.head?.seq) rebind({ head: { seq, byte, prev } });
    } catch {
      // The ownership record may lag behind the journal.
    }
  };
  const append = async (events: readonly Draft[]): Promise<readonly Entry[]> => {
    if (unsnapped >= snapshotEveryEvents) unsnapped = (await journal.snapshot(view())) ? 0 : unsnapped;
    unsnapped += events.length;
    for (const event of events) requireMayGrant(context, event);
    for (const event of events) if (event.event === "changes_applied" || event.event === "tests_put_back") await sendCommit(event.commit); // before the line that names it
    const entries = await journal.append(events.map((event) => ({ actor: "system", reason_code: "ok", ...event })));
    statusCache.note();
    return entries;
  };
  const write = async (event: Draft): Promise<void> => {
    for (const entry of await append([event])) fold.apply(entry);
  };
  const driveOn = async (options: DriveOptions = {}): Promise<string> => {
    // Child runs share this process, so their journals share a sync; the group is opened with the first of them.
    let own: Promise<Group> | null = null;
    const shared = (): Promise<Group> => (group === null ? (own ??= openSharedGroup(folder)) : Promise.resolve(group));
    hasWritten = false; // only a driving process writes the files
    const { runtime, isolation, close } = await openRuntime({
      context,
      paths,
      folder,
      view,
      recorder: { append, putBlob: (bytes) => journal.putBlob(bytes), readBlob: (hash) => journal.readBlob(hash) },
      readBlob: (hash) => journal.readBlob(hash),
      watch: options.watch ?? (() => undefined),
      cancel: options.cancel ?? null,
      isHeld: () => lease === null || lease.isConfirmed(),
      begin: (childFolder, event, blobs) => beginRun(context, paths, childFolder, event, blobs, lease !== null),
      hold: async (childFolder, child, childWork) => withRunIn(context, paths, childFolder, child, childWork, await shared()),
    });
    // A journal that accepts nothing more ends the loop at its next line; this request makes sure that there is one at once.
    const onLost = (): void => {
      const pause = { event: "control_requested", control: "pause", now: true, request: randomUUID(), actor: "system" } as const;
      void sendRequest(folder, pause, { waitMs: 0 });
    };
    lease?.lost.addEventListener("abort", onLost);
    try {
      rememberHead();
      keepReserve(folder);
      const overrides = options.overrides === undefined ? {} : { options: { ...options.overrides } };
      await write({
        event: "run_opened",
        opening: view().opening + 1,
        owner: { pid: process.pid, host: hostname() },
        product,
        isolation,
        ...overrides,
      });
      return await drive(runtime, fold);
    } finally {
      lease?.lost.removeEventListener("abort", onLost);
      await close();
      await closeGroup(own);
    }
  };
  let hasWritten = false;
  const note = async (event: Draft): Promise<void> => {
    hasWritten = true;
    // The policy its user adopts may be weaker than the acknowledged one; the record is updated before the journal.
    if (event.event === "policy_changed" && event.adopted && event.isolation !== undefined)
      rebind({ isolation: weakerLevel(bound.isolation, event.isolation) });
    await write(event);
  };
  try {
    requireAsAcknowledged(view(), bound, folder); // H0
    const value = await work({ paths, run, folder, view, append: note, putBlob: (text) => journal.putBlob(text), drive: driveOn });
    if (unsnapped >= snapshotAtEndEvents) await journal.snapshot(view());
    if (hasWritten) await writePlaybookFiles({ context, paths, folder, view });
    await statusCache.close();
    if (group === null) rememberHead(); // lines that only the shared log has on disk must not be visible yet
    return value;
  } finally {
    await journal.close();
  }
}

/** A new run's journal, with its first event and the blobs that event names. */
export async function beginRun(
  context: CommandContext,
  paths: ProjectPaths,
  folder: string,
  event: EventOf<"run_drafted">,
  blobs: readonly string[],
  isShared = storeAddress(context.env) !== null,
): Promise<void> {
  const { redactor } = redactionOf(context, paths.root);
  const drafted = redactDraft(redactor, event, blobs);
  if (isShared && sharedMark(folder) === null) markShared(folder);
  const opened = await readOpen(context, folder, { commit: "sync", now: () => systemClock.now(), activeMs: () => 0 });
  const journal = redactedJournal(opened.journal, redactor);
  try {
    if (journal.position.seq > 0)
      return bindRun(context.env, paths, folder, { run: event.run_id, ack: drafted.event.ack, isolation: event.isolation }); // a child that another machine started
    // Before its first line: every existing run has its record.
    bindRun(context.env, paths, folder, { run: event.run_id, ack: drafted.event.ack, isolation: event.isolation });
    for (const text of drafted.blobs) await journal.putBlob(text);
    await journal.append([drafted.event]);
  } finally {
    await journal.close();
  }
}

/** Writes the first events of a run's new user into its journal. Nothing is driven, and the run cannot be opened until it is bound. */
export async function appendAdoption(
  context: CommandContext,
  paths: ProjectPaths,
  folder: string,
  events: readonly Draft[],
  blobs: readonly string[],
): Promise<void> {
  requireMayGrant(context, { event: "run_adopted", actor: actorOf(context) });
  const { journal } = await openFolded(context, folder, redactionOf(context, paths.root).redactor);
  try {
    for (const text of blobs) await journal.putBlob(text);
    await journal.append(events.map((event) => ({ actor: actorOf(context), reason_code: "run_adopted", ...event })));
  } finally {
    await journal.close();
  }
}

function foldView(fold: Fold): RunView {
  const { state } = fold;
  invariant(state.status !== "unborn", "a journal begins with its draft");
  return state;
}

function keepReserve(folder: string): void {
  try {
    writeFileSync(join(folder, "reserve"), Buffer.alloc(reserveBytes), { mode: 0o600 });
  } catch {
    // If the disk is too full for the reserve, the journal itself reports it.
  }
}

/** Reopens the journal, writes the pause, and returns the run's state; null if there is no room even for that. */
async function pauseFor(context: CommandContext, paths: ProjectPaths, folder: string, { code, message }: Trouble): Promise<string | null> {
  if (code === "disk_full") rmSync(join(folder, "reserve"), { force: true });
  try {
    const { journal, fold } = await openFolded(context, folder, redactionOf(context, paths.root).redactor);
    try {
      if (foldView(fold).status === "running") {
        const change = { from_state: "running", to_state: "paused" } as const;
        const event = { event: "run_paused", actor: "system", reason_code: code, detail: message, ...change } as const;
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
    return null; // the journal ends where it was acknowledged
  }
}
