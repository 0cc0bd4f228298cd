// notice-queue: keeps pending notices, one file each in the user's state folder, and the journal of
// deliveries.
//
// Invariants:
//   Q1. A notice exists whole or not at all, and once for each hook: its file's name follows from
//       its id.
//   Q2. A settled notice leaves a mark, so that reading a run again notifies no one twice.
//   Q3. No secret, and no part of a receiver's answer, is written here.

import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { noticeKinds } from "../../contracts/config.ts";
import type { Notice } from "../../views/outbound/notices.ts";
import { readOwnFile } from "../own-file.ts";
import { stateFolder } from "../runs/run-binding.ts";
import { sha256 } from "../sha256.ts";

type Env = Readonly<Record<string, string | undefined>>;

const queuedMax = 2_000;
const itemBytesMax = 64 * 1024;
const journalBytesMax = 4 * 1024 * 1024;
const settledKeptMs = 30 * 24 * 3_600_000;

const text = v.string();
const NoticeSchema = v.strictObject({
  id: text,
  kind: v.picklist(noticeKinds),
  run: text,
  project: text,
  at: text,
  reason: text,
  title: text,
  text,
  next: text,
});
const QueueItem = v.strictObject({
  hook: text,
  notice: NoticeSchema,
  queuedAtMs: v.number(),
  tries: v.number(),
  notBeforeMs: v.number(),
});
export type QueueItem = v.InferOutput<typeof QueueItem>;

/** One line of the journal of deliveries: what was sent where and when, and the result. */
export const Delivery = v.strictObject({
  at: text,
  hook: text,
  ids: v.array(text),
  title: text,
  kind: v.optional(v.picklist(noticeKinds)),
  try: v.number(),
  outcome: v.picklist(["sent", "failed", "refused", "given_up"]),
  /** `HTTP 500`, `exit 1`, `no answer in 10 s`. */
  detail: text,
  next_at: v.optional(text),
});
export type Delivery = v.InferOutput<typeof Delivery>;

export type NoticeQueue = {
  readonly folder: string;
  /**
   * False: it is queued or settled already. Throws if the queue is full, so that the notice isn't
   * lost in silence.
   */
  readonly add: (notice: Notice, hook: string, nowMs: number) => boolean;
  readonly waiting: () => readonly QueueItem[];
  /** Puts a failed item back, not to be sent before a time. */
  readonly later: (item: QueueItem, notBeforeMs: number) => void;
  /** Takes an item out: sent, refused or given up. */
  readonly settle: (item: QueueItem) => void;
  /** Removes notices that are no longer needed: the question was answered. */
  readonly withdraw: (isOver: (notice: Notice) => boolean) => void;
  /** Adds a line to the journal of deliveries. */
  readonly note: (delivery: Delivery) => void;
  readonly deliveries: () => readonly Delivery[];
};

export function openNoticeQueue(env: Env): NoticeQueue {
  const folder = join(stateFolder(env), "notify");
  const [queueFolder, settledFolder] = [join(folder, "queue"), join(folder, "settled")];
  const journal = join(folder, "deliveries.jsonl");
  const itemName = (hook: string, id: string): string => sha256(`${hook}\n${id}`).slice(0, 32); // Q1

  const write = (item: QueueItem): void => {
    mkdirSync(queueFolder, { recursive: true, mode: 0o700 });
    const path = join(queueFolder, `${itemName(item.hook, item.notice.id)}.json`);
    writeFileSync(`${path}.${process.pid}.new`, JSON.stringify(item), { mode: 0o600 });
    renameSync(`${path}.${process.pid}.new`, path);
  };

  const waiting = (): readonly QueueItem[] =>
    readNames(queueFolder)
      .filter((name) => name.endsWith(".json"))
      .flatMap((name) => readItem(join(queueFolder, name)));

  const settle = (item: QueueItem): void => {
    mkdirSync(settledFolder, { recursive: true, mode: 0o700 });
    const name = itemName(item.hook, item.notice.id);
    writeFileSync(join(settledFolder, name), "", { mode: 0o600 });
    rmSync(join(queueFolder, `${name}.json`), { force: true });
    deleteOldMarks(settledFolder);
  };

  return {
    folder,
    add: (notice, hook, nowMs) => {
      const name = itemName(hook, notice.id);
      // Q2. A partial file that a crash left counts as absent.
      if (
        existsSync(join(settledFolder, name)) ||
        readItem(join(queueFolder, `${name}.json`)).length > 0
      ) {
        return false;
      }

      if (readNames(queueFolder).length >= queuedMax) {
        throw new Error(`${queuedMax} notices wait already; autopilot notify send delivers them`);
      }

      write({ hook, notice: { ...notice }, queuedAtMs: nowMs, tries: 0, notBeforeMs: 0 });
      return true;
    },
    waiting,
    later: (item, notBeforeMs) => {
      if (!existsSync(join(settledFolder, itemName(item.hook, item.notice.id)))) {
        write({ ...item, tries: item.tries + 1, notBeforeMs });
      } // not withdrawn meanwhile
    },
    settle,
    withdraw: (isOver) =>
      waiting()
        .filter(({ notice }) => isOver(notice))
        .forEach(settle),
    note: (delivery) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      if ((statSync(journal, { throwIfNoEntry: false })?.size ?? 0) > journalBytesMax) {
        renameSync(journal, `${journal}.before`);
      }

      appendFileSync(journal, `${JSON.stringify(delivery)}\n`, { mode: 0o600 });
    },
    deliveries: () =>
      (readOwnFile(journal, 2 * journalBytesMax) ?? "").split("\n").flatMap((line) => {
        const parsed = line === "" ? null : v.safeParse(Delivery, parseJson(line));
        return parsed?.success === true ? [parsed.output] : [];
      }),
  };
}

function readNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // nothing was ever put there
  }
}

/** Unreadable files are skipped: of a newer version, or foreign ones. */
function readItem(path: string): readonly QueueItem[] {
  const parsed = v.safeParse(QueueItem, parseJson(readOwnFile(path, itemBytesMax) ?? ""));
  return parsed.success ? [parsed.output] : [];
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return null;
  }
}

function deleteOldMarks(folder: string): void {
  const oldestMs = Date.now() - settledKeptMs;
  for (const name of readNames(folder)) {
    const path = join(folder, name);
    if (
      (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY) < oldestMs
    ) {
      rmSync(path, { force: true });
    }
  }
}
