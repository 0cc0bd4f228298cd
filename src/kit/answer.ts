// answer: whether a program's output is what was expected, judged while it streams, so that nothing need be kept.
//
// Invariants:
//   A1. Numbers and line counts come from stdout; stderr counts only if it exited with 0, and then only for text: some programs print their
//       result there.
//   A2. A program that was not found, could not be started or was killed has no result, whatever was printed. Nor has one with empty
//       stdout, some stderr and a failing exit code: no match in a missing file is not zero matches.

export type Wanted = { readonly kind: "at_least" | "exactly"; readonly count: number } | { readonly kind: "text"; readonly text: string };

export type Answer = {
  /** Takes a chunk of standard output. */
  readonly said: (chunk: Uint8Array) => void;
  /** Takes a chunk of standard error. */
  readonly complained: (chunk: Uint8Array) => void;
  /** The result, with a sentence for a person. */
  readonly judge: (exitCode: number | null) => { readonly isMet: boolean; readonly words: string };
};

/** The expectation, in words that follow `expected`. */
export function describeExpectation(expectation: Wanted): string {
  if (expectation.kind === "text") return `${JSON.stringify(expectation.text)} in what it prints`;
  return `it to return ${expectation.kind === "at_least" ? "at least" : "exactly"} ${expectation.count}`;
}

export function openAnswer(expectation: Wanted): Answer {
  return expectation.kind === "text" ? openText(expectation.text) : openCount(expectation);
}

const hasResult = (exitCode: number | null): boolean => exitCode !== null && exitCode !== 126 && exitCode !== 127; // A2

function openText(text: string): Answer {
  const said = textFinder(text);
  const complained = textFinder(text);
  return {
    said: said.add,
    complained: complained.add,
    judge: (exitCode) => {
      const isMet = hasResult(exitCode) && (said.isFound() || (exitCode === 0 && complained.isFound())); // A1
      return { isMet, words: `expected ${describeExpectation({ kind: "text", text })}, which ${isMet ? "is" : "is not"} there` };
    },
  };
}

/** Looks for a text across chunks, however they were cut. */
function textFinder(text: string): { readonly add: (chunk: Uint8Array) => void; readonly isFound: () => boolean } {
  const decoder = new TextDecoder();
  let carried = "";
  let isFound = text === "";
  return {
    add: (chunk) => {
      if (isFound) return;
      const window = carried + decoder.decode(chunk, { stream: true });
      isFound = window.includes(text);
      carried = text.length > 1 ? window.slice(1 - text.length) : "";
    },
    isFound: () => isFound,
  };
}

const firstCharsMax = 64;

function openCount(expectation: Extract<Wanted, { readonly count: number }>): Answer {
  const { kind, count } = expectation;
  const lines = lineCounter();
  let hasComplained = false;
  return {
    said: lines.add,
    complained: () => {
      hasComplained = true; // A1
    },
    judge: (exitCode) => {
      const returned = lines.count();
      const hasCounted = lines.hasAny() || exitCode === 0 || !hasComplained; // A2
      const isMet = hasResult(exitCode) && hasCounted && (kind === "at_least" ? returned >= count : returned === count);
      return {
        isMet,
        words: `expected ${describeExpectation(expectation)}, and it returned ${hasCounted ? returned : "nothing but a complaint"}`,
      };
    },
  };
}

/** The number that a program printed; where it printed no single number, how many lines that are not empty. */
function lineCounter(): { readonly add: (chunk: Uint8Array) => void; readonly count: () => number; readonly hasAny: () => boolean } {
  let fullLines = 0;
  let isBlank = true;
  let first = "";
  return {
    add: (chunk) => {
      for (const byte of chunk) {
        if (byte === 10) {
          if (!isBlank) fullLines++;
          isBlank = true;
          continue;
        }
        const isSpace = byte === 32 || (byte >= 9 && byte <= 13);
        if (isSpace && isBlank) continue;
        isBlank = false;
        if (fullLines === 0 && first.length < firstCharsMax) first += isSpace ? " " : String.fromCharCode(byte);
      }
    },
    hasAny: () => fullLines > 0 || !isBlank,
    count: () => {
      const lines = fullLines + (isBlank ? 0 : 1);
      return lines === 1 && /^\d{1,15} *$/.test(first) ? Number(first) : lines;
    },
  };
}
