// test-output: reads a command's output line by line as it is printed, and collects what it says about its tests, at any length.
//
// Invariants:
//   E1. Memory is bounded: the first characters of a line, and what all lines say about tests.
//   E2. A line of one stream is not split by the other.

import type { TestTally } from "../contracts/evidence.ts";
import { type ReportedNames, openNames, together } from "./detect/names.ts";
import { openFailingLines } from "./failing-lines.ts";
import { openTally, talliesOf } from "./tally.ts";

export type TestOutput = { readonly readStdout: (chunk: Buffer) => void; readonly readStderr: (chunk: Buffer) => void };
export type ReadOutput = {
  readonly tests: TestTally | null;
  readonly names: ReportedNames;
  /** The first lines that report a failure, as they were printed. */
  readonly failing: readonly string[];
};

const lineCharsMax = 2_000;
/** No runner reports a test in fewer characters, and floods are mostly made of such lines. */
const lineCharsMin = 6;
const escapes = /\u001b\[[0-9;]{0,20}[A-Za-z]/g;

/** `command` is read first: it may end with the first failure. `folder`: where it runs, which is removed from names. */
export function openTestOutput(
  command: string,
  folder: string,
): TestOutput & { readonly lastLine: () => string; readonly take: (isOfTests: (path: string) => boolean) => ReadOutput } {
  const lines = openFailingLines();
  const streams = [openStream(folder, lines.line), openStream(folder, lines.line)] as const; // E2
  streams[0].names.line(command.slice(0, lineCharsMax));
  return {
    readStdout: streams[0].write,
    readStderr: streams[1].write,
    lastLine: lines.last,
    take(isOfTests) {
      for (const { end } of streams) end();
      return {
        tests: talliesOf(streams.map(({ tally }) => tally.take(isOfTests))),
        names: together(streams.map(({ names }) => names.take())),
        failing: lines.take(),
      };
    },
  };
}

function openStream(folder: string, onLine: (line: string) => void) {
  const [tally, names] = [openTally(), openNames()];
  const decoder = new TextDecoder("utf-8");
  let open = "";
  let isTooLong = false;
  const line = (text: string): void => {
    if (text.length < lineCharsMin) return;
    const plain = text.replaceAll(escapes, "").trimEnd();
    onLine(plain);
    tally.line(plain);
    names.line(plain.includes(folder) ? plain.replaceAll(`${folder}/`, "") : plain);
  };
  const add = (text: string): void => {
    if (isTooLong || open.length + text.length > lineCharsMax) {
      isTooLong = true; // E1
      open = "";
    } else open += text;
  };
  return {
    tally,
    names,
    write: (chunk: Buffer): void => {
      const parts = decoder.decode(chunk, { stream: true }).split("\n");
      for (const [index, part] of parts.entries()) {
        add(part);
        if (index === parts.length - 1) break;
        if (!isTooLong) line(open);
        [open, isTooLong] = ["", false];
      }
    },
    end: (): void => {
      if (!isTooLong && open !== "") line(open);
      open = "";
    },
  };
}
