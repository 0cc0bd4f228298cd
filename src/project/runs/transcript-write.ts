// transcript-write: records what an agent says and does, as it happens, in one file per turn under
// the run's folder (`transcripts/`).
//
// Invariants:
//   W1. Text is redacted whole before it is written, and cut to size only after that.
//   W2. A turn's file and a run's files together stay within their bounds, but for the line that
//       crosses one. Lines beyond a turn's are counted in its end line; beyond the run's the oldest
//       files are deleted.
//   W3. A transcript that cannot be written ends nothing: the journal is the source of truth, and
//       it reports a full disk.

import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { LiveEvent } from "../../contracts/live-event.ts";
import type { TranscriptKept, TranscriptLine } from "../../contracts/transcript.ts";
import { patternCharsMax } from "../../kit/redact-patterns.ts";
import type { Redactor } from "../../kit/redact.ts";
import type { Agents, TurnRequest, TurnResult } from "../../ports/agent.ts";
import { toSlug } from "../../workspace/layers/folder-records.ts";
import { sha256 } from "../sha256.ts";

export const transcriptsFolder = "transcripts";
export const turnBytesMax = 4 * 1_048_576;
export const runBytesMax = 64 * 1_048_576;
const textCharsMax = 32 * 1024;
const promptCharsMax = 128 * 1024;
/** Streamed text is written in pieces of about this size, or when something else happens. */
const pieceChars = 2 * patternCharsMax;

type Parts = { readonly folder: string; readonly redactor: Redactor; readonly now: () => string };
type ToolEvent = Extract<LiveEvent, { signal: "tool" }>;

/** Wraps agents so that each turn leaves a transcript, which its result names. */
export function transcribeAgents(agents: Agents, parts: Parts): Agents {
  return {
    turn: async (request) => {
      const transcript = openTranscript(parts, request);
      if (transcript === null) return agents.turn(request);
      const onLiveEvent = (signal: LiveEvent): void => {
        transcript.onLiveEvent(signal);
        request.onLiveEvent(signal);
      };

      const result = await agents.turn({ ...request, onLiveEvent }).catch((error: unknown) => {
        transcript.end("crashed");
        throw error;
      });
      const transcriptKept = transcript.end(describeEnd(result));
      return transcriptKept === null ? result : { ...result, transcript: transcriptKept };
    },
    sweep: (run) => agents.sweep(run),
  };
}

function describeEnd(result: TurnResult): string {
  if (result.kind === "ended") return result.stop;
  return result.kind === "failed" ? result.reason : `cut off: ${result.by}`;
}

type Transcript = {
  readonly onLiveEvent: (signal: LiveEvent) => void;
  readonly end: (how: string) => TranscriptKept | null;
};

function openTranscript(
  { folder, redactor, now }: Parts,
  { attempt, cast, layer, prompt }: TurnRequest,
): Transcript | null {
  const file = `${toSlug(attempt)}.jsonl`;
  const lines = openLines(join(folder, transcriptsFolder), file);
  if (lines === null) return null;
  const clean = (text: string): string => cutMiddle(redactor.excerpt(text)); // W1
  const speech = openSpeech(redactor, (kind, text) =>
    lines.write({ kind, at: now(), text: cutMiddle(text) }),
  );

  /**
   * Paths are reported as the repository has them: the layer's location means nothing to a reader.
   */
  const withoutLayer = (text: string): string => text.replaceAll(`${layer}/`, "");
  const reported = new Map<string, string>();

  const writeTool = (signal: ToolEvent): void => {
    const call = signal.call ?? signal.title;
    const { title, kind, path, input } = signal;
    const content = JSON.stringify([title, kind, path, input]);
    if (reported.get(call) !== content) {
      reported.set(call, content);
      lines.write({
        kind: "tool",
        at: now(),
        call: clean(call),
        title: clean(withoutLayer(title)),
        ...(kind === undefined ? {} : { tool: clean(kind) }),
        ...(path === undefined ? {} : { path: clean(withoutLayer(path)) }),
        ...(input === undefined ? {} : { input: clean(input) }),
      });
    }

    if (signal.status === "pending" || signal.status === "in_progress") return;
    reported.delete(call);
    const { output } = signal;
    lines.write({
      kind: "result",
      at: now(),
      call: clean(call),
      status: clean(signal.status),
      ...(output === undefined ? {} : { output: clean(output) }),
    });
  };

  lines.write({
    kind: "turn",
    at: now(),
    attempt,
    agent: cast.agent,
    prompt: cutMiddle(redactor.excerpt(withoutLayer(prompt)), promptCharsMax),
  }); // W1

  return {
    onLiveEvent: (signal) => {
      if (signal.signal === "said" || signal.signal === "thought") {
        return speech.add(signal.signal, signal.text);
      }

      if (signal.signal !== "tool") return;
      speech.flush();
      writeTool(signal);
    },
    end: (how) => {
      speech.flush();
      return lines.end(
        { kind: "end", at: now(), how, left_out: lines.leftOut() },
        `${transcriptsFolder}/${file}`,
      );
    },
  };
}

