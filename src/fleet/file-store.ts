// file-store: the store that every machine has: one folder a run. Its lease is the kernel's lock, which ends with its process: whoever appends
// under another lease (T3) has it still.

import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { hasBlob, readBlob } from "../journal/blobs.ts";
import { JournalFailure } from "../journal/failure.ts";
import { openJournal } from "../journal/file.ts";
import { journalFile } from "../journal/journal.ts";
import { findOwner } from "../journal/owner.ts";
import { hasLine, readJournal } from "../journal/read.ts";
import type { Lease, RunStore, StoredRun } from "../ports/run-store.ts";
import { writeRequest } from "../project/requests/request-files.ts";
import { openRequestQueue } from "../project/requests/request-queue.ts";

export function openFileStore(root: string): RunStore {
  const folderOf = (run: string): string => join(root, run);
  const foldersIn = (): readonly string[] =>
    existsSync(root) ? readdirSync(root).filter((name) => existsSync(join(root, name, journalFile))) : [];
  return {
    async open(run, _kind, { known, under: _lives, ...options }) {
      mkdirSync(root, { recursive: true, mode: 0o700 });
      const opened = await openJournal(folderOf(run), { commit: "group", ...options });
      if (known !== undefined && !hasLine(folderOf(run), known)) {
        await opened.journal.close();
        throw new JournalFailure({ kind: "store_lost_lines", detail: `line ${known.seq} of ${run} was acknowledged and is not there` });
      }
      return { ...opened, lease: certain(run, opened.journal.position.epoch + 1) };
    },
    read: async (run, from, onEntry) => readJournal(folderOf(run), { from, onEntry }).end,
    lines: (run, afterSeq) => linesIn(join(folderOf(run), journalFile), afterSeq),
    readBlob: async (run, hash) => readBlob(folderOf(run), hash),
    hasBlob: async (run, hash) => hasBlob(folderOf(run), hash),
    runs: async () => foldersIn().map((run) => storedRun(run, folderOf(run))),
    send: async (run, request) => void (await writeRequest(folderOf(run), request)),
    requests: (run) => openRequestQueue(folderOf(run)),
    close: async () => undefined,
  };
}

async function* linesIn(path: string, afterSeq: number): AsyncIterable<Uint8Array> {
  const file = await open(path);
  let seq = 0;
  for await (const line of file.readLines()) if (++seq > afterSeq) yield Buffer.from(line); // a line is its number, and text
}

/** Had as long as the process lives. */
const certain = (run: string, epoch: number): Lease => ({ run, epoch, isConfirmed: () => true, lost: new AbortController().signal });

function storedRun(run: string, folder: string): StoredRun {
  const { end } = readJournal(folder, { from: "start" });
  const owner = findOwner(folder);
  const holder = owner === null ? null : { worker: `${owner.host}-${owner.pid}`, ...owner };
  return { run, kind: run === "portfolio" ? "portfolio" : "run", seq: end.seq, epoch: end.epoch, holder, takeOvers: 0 };
}
