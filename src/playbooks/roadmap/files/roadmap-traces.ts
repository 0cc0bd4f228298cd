// roadmap-traces: writes the trace files of phases, and stores spans of live agent activity.
//
// Invariants:
//   N1. Spans of live events are stored in the run's own folder, since they are not in the journal,
//       so that regenerated files have them too.
//   N2. A trace file is appended to if it has the size it was left with; else it is rewritten, and
//       what others changed in it is kept.
//   N3. Traces of an earlier run are moved to this run's folder.

import { appendFileSync, lstatSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import * as v from "valibot";
import { TraceSpan } from "../../../contracts/roadmap-reports.ts";
import { readOwnFile } from "../../../project/own-file.ts";
import { phaseFolder } from "../../../contracts/roadmap-places.ts";
import type { GeneratedFiles } from "../../contract/generated-files.ts";
import { appendToFile, readBounded, writeWholeFile } from "../../contract/whole-file.ts";

/** A span without a journal entry, and the entry it came after. */
const StoredSpan = v.strictObject({ after: v.number(), span: TraceSpan });
export type StoredSpan = v.InferOutput<typeof StoredSpan>;

const storeFile = "spans.jsonl";
const storeBytesMax = 256 * 1024 * 1024;
const traceBytesMax = 256 * 1024 * 1024;
const spansPerFlush = 32;
const flushAfterMs = 2_000;
const newline = 0x0a;

export type SpanStore = {
  readonly add: (span: StoredSpan, nowMs: number) => void;
  readonly flush: () => void;
  readonly load: () => readonly StoredSpan[];
};

/** N1. Writes in small batches: a crash loses few spans, and a turn seldom waits for the disk. */
export function openSpanStore(folder: string): SpanStore {
  const path = join(folder, storeFile);
  let buffered: string[] = [];
  let bufferedSinceMs = 0;

  const flush = (): void => {
    if (buffered.length === 0) return;
    appendFileSync(path, buffered.join(""), { mode: 0o600 });
    buffered = [];
  };

  return {
    add(storedSpan, nowMs) {
      if (buffered.length === 0) bufferedSinceMs = nowMs;
      buffered.push(`${JSON.stringify(storedSpan)}\n`);
      if (buffered.length >= spansPerFlush || nowMs - bufferedSinceMs >= flushAfterMs) flush();
    },
    flush,
    load() {
      flush();
      return loadSpans(path);
    },
  };
}

/**
 * A line that a crash left incomplete is skipped; nothing is loaded of a store that is too large.
 */
function loadSpans(path: string): readonly StoredSpan[] {
  return (readOwnFile(path, storeBytesMax) ?? "").split("\n").flatMap(parseSpan);
}

function parseSpan(line: string): readonly StoredSpan[] {
  try {
    const parsed = v.safeParse(StoredSpan, JSON.parse(line));
    return parsed.success ? [parsed.output] : [];
  } catch {
    return [];
  }
}

export type TraceFiles = {
  /** To be called in the order of the file. */
  readonly add: (span: TraceSpan) => void;
  readonly write: () => Promise<void>;
};

/**
 * `lines` are still to be written; `bytes` is the size after the last write; `isOurs`: this process
 * has written it.
 */
type TraceFile = { lines: string[]; bytes: number; isOurs: boolean };

/**
 * TRACE.jsonl and one file per step, in each phase's folder. Before the first write, all spans of
 * the run must be added.
 */
export function openTraceFiles(root: string, generatedFiles: GeneratedFiles): TraceFiles {
  const files = new Map<string, TraceFile>();
  const cleanFolders = new Set<string>();

  /**
   * N3. Once per phase, moves away an earlier run's traces of steps that this run has not reached.
   */
  const moveStaleAside = async (): Promise<void> => {
    for (const folder of new Set([...files.keys()].map((path) => dirname(path)))) {
      if (cleanFolders.has(folder)) continue;
      for (const name of listNames(join(root, folder))) {
        if (name.endsWith("-trace.jsonl") && !files.has(`${folder}/${name}`)) {
          await generatedFiles.claim(`${folder}/${name}`);
        }
      }

      cleanFolders.add(folder);
    }
  };

  return {
    add(span) {
      const folder = phaseFolder(span.phase_id);
      if (folder === null) return;
      const names =
        span.step === "phase_runner"
          ? ["TRACE.jsonl"]
          : ["TRACE.jsonl", `${span.step}-trace.jsonl`];
      for (const name of names) {
        const path = `${folder}/${name}`;
        const file = files.get(path) ?? { lines: [], bytes: 0, isOurs: false };
        files.set(path, file);
        file.lines.push(`${JSON.stringify(span)}\n`);
      }
    },
    async write() {
      await moveStaleAside();
      for (const [path, file] of files) {
        if (file.lines.length === 0) continue;
        const lineCount = file.lines.length;
        const text = file.lines.join("");
        await generatedFiles.claim(path);
        const mayAppend = file.isOurs && isUntouched(root, path, file.bytes);
        if (mayAppend) await appendToFile(root, path, text);
        else await rewrite({ root, path, file, text, generatedFiles });

        file.lines.splice(0, lineCount); // newer lines, and lines that could not be written, stay for the next write
        file.bytes += Buffer.byteLength(text);
        file.isOurs = true;
      }
    },
  };
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // nothing was written there yet
  }
}

const isUntouched = (root: string, path: string, bytes: number): boolean =>
  lstatSync(join(root, path), { throwIfNoEntry: false })?.size === bytes;

type TraceRewrite = {
  readonly root: string;
  readonly path: string;
  readonly file: TraceFile;
  readonly text: string;
  readonly generatedFiles: GeneratedFiles;
};

/**
 * N2. In the first write of a process, `text` is the whole file; later it is only what was added.
 */
async function rewrite({ root, path, file, text, generatedFiles }: TraceRewrite): Promise<void> {
  const existing = await readBounded(root, path, traceBytesMax);
  const bytes = existing.kind === "read" ? existing.bytes : Buffer.alloc(0);

  if (file.isOurs) {
    // Somebody changed or deleted the file: what is left stays, and the new lines follow.
    const separator = bytes.length === 0 || bytes.at(-1) === newline ? "" : "\n";
    await writeWholeFile(root, path, Buffer.concat([bytes, Buffer.from(separator + text)]));
    file.bytes = bytes.length + separator.length;

    return;
  }

  const expected = Buffer.from(text);
  if (bytes.equals(expected)) return;
  if (!expected.subarray(0, bytes.length).equals(bytes)) await generatedFiles.moveAside(path); // lines that are not ours
  await writeWholeFile(root, path, text);
}
