// json-lines: a command's output as records, one a line, with the same limits as any agent's output.

import type { Readable } from "node:stream";
import { type JsonObject, asRecord } from "../acp/untrusted-json.ts";
import { mib, type WireLimits } from "../acp/wire.ts";
import { createLineSplitter } from "../process/line-splitter.ts";

export type Lines = {
  readonly broken: Promise<string>;
  readonly ended: Promise<void>;
  readonly garbage: () => { readonly lines: number; readonly bytes: number };
};

export function openLines(from: Readable, onLine: (line: JsonObject) => void, limits: WireLimits): Lines {
  const garbage = { lines: 0, bytes: 0 };
  let allBytes = 0;
  let fail: (sentence: string) => void = () => undefined;
  const broken = new Promise<string>((resolve) => (fail = resolve));
  const breakOff = (sentence: string): void => {
    lines.drop();
    from.destroy();
    fail(sentence);
  };
  const lines = createLineSplitter(
    limits.lineBytesMax,
    (bytes) => {
      const line = parseRecord(bytes);
      if (line !== null) return onLine(line);
      garbage.lines += 1;
      garbage.bytes += bytes.length;
      if (garbage.bytes > limits.garbageBytesMax) breakOff(`flooded its output: more than ${mib(limits.garbageBytesMax)} that is no event`);
    },
    () => breakOff(`printed a line longer than ${mib(limits.lineBytesMax)}`),
  );
  from.on("data", (chunk: Buffer) => {
    allBytes += chunk.length;
    if (allBytes > limits.allBytesMax) return breakOff(`printed more than ${mib(limits.allBytesMax)} in one turn`);
    lines.push(chunk);
  });
  const ended = new Promise<void>((resolve) => {
    from.once("end", () => {
      // The last line may lack its end.
      lines.push(Buffer.from("\n"));
      resolve();
    });
    from.once("close", () => resolve());
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
