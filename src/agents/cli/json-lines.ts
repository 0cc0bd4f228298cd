// json-lines: reads a command's output as JSON records, one per line, with the same limits as any
// agent's output.

import type { Readable } from "node:stream";
import { type JsonObject, asRecord } from "../turn/untrusted-json.ts";
import type { WireLimits } from "../turn/turn-limits.ts";
import { formatMib } from "../acp/wire.ts";
import { createLineSplitter } from "../process/line-splitter.ts";

export type JsonLines = {
  /** Resolves with a sentence when the command broke a limit. */
  readonly broken: Promise<string>;
  readonly ended: Promise<void>;
  readonly garbage: () => { readonly lines: number; readonly bytes: number };
};

/** Calls `onLine` with each record of the output; what isn't one is counted. */
export function openJsonLines(
  output: Readable,
  onLine: (line: JsonObject) => void,
  limits: WireLimits,
): JsonLines {
  const garbage = { lines: 0, bytes: 0 };
  let allBytes = 0;
  let reportBroken: (sentence: string) => void = () => undefined;
  const broken = new Promise<string>((resolve) => (reportBroken = resolve));

  const breakOff = (sentence: string): void => {
    lines.drop();
    output.destroy();
    reportBroken(sentence);
  };

  const lines = createLineSplitter(
    limits.lineBytesMax,
    (bytes) => {
      const line = parseRecord(bytes);
      if (line !== null) return onLine(line);
      garbage.lines += 1;
      garbage.bytes += bytes.length;

      if (garbage.bytes > limits.garbageBytesMax) {
        breakOff(
          `flooded its output: more than ${formatMib(limits.garbageBytesMax)} that is no event`,
        );
      }
    },
    () => breakOff(`printed a line longer than ${formatMib(limits.lineBytesMax)}`),
  );

  output.on("data", (chunk: Buffer) => {
    allBytes += chunk.length;
    if (allBytes > limits.allBytesMax) {
      return breakOff(`printed more than ${formatMib(limits.allBytesMax)} in one turn`);
    }

    lines.push(chunk);
  });

  const ended = new Promise<void>((resolve) => {
    output.once("end", () => {
      // The last line may lack its line feed.
      lines.push(Buffer.from("\n"));
      resolve();
    });

    output.once("close", () => resolve());
  });

  return { broken, ended, garbage: () => ({ ...garbage }) };
}

function parseRecord(bytes: Buffer): JsonObject | null {
  try {
    const line = asRecord(JSON.parse(bytes.toString("utf8")));
    return typeof line["type"] === "string" ? line : null;
  } catch {
    return null;
  }
}
