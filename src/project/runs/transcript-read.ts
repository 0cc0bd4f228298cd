// transcript-read: reads the transcripts of a run and of its child runs from its folder. Unreadable
// lines are skipped.

import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
} from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { compareText } from "../../kit/compare-text.ts";
import { TranscriptLine, type TurnTranscript } from "../../contracts/transcript.ts";
import { parseTurns } from "../../views/transcript.ts";
import { transcriptsFolder, turnBytesMax } from "./transcript-write.ts";

const childrenFolder = "children";
/** The size limit of a turn, and the lines that exceed it. */
const fileBytesMax = turnBytesMax + 1_048_576;

/** Every turn that left a transcript, oldest first. */
export function readTranscripts(runFolder: string): readonly TurnTranscript[] {
  const ownTurns = readNames(join(runFolder, transcriptsFolder))
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => parseTurns(readLines(join(runFolder, transcriptsFolder, name))));

  const children = readNames(join(runFolder, childrenFolder)).flatMap((name) =>
    readTranscripts(join(runFolder, childrenFolder, name)),
  );
  return [...ownTurns, ...children].toSorted((a, b) => compareText(a.from, b.from));
}

const readNames = (folder: string): readonly string[] =>
  existsSync(folder) ? readdirSync(folder).toSorted() : [];

function readLines(path: string): readonly TranscriptLine[] {
  return readText(path)
    .split("\n")
    .flatMap((line) => parseLine(line) ?? []);
}

function parseLine(line: string): TranscriptLine | null {
  if (line === "") return null;
  try {
    const parsed = v.safeParse(TranscriptLine, JSON.parse(line));
    return parsed.success ? parsed.output : null;
  } catch {
    return null; // a crash cut it in two, or it is still being written
  }
}

/** Empty if there is no such file; a link is not followed, and nothing but a file is read. */
function readText(path: string): string {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return "";
  }

  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) return "";
    const bytes = Buffer.alloc(Math.min(stats.size, fileBytesMax));

    return bytes.toString("utf8", 0, readSync(fd, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(fd);
  }
}