type SpeechKind = "said" | "thought";

/** Buffers streamed text, so that a secret that comes in pieces is seen whole. */
function openSpeech(redactor: Redactor, write: (kind: SpeechKind, text: string) => void) {
  const textBefore: Record<SpeechKind, string> = { said: "", thought: "" };
  let kind: SpeechKind = "said";
  let pending = "";

  const writePending = (chars: number): void => {
    const text = pending.slice(0, chars);
    pending = pending.slice(chars);
    const redacted = redactor.next(textBefore[kind], text);
    textBefore[kind] = (textBefore[kind] + text).slice(-patternCharsMax);
    if (redacted !== "") write(kind, redacted);
  };
  const flush = (): void => writePending(pending.length);
  return {
    flush,
    add: (newKind: SpeechKind, text: string): void => {
      if (newKind !== kind) flush();
      kind = newKind;
      pending += text;
      if (pending.length < pieceChars) return;
      const border = pending.length - patternCharsMax;
      const openSpan = redactor
        .spansIn(pending)
        .find(({ start, end }) => start < border && end > border);
      writePending(openSpan?.start ?? border);
    },
  };
}

/** Opens a file of JSON lines that keeps within its limit; null if it cannot be opened. */
function openLines(folder: string, file: string) {
  let fd: number;
  let bytes: number;

  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    removeOldest(folder, runBytesMax - turnBytesMax); // W2

    const flags =
      constants.O_RDWR |
      constants.O_CREAT |
      constants.O_APPEND |
      constants.O_NOFOLLOW |
      constants.O_NONBLOCK;
    fd = openSync(join(folder, file), flags, 0o600);
    bytes = fstatSync(fd).size;
    if (bytes > 0 && !endsWithNewline(fd, bytes)) bytes += writeSync(fd, "\n"); // a crash cut the last line in two
  } catch {
    return null; // W3
  }

  let leftOut = 0;
  let isBroken = false;

  const append = (line: TranscriptLine): void => {
    if (isBroken) return;
    try {
      bytes += writeSync(fd, `${JSON.stringify(line)}\n`);
    } catch {
      isBroken = true; // W3
    }
  };

  return {
    leftOut: () => leftOut,
    write: (line: TranscriptLine): void => {
      if (line.kind !== "turn" && bytes >= turnBytesMax) leftOut += 1;
      else append(line);
    },
    end: (line: TranscriptLine, name: string): TranscriptKept | null => {
      append(line);
      closeSync(fd);
      if (isBroken) return null;
      try {
        const content = readFileSync(join(folder, file));
        return { file: name, bytes: content.length, sha256: sha256(content) };
      } catch {
        return null; // W3
      }
    },
  };
}

function endsWithNewline(fd: number, bytes: number): boolean {
  const lastByte = Buffer.alloc(1);
  return readSync(fd, lastByte, 0, 1, bytes - 1) === 1 && lastByte[0] === 10;
}

/** Removes the oldest files until the rest fit. */
function removeOldest(folder: string, bytesMax: number): void {
  const files = readdirSync(folder)
    .map((name) => ({
      path: join(folder, name),
      stats: statSync(join(folder, name), { throwIfNoEntry: false }),
    }))
    .flatMap(({ path, stats }) =>
      stats === undefined ? [] : [{ path, bytes: stats.size, changedMs: stats.mtimeMs }],
    )
    .toSorted((a, b) => a.changedMs - b.changedMs);
  let sum = files.reduce((bytes, file) => bytes + file.bytes, 0);

  for (const { path, bytes } of files) {
    if (sum <= bytesMax) return;
    rmSync(path, { force: true });
    sum -= bytes;
  }
}

/** Cuts the middle out of a text that is too long to keep. */
function cutMiddle(text: string, charsMax = textCharsMax): string {
  if (text.length <= charsMax) return text;
  const half = Math.floor(charsMax / 2);
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters left out …]\n${text.slice(-half)}`;
}
