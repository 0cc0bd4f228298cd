// log-file: reads and writes the run_state.jsonl of a calibration cycle: one line an event,
// appended and synced before anything else happens.
//
// Invariants:
//   L1. Written lines never change. A line that a power cut left half is cut off, since it was
//       never acknowledged.
//   L2. Nothing is written or read through a link.

import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { CalibrationCycleEvent } from "../../contracts/quality/quality-run.ts";
import { redactEvent } from "../../kit/redact-value.ts";
import { readOwnFile } from "../../project/own-file.ts";
import { ensureFolderBelow, requireNoLink } from "../../project/own-folder.ts";
import { Refusal, refuse } from "../../project/respond.ts";
import { cycleNamePattern, cyclesFolder, logFile } from "../cycle/plan.ts";
import { type Cycle, foldLine, newCycle } from "../cycle/state.ts";

type Unstamped<Event> = Event extends { readonly ts: string } ? Omit<Event, "ts"> : never;
/** An event before it gets its time. */
export type NewEvent = Unstamped<CalibrationCycleEvent> & Readonly<Record<string, unknown>>;

export type CycleLog = {
  readonly cycle: Cycle;
  /**
   * Appends events and syncs them, several together. After a power cut the first of several may be
   * there without the rest.
   */
  readonly append: (...events: readonly NewEvent[]) => void;
  /** The cycle that these first events make, as it will be read from the file. */
  readonly preview: (...events: readonly NewEvent[]) => Cycle;
  readonly close: () => void;
};

export const cyclePath = (root: string, name: string): string => join(root, cyclesFolder, name);

/** Every cycle there is a log of, by name. */
export function listCycleNames(root: string): readonly string[] {
  requireNoLink(root, cyclesFolder); // L2
  try {
    return readdirSync(join(root, cyclesFolder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && cycleNamePattern.test(entry.name))
      .map(({ name }) => name)
      .filter((name) => {
        const log = join(cyclePath(root, name), logFile);
        return lstatSync(log, { throwIfNoEntry: false })?.isFile() === true && !isUnwritten(log);
      })
      .toSorted();
  } catch {
    return []; // no cycle was ever begun, or the folder cannot be read
  }
}

/** A cycle from its log; refused if a line cannot be read. */
export function readCycle(root: string, name: string): Cycle {
  requireNoLink(root, join(cyclesFolder, name)); // L2
  const text = readOwnFile(join(cyclePath(root, name), logFile));
  if (text === null) {
    return refuse("calibration_missing", {
      message: `There is no calibration cycle ${name} here.`,
      remediation: ["autopilot calibrate list"],
    });
  }

  const cycle = foldText(text, `${cyclesFolder}/${name}/${logFile}`);
  cycle.name = name; // its folder's, whatever the log says
  return cycle;
}

export type CycleList = {
  readonly cycles: readonly Cycle[];
  /**
   * Logs that cannot be read, with the reason. One that came with a repository blocks no one from
   * their own cycles.
   */
  readonly broken: readonly { readonly name: string; readonly why: string }[];
};

/** Every cycle here that can be read. */
export function readCycles(root: string): CycleList {
  const cycles: Cycle[] = [];
  const broken: { name: string; why: string }[] = [];

  for (const name of listCycleNames(root)) {
    try {
      cycles.push(readCycle(root, name));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      broken.push({ name, why: error.message });
    }
  }

  return { cycles, broken };
}

function foldText(text: string, file: string): Cycle {
  const cycle = newCycle();
  const completeLines = text.slice(0, text.lastIndexOf("\n") + 1); // L1
  completeLines.split("\n").forEach((line, index) => {
    const problem = line.trim() === "" ? null : foldLine(cycle, line);
    if (problem !== null) {
      refuse("file_invalid", {
        message: `${file}:${index + 1} ${problem}.`,
        remediation: [`autopilot validate "${file}"`],
      });
    }
  });

  return cycle;
}

/** Opens a cycle's log to go on with it; `isNew` refuses if there is one already. */
export function openLog(
  root: string,
  name: string,
  {
    isNew,
    now,
    redact,
  }: {
    readonly isNew: boolean;
    readonly now: () => string;
    readonly redact: (text: string) => string;
  },
): CycleLog {
  ensureFolderBelow(root, join(cyclesFolder, name), 0o755); // L2
  const path = join(cyclePath(root, name), logFile);
  const exclusive = isNew && !isUnwritten(path) ? constants.O_EXCL : 0;
  const flags =
    constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | exclusive;
  let fd: number;

  try {
    fd = openSync(path, flags, 0o644);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return refuseExisting(name);
  }

  const text = readFileSync(fd, "utf8"); // L2
  const end = Buffer.byteLength(text.slice(0, text.lastIndexOf("\n") + 1));
  if (end < fstatSync(fd).size) ftruncateSync(fd, end); // L1
  const cycle = foldText(text, `${cyclesFolder}/${name}/${logFile}`);
  const eventLine = (event: NewEvent): string =>
    JSON.stringify(redactEvent(redact, { event: event.event, ts: now(), ...event }));

  return {
    cycle,
    preview: (...events) =>
      foldText(events.map((event) => `${eventLine(event)}\n`).join(""), logFile),
    append: (...events) => {
      const lines = events.map(eventLine);
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
      for (let written = 0; written < bytes.length;) written += writeSync(fd, bytes, written); // a write may be short
      fdatasyncSync(fd);

      for (const line of lines) {
        const problem = foldLine(cycle, line);
        if (problem !== null) throw new Error(`a line of ours ${problem}`);
      }
    },
    close: () => closeSync(fd),
  };
}

/** Refuses a name that a cycle has already. */
export function requireNewCycle(root: string, name: string): void {
  const path = join(cyclePath(root, name), logFile);
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined && !isUnwritten(path)) {
    refuseExisting(name);
  }
}

const refuseExisting = (name: string): never =>
  refuse("calibration_input_invalid", {
    message: `There is a calibration cycle ${name} already.`,
    remediation: [
      `autopilot calibrate resume ${name} goes on with it; another --name begins a new one`,
    ],
  });

/**
 * Whether a log has no complete line: its writer was killed before the first, and no cycle has
 * begun.
 */
function isUnwritten(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isFile() === true && readOwnFile(path)?.includes("\n") === false;
}
