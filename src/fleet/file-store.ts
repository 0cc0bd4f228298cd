// file-store: keeps runs in folders of this machine, behind the same port as a shared store. Its
// lease is the kernel's lock on a folder, which lasts as long as the process.

import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { hasBlob, readBlob } from "../journal/blobs.ts";
import { JournalFailure } from "../journal/journal-failure.ts";
import { openJournal } from "../journal/file-journal.ts";
import { journalFile } from "../journal/journal.ts";
import { findOwner } from "../journal/owner.ts";
import { hasLine, readJournal } from "../journal/read.ts";
import type { Lease, RunStore, StoredRun } from "../ports/run-store.ts";
import { writeRequest } from "../project/requests/request-files.ts";
import { openRequestQueue } from "../project/requests/request-queue.ts";

/** `root`: the folder that holds one folder for each run. */
export function openFileStore(root: string): RunStore {
  const runFolderOf = (run: string): string => join(root, run);
  const listRunNames = (): readonly string[] =>
    existsSync(root)
      ? readdirSync(root).filter((name) => existsSync(join(root, name, journalFile)))
      : [];

  return {
    async open(run, _kind, { known, under: _under, ...options }) {
      mkdirSync(root, { recursive: true, mode: 0o700 });
      const opened = await openJournal(runFolderOf(run), { commit: "group", ...options });

      if (known !== undefined && !hasLine(runFolderOf(run), known)) {
        await opened.journal.close();
        throw new JournalFailure({
          kind: "store_lost_lines",
          detail: `line ${known.seq} of ${run} was acknowledged and is not there`,
        });
      }

      return { ...opened, lease: createLease(run, opened.journal.position.epoch + 1) }; // each opening adds one to the last line's epoch
    },
    read: async (run, startAt, onEntry) => readJournal(runFolderOf(run), { startAt, onEntry }).end,
    lines: (run, afterSeq) => readLinesAfter(join(runFolderOf(run), journalFile), afterSeq),
    readBlob: async (run, hash) => readBlob(runFolderOf(run), hash),
    hasBlob: async (run, hash) => hasBlob(runFolderOf(run), hash),
    runs: async () => listRunNames().map((run) => describeRun(run, runFolderOf(run))),
    send: async (run, request) => void (await writeRequest(runFolderOf(run), request)),
    requests: (run) => openRequestQueue(runFolderOf(run)),
    close: async () => undefined,
  };
}

async function* readLinesAfter(path: string, afterSeq: number): AsyncIterable<Uint8Array> {
  const file = await open(path);
  let seq = 0;
  for await (const line of file.readLines()) if (++seq > afterSeq) yield Buffer.from(line); // line n has the seq n
}

/** A lease that lasts as long as the process lives. */
const createLease = (run: string, epoch: number): Lease => ({
  run,
  epoch,
  isConfirmed: () => true,
  lost: new AbortController().signal,
});

function describeRun(run: string, folder: string): StoredRun {
  const { end } = readJournal(folder, { startAt: "start" });
  const owner = findOwner(folder);
  const holder = owner === null ? null : { worker: `${owner.host}-${owner.pid}`, ...owner };

  return {
    run,
    kind: run === "portfolio" ? "portfolio" : "run",
    seq: end.seq,
    epoch: end.epoch,
    holder,
    takeOvers: 0,
  };
}
