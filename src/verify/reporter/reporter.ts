// reporter: opens a channel from the test runners of one command to us, separate from its output:
// programs that the runners load (by environment variables of their languages), and a named pipe
// that those programs write to.
//
// Invariants:
//   C1. Everything is in a folder of this one command, with random names; only the pipe can be
//       written to. A line that was written to it cannot be withdrawn. Lines that others read
//       before us are detected: they are numbered and sealed (sealed-lines.ts).
//   C2. It never keeps a command from running: without a pipe, or if nothing arrives, there is no
//       record.
//   C3. When it returns, all that was written before the command ended has been read, within
//       bounds.

import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { Socket } from "node:net";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import type { Env } from "../check-environment.ts";
import { buildNodePrograms } from "./node-programs.ts";
import { buildPythonProgram } from "./python-program.ts";
import { openRecord, type RecordReader } from "./test-record.ts";
import { openSealedLines, type SealedLines } from "./sealed-lines.ts";

export type Reporter = {
  /** What the command must be able to read, and the one file in it that it may write to. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  /** The environment with the variables by which test runners load our programs. */
  readonly environment: (env: Env) => Env;
  /** To be called when the command has ended. */
  readonly close: () => Promise<RecordReader>;
};

const bytesMax = 64 << 20;
const lineCharsMax = 8_000;
/** How long the last lines are waited for when the command has ended. */
const drainMs = 2_000;
/** How long a full pipe is waited for before the end mark is written again. */
const retryMs = 5;

/** Null if a channel is impossible here. `folders`: paths of the folder the command runs in. */
export async function openReporter(
  scratch: string,
  folders: readonly string[],
): Promise<Reporter | null> {
  const folder = join(scratch, randomName());
  if (/[\s:]/.test(folder)) return null; // NODE_OPTIONS is split at spaces, PYTHONPATH at colons

  const channel = {
    folder,
    pipe: join(folder, randomName()),
    nonce: randomBytes(12).toString("hex"),
    key: randomBytes(16).toString("hex"),
  };

  try {
    await mkdir(join(folder, "py"), { recursive: true, mode: 0o700 });
    const files = {
      ...buildNodePrograms(channel),
      "py/sitecustomize.py": buildPythonProgram(channel),
    };
    await Promise.all(
      Object.entries(files).map(([name, text]) =>
        writeFile(join(folder, name), text, { mode: 0o600 }),
      ),
    );

    await createPipe(channel.pipe);
    const record = openRecord(channel.nonce, folders);
    const sealedLines = openSealedLines(channel, record);
    const stopReading = readPipe(channel.pipe, sealedLines);

    return {
      readable: [folder],
      writable: [channel.pipe],
      environment: (env) => ({
        ...env,
        NODE_OPTIONS: [
          env["NODE_OPTIONS"] ?? "",
          `--require=${folder}/a.cjs --test-reporter=${folder}/t.mjs`,
        ]
          .join(" ")
          .trim(),
        PYTHONPATH: [`${folder}/py`, env["PYTHONPATH"] ?? ""]
          .filter((part) => part !== "")
          .join(":"),
      }),
      close: async () => {
        await stopReading();
        sealedLines.end();
        return record;
      },
    };
  } catch {
    return null; // C2
  }
}

const randomName = (): string => randomBytes(5).toString("hex");

function createPipe(path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile("mkfifo", ["-m", "600", path], (error) =>
      error === null ? resolve() : reject(error),
    );
  });
}

/**
 * Reads the pipe until the returned function is called, and then what was written up to that
 * moment.
 */
function readPipe(pipe: string, sealedLines: SealedLines): () => Promise<void> {
  const flags = constants.O_RDWR | constants.O_NONBLOCK; // with a writing end of our own, the pipe does not end when a writer closes it
  const endMark = `\t${randomName()}`;
  const socket = new Socket({ fd: openSync(pipe, flags), readable: true, writable: false });
  const decoder = new StringDecoder("utf8");
  let [unfinished, bytes, isEnded] = ["", 0, false];
  let onEnd = (): void => undefined;
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    const lines = (unfinished + decoder.write(chunk)).split("\n");
    unfinished = (lines.pop() ?? "").slice(-lineCharsMax);

    for (const line of lines) {
      if (line.endsWith(endMark)) isEnded = true;
      else if (!isEnded) sealedLines.addLine(line.slice(0, lineCharsMax), bytes > bytesMax);
    }

    if (isEnded) onEnd();
  });

  socket.on("error", () => onEnd());
  return async () => {
    await new Promise<void>((resolve) => {
      const timeout = setTimeout(() => onEnd(), drainMs);
      let retry: NodeJS.Timeout | undefined;
      onEnd = () => {
        clearTimeout(timeout);
        clearTimeout(retry);
        resolve();
      };

      const writeMark = (): void => {
        const outcome = writeWithoutBlocking(pipe, `\n${endMark}\n`); // C3
        if (outcome === "full") retry = setTimeout(writeMark, retryMs);
        if (outcome === "gone") onEnd(); // the pipe was removed
      };
      writeMark();
    });

    socket.destroy();
  };
}

function writeWithoutBlocking(pipe: string, text: string): "written" | "full" | "gone" {
  try {
    const fd = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    try {
      writeSync(fd, text);
      return "written";
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EAGAIN" ? "full" : "gone";
  }
}
