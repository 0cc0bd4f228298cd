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
export function describeExpectation(wanted: Wanted): string {
  if (wanted.kind === "text") return `${JSON.stringify(wanted.text)} in what it prints`;
  return `it to return ${wanted.kind === "at_least" ? "at least" : "exactly"} ${wanted.count}`;
}

export function openAnswer(wanted: Wanted): Answer {
  return wanted.kind === "text" ? freeTextAnswer(wanted.text) : openCount(wanted);
}

const hasAnswered = (exitCode: number | null): boolean => exitCode !== null && exitCode !== 126 && exitCode !== 127; // A2

function freeTextAnswer(text: string): Answer {
  const said = textFinder(text);
  const complained = textFinder(text);
  return {
    said: said.add,
    complained: complained.add,
    judge: (exitCode) => {
      const isMet = hasAnswered(exitCode) && (said.isFound() || (exitCode === 0 && complained.isFound())); // A1
      return { isMet, words: `expected ${describeExpectation({ kind: "text", text })}, which ${isMet ? "is" : "is not"} there` };
    },
  };
}

/** Looks for a text across chunks, however they were cut. */
function textFinder(text: string): { readonly add: (chunk: Uint8Array) => void; readonly isFound: () => boolean } {
  const decoder = new TextDecoder();
  let kept = "";
  let isFound = text === "";
  return {
    add: (chunk) => {
      if (isFound) return;
      const seen = kept + decoder.decode(chunk, { stream: true });
      isFound = seen.includes(text);
      kept = text.length > 1 ? seen.slice(1 - text.length) : "";
    },
    isFound: () => isFound,
  };
}

const firstCharsMax = 64;

function openCount(wanted: Extract<Wanted, { readonly count: number }>): Answer {
  const { kind, count } = wanted;
  const lines = lineCounter();
  let hasComplained = false;
  return {
    said: lines.add,
    complained: () => {
      hasComplained = true; // A1
    },
    judge: (exitCode) => {
      const found = lines.count();
      const hasCounted = lines.hasAny() || exitCode === 0 || !hasComplained; // A2
      const isMet = hasAnswered(exitCode) && hasCounted && (kind === "at_least" ? found >= count : found === count);
      return { isMet, words: `expected ${describeExpectation(wanted)}, and it returned ${hasCounted ? found : "nothing but a complaint"}` };
    },
  };
}

/** The number that a program printed; where it printed no single number, how many lines that are not empty. */
function lineCounter(): { readonly add: (chunk: Uint8Array) => void; readonly count: () => number; readonly hasAny: () => boolean } {
  let full = 0;
  let isBlank = true;
  let first = "";
  return {
    add: (chunk) => {
      for (const byte of chunk) {
        if (byte === 10) {
          if (!isBlank) full++;
          isBlank = true;
          continue;
        }
        const isSpace = byte === 32 || (byte >= 9 && byte <= 13);
        if (isSpace && isBlank) continue;
        isBlank = false;
        if (full === 0 && first.length < firstCharsMax) first += isSpace ? " " : String.fromCharCode(byte);
      }
    },
    hasAny: () => full > 0 || !isBlank,
    count: () => {
      const lines = full + (isBlank ? 0 : 1);
      return lines === 1 && /^\d{1,15} *$/.test(first) ? Number(first) : lines;
    },
  };
}
