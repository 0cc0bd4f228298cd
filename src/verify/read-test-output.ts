// read-test-output: reads a command's output line by line as it is printed, and collects what it
// says about its tests.
//
// Invariants:
//   E1. Memory is bounded, however much is printed: a line that is too long is dropped, and only
//       what lines say about tests is kept.
//   E2. stdout and stderr are read apart, so that neither splits a line of the other.

import type { TestTally } from "../contracts/evidence.ts";
import { type ReportedNames, openTestNames, mergeNames } from "./detect/test-names.ts";
import { openFailingLines } from "./collect-failing-lines.ts";
import { openTally, sumTallies } from "./test-summaries.ts";

export type TestOutput = {
  readonly readStdout: (chunk: Buffer) => void;
  readonly readStderr: (chunk: Buffer) => void;
};
export type ParsedOutput = {
  readonly tests: TestTally | null;
  readonly names: ReportedNames;
  /** The first lines that report a failure, as they were printed. */
  readonly failing: readonly string[];
};

const lineCharsMax = 2_000;
/**
 * No runner reports a test in fewer characters, and floods of output are mostly made of such short
 * lines.
 */
const lineCharsMin = 6;
/** Terminal colours: ESC [ 31 m. */
const escapes = /\u001b\[[0-9;]{0,20}[A-Za-z]/g;

/**
 * `command` is read like a first line: its options may say that it stops at the first failure.
 * `folders`: paths of the folder it runs in, which are removed from names.
 */
export function openTestOutput(
  command: string,
  folders: readonly string[],
): TestOutput & {
  readonly lastLine: () => string;
  readonly take: (hasTests: (path: string) => boolean) => ParsedOutput;
} {
  const failingLines = openFailingLines();
  const streams = [
    openStream(folders, failingLines.addLine),
    openStream(folders, failingLines.addLine),
  ] as const; // E2
  streams[0].names.addLine(command.slice(0, lineCharsMax));

  return {
    readStdout: streams[0].write,
    readStderr: streams[1].write,
    lastLine: failingLines.last,
    take(hasTests) {
      for (const { end } of streams) end();
      return {
        tests: sumTallies(streams.map(({ tally }) => tally.take(hasTests))),
        names: mergeNames(streams.map(({ names }) => names.take())),
        failing: failingLines.take(),
      };
    },
  };
}

/** The paths by which a command may know its folder. */
export const listFolderPaths = (
  folder: string,
  { shownAs }: { readonly shownAs?: string },
): readonly string[] => (shownAs === undefined ? [folder] : [folder, shownAs]);

/** Makes paths in one of the folders relative to it. */
export const toRelativePaths = (text: string, folders: readonly string[]): string =>
  folders.reduce(
    (shorter, folder) =>
      shorter.includes(folder) ? shorter.replaceAll(`${folder}/`, "") : shorter,
    text,
  );

function openStream(folders: readonly string[], onLine: (line: string) => void) {
  const [tally, names] = [openTally(), openTestNames()];
  const decoder = new TextDecoder("utf-8");
  let unfinishedLine = "";
  let isTooLong = false;

  const readLine = (text: string): void => {
    if (text.length < lineCharsMin) return;
    const plainText = text.replaceAll(escapes, "").trimEnd();
    onLine(plainText);
    tally.addLine(plainText);
    names.addLine(toRelativePaths(plainText, folders));
  };

  const append = (text: string): void => {
    if (isTooLong || unfinishedLine.length + text.length > lineCharsMax) {
      isTooLong = true; // E1
      unfinishedLine = "";
    } else {
      unfinishedLine += text;
    }
  };

  return {
    tally,
    names,
    write: (chunk: Buffer): void => {
      const parts = decoder.decode(chunk, { stream: true }).split("\n");
      for (const [index, part] of parts.entries()) {
        append(part);
        if (index === parts.length - 1) break;
        if (!isTooLong) readLine(unfinishedLine);
        [unfinishedLine, isTooLong] = ["", false];
      }
    },
    end: (): void => {
      if (!isTooLong && unfinishedLine !== "") readLine(unfinishedLine);
      unfinishedLine = "";
    },
  };
}
