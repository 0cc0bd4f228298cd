// roadmap-traces: the trace files of phases on disk, and the store of observed agent activity.
//
// Invariants:
//   N1. Agents' live events are stored in the run's own folder, in order and beside the journal, so that regenerated files have them too.
//   N2. A trace file is appended to if it is what was generated; else it is regenerated.
//   N3. No trace of an earlier run stays beside this one's: it is moved to the run's folder.

import { appendFileSync, lstatSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import * as v from "valibot";
import { TraceSpan } from "../../../contracts/roadmap-reports.ts";
import { readOwnFile } from "../../../project/own-file.ts";
import { phaseFolder } from "../../../contracts/roadmap-places.ts";
import type { GeneratedFiles } from "../../contract/generated-files.ts";
import { appendToFile, readBounded, writeWholeFile } from "../../contract/whole-file.ts";

/** A span without a journal entry, and the entry it came after. */
const Kept = v.strictObject({ after: v.number(), span: TraceSpan });
export type Kept = v.InferOutput<typeof Kept>;

const storeFile = "spans.jsonl";
const storeBytesMax = 256 * 1024 * 1024;
const traceBytesMax = 256 * 1024 * 1024;
const keptAtOnce = 32;
const keptForMs = 2_000;

export type SpanStore = {
  readonly keep: (kept: Kept, atMs: number) => void;
  readonly flush: () => void;
  readonly all: () => readonly Kept[];
};

/** N1. A few at a time: what a crash takes of them is little, and no turn waits for a disk. */
export function openSpanStore(folder: string): SpanStore {
  const path = join(folder, storeFile);
  let waiting: string[] = [];
  let sinceMs = 0;
  const flush = (): void => {
    if (waiting.length === 0) return;
    appendFileSync(path, waiting.join(""), { mode: 0o600 });
    waiting = [];
  };
  return {
    keep(kept, atMs) {
      if (waiting.length === 0) sinceMs = atMs;
      waiting.push(`${JSON.stringify(kept)}\n`);
      if (waiting.length >= keptAtOnce || atMs - sinceMs >= keptForMs) flush();
    },
    flush,
    all() {
      flush();
      return storedIn(path);
    },
  };
}

/** A line that a crash cut in two is passed over. */
function storedIn(path: string): readonly Kept[] {
  return (readOwnFile(path, storeBytesMax) ?? "").split("\n").flatMap(keptIn);
}

function keptIn(line: string): readonly Kept[] {
  try {
    const read = v.safeParse(Kept, JSON.parse(line));
    return read.success ? [read.output] : [];
  } catch {
    return [];
  }
}

export type TraceFiles = {
  /** In the order in which they are to stand. */
  readonly add: (span: TraceSpan) => void;
  readonly draw: () => Promise<void>;
};

type Drawn = { lines: string[]; bytes: number; isKnown: boolean };

/** TRACE.jsonl and one file a step, below each phase's folder. Until the first drawing everything from the start is added. */
export function openTraceFiles(root: string, generatedFiles: GeneratedFiles): TraceFiles {
  const files = new Map<string, Drawn>();
  const cleared = new Set<string>();
  /** N3. Once per phase: an earlier run's traces of steps that this one has not reached. */
  const setStaleAside = async (): Promise<void> => {
    for (const folder of new Set([...files.keys()].map((path) => dirname(path)))) {
      if (cleared.has(folder)) continue;
      for (const name of readNames(join(root, folder)))
        if (name.endsWith("-trace.jsonl") && !files.has(`${folder}/${name}`)) await generatedFiles.claim(`${folder}/${name}`);
      cleared.add(folder);
    }
  };
  return {
    add(span) {
      const folder = phaseFolder(span.phase_id);
      if (folder === null) return;
      const names = span.step === "phase_runner" ? ["TRACE.jsonl"] : ["TRACE.jsonl", `${span.step}-trace.jsonl`];
      for (const name of names) {
        const path = `${folder}/${name}`;
        const file = files.get(path) ?? { lines: [], bytes: 0, isKnown: false };
        files.set(path, file);
        file.lines.push(`${JSON.stringify(span)}\n`);
      }
    },
    async draw() {
      await setStaleAside();
      for (const [path, file] of files) {
        if (file.lines.length === 0) continue;
        const taken = file.lines.length;
        const text = file.lines.join("");
        await generatedFiles.claim(path);
        const mayAdd = file.isKnown && isUntouched(root, path, file.bytes);
        await (mayAdd ? appendToFile(root, path, text) : drawWhole(root, path, file, text, generatedFiles));
        file.lines.splice(0, taken); // what came meanwhile, or could not be written, is drawn the next time
        file.bytes += Buffer.byteLength(text);
        file.isKnown = true;
      }
    },
  };
}

function readNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // nothing was drawn there yet
  }
}

const isUntouched = (root: string, path: string, bytes: number): boolean =>
  lstatSync(join(root, path), { throwIfNoEntry: false })?.size === bytes;

/** N2. The first time in a life the text is the whole; later it is what came since, and what is there goes before it. */
async function drawWhole(root: string, path: string, file: Drawn, text: string, generatedFiles: GeneratedFiles): Promise<void> {
  const there = await readBounded(root, path, traceBytesMax);
  const bytes = there.kind === "read" ? there.bytes : Buffer.alloc(0);
  if (file.isKnown) {
    // It was changed or deleted: the rest stays, and new lines follow on a new line.
    const gap = bytes.length === 0 || bytes.at(-1) === 10 ? "" : "\n";
    await writeWholeFile(root, path, Buffer.concat([bytes, Buffer.from(gap + text)]));
    file.bytes = bytes.length + gap.length;
    return;
  }
  const whole = Buffer.from(text);
  if (bytes.equals(whole)) return;
  if (!whole.subarray(0, bytes.length).equals(bytes)) await generatedFiles.aside(path); // lines that are not ours
  await writeWholeFile(root, path, text);
}
