// answer: judges whether a program's output is what was expected, while it streams, so that nothing
// need be kept.
//
// Invariants:
//   A1. Numbers and line counts come from stdout. stderr counts only for an expected text, and only
//       if the program exited with 0: some programs print their result there.
//   A2. A program that was not found, could not be started or was killed has no result, whatever it
//       printed. Nor has one with an empty stdout, some stderr and a failing exit code: "no such
//       file" doesn't mean zero matches.

export type OutputExpectation =
  | { readonly kind: "at_least" | "exactly"; readonly count: number }
  | { readonly kind: "text"; readonly text: string };

export type OutputJudge = {
  readonly addStdout: (chunk: Uint8Array) => void;
  readonly addStderr: (chunk: Uint8Array) => void;
  /** The result, with a sentence for a person. */
  readonly judge: (exitCode: number | null) => {
    readonly isMet: boolean;
    readonly message: string;
  };
};

/** The expectation, in words that follow `expected`. */
export function describeExpectation(expectation: OutputExpectation): string {
  if (expectation.kind === "text") return `${JSON.stringify(expectation.text)} in what it prints`;
  return `it to return ${expectation.kind === "at_least" ? "at least" : "exactly"} ${expectation.count}`;
}

/** Judges the output of one program. */
export function openAnswer(expectation: OutputExpectation): OutputJudge {
  return expectation.kind === "text" ? openText(expectation.text) : openCount(expectation);
}

/** A shell exits with 126 if it can't start a program and with 127 if it doesn't find it (A2). */
const hasResult = (exitCode: number | null): boolean =>
  exitCode !== null && exitCode !== 126 && exitCode !== 127;

function openText(text: string): OutputJudge {
  const stdout = createTextFinder(text);
  const stderr = createTextFinder(text);
  return {
    addStdout: stdout.add,
    addStderr: stderr.add,
    judge: (exitCode) => {
      const isMet =
        hasResult(exitCode) && (stdout.isFound() || (exitCode === 0 && stderr.isFound())); // A1
      return {
        isMet,
        message: `expected ${describeExpectation({ kind: "text", text })}, which ${isMet ? "is" : "is not"} there`,
      };
    },
  };
}

/** Looks for a text across chunks, however they were cut. */
function createTextFinder(text: string): {
  readonly add: (chunk: Uint8Array) => void;
  readonly isFound: () => boolean;
} {
  const decoder = new TextDecoder();
  let lastChars = ""; // of the chunks before: the text may begin there
  let isFound = text === "";

  return {
    add: (chunk) => {
      if (isFound) return;
      const window = lastChars + decoder.decode(chunk, { stream: true });
      isFound = window.includes(text);
      lastChars = text.length > 1 ? window.slice(1 - text.length) : "";
    },
    isFound: () => isFound,
  };
}

/** Enough for any number that is alone on its line. */
const firstCharsMax = 64;
const lineFeed = 10;

function openCount(
  expectation: Extract<OutputExpectation, { readonly count: number }>,
): OutputJudge {
  const { kind, count } = expectation;
  const lines = createLineCounter();
  let hasStderr = false;

  return {
    addStdout: lines.add,
    addStderr: () => {
      hasStderr = true; // A1
    },
    judge: (exitCode) => {
      const returned = lines.count();
      const hasCounted = lines.hasAny() || exitCode === 0 || !hasStderr; // A2
      const isMet =
        hasResult(exitCode) &&
        hasCounted &&
        (kind === "at_least" ? returned >= count : returned === count);

      const result = hasCounted ? returned : "nothing but a complaint";
      return {
        isMet,
        message: `expected ${describeExpectation(expectation)}, and it returned ${result}`,
      };
    },
  };
}

/**
 * The number that a program printed or, if it printed anything but a single number, the count of
 * its lines that are not empty.
 */
function createLineCounter(): {
  readonly add: (chunk: Uint8Array) => void;
  readonly count: () => number;
  readonly hasAny: () => boolean;
} {
  let fullLines = 0;
  let isBlank = true;
  let first = "";

  return {
    add: (chunk) => {
      for (const byte of chunk) {
        if (byte === lineFeed) {
          if (!isBlank) fullLines++;
          isBlank = true;
          continue;
        }

        const isSpace = byte === 32 || (byte >= 9 && byte <= 13);
        if (isSpace && isBlank) continue;
        isBlank = false;

        if (fullLines === 0 && first.length < firstCharsMax) {
          first += isSpace ? " " : String.fromCharCode(byte);
        }
      }
    },
    hasAny: () => fullLines > 0 || !isBlank,
    count: () => {
      const lines = fullLines + (isBlank ? 0 : 1);
      return lines === 1 && /^\d{1,15} *$/.test(first) ? Number(first) : lines;
    },
  };
}
