// printed-lines: compares lines that a document quotes as a command's output with what the command
// prints. Pure.
//
// Invariants:
//   L1. A quotation may leave lines out, and be wrapped; every line that it has must be printed.
//   L2. Times, dates, sizes, rates, versions and paths of a machine are not compared, nor what
//       differs between two runs.
//   L3. `…` and `...` stand for anything.

/** Terminal colours: ESC [ 31 m. */
const escapes = /\u001b\[[0-9;?]{0,20}[A-Za-z]/g;

/** What is another on another machine or day. L2 */
const variableParts: readonly (readonly [part: RegExp, sign: string])[] = [
  [
    /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?|\b\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?(?: ?[AP]M)?| ?[AP]M)\b/gi,
    "<date>",
  ],
  [
    /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? |\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* \d{1,2}\b,?(?: \d{4})?/g,
    "<date>",
  ],
  [
    /[~≈±]?\d[\d.,_]*\s?(?:[kMG]?(?:ops|req|rows|items|bytes|B|b)?\/s(?:ec(?:ond)?)?|[kMGT]i?B|bytes)\b/gi,
    "<size>",
  ],
  [
    /[~≈±]?\d[\d.,_]*\s?(?:ns|µs|μs|us|ms|s|secs?|seconds?|mins?|minutes?|hours?|h|m)\b/gi,
    "<time>",
  ],
  [/\bv?\d+\.\d+\.\d+(?:[-+][\w.]+)?\b/g, "<version>"],
  [/(?<![\w.])(?:~|[A-Z]:)?\/(?:[\w.@+ -]+\/)+/g, "<path>/"],
];

const toPlain = (line: string): string =>
  line.replaceAll(escapes, "").replaceAll(/\s+/g, " ").trim();
const toComparable = (line: string): string =>
  variableParts.reduce((text, [part, sign]) => text.replaceAll(part, sign), toPlain(line));
const toLines = (text: string): readonly string[] => text.split("\n").map(toComparable);
/** A line without its numbers, which may be other ones in each run. */
const toShape = (line: string): string => line.replaceAll(/[0-9a-f]*\d[0-9a-f]*/gi, "0");

const elision = /…|\.{3,}|\[\s*snip\s*\]/i;
const isElision = (line: string): boolean =>
  /^[\s#/[(<]*(?:…|\.{3,}|snip|etc\.?)[\s\])>]*/i.test(line) &&
  !/\w{6}/.test(line.replace(/snip/i, ""));

/**
 * The quoted lines that none of the runs printed. `runs`: what the command printed each time.
 * `elsewhere`: what it prints on a terminal.
 */
export function findUnprinted(
  quoted: readonly string[],
  runs: readonly string[],
  elsewhere = "",
): readonly string[] {
  const printed = runs.map(toLines);
  const steady = new Set(printed.flat());
  const isUnsteady = matchUnsteady(printed); // L2
  const all = new Set([...steady, ...toLines(elsewhere)]);
  const wanted = quoted.map(toComparable).filter((line) => line !== "" && !isElision(line));
  if (
    [...printed, toLines(elsewhere)].some((lines) =>
      removeSpace(lines.join("")).includes(removeSpace(wanted.join(""))),
    )
  ) {
    return [];
  } // L1

  // What it printed last, without an end of the line: a question to whoever types.
  const typed = runs
    .map((run) => toComparable(run.split("\n").at(-1) ?? ""))
    .filter((prompt) => /.[?:>$#)\]]$/.test(prompt));
  if (wanted.some((line) => typed.some((prompt) => line.startsWith(prompt) && line !== prompt))) {
    return [];
  } // somebody answered its question

  const hasComments = [...all].some((line) => /^(?:#|\/\/)/.test(line));
  return wanted.filter(
    (line) =>
      !all.has(line) &&
      !isUnsteady(line) &&
      !(!hasComments && /^(?:#|\/\/|<!--)/.test(line)) &&
      ![...all].some((printedLine) => isSameButForRemarks(line, printedLine)),
  );
}

/**
 * Whether a line is like one that differs between runs: of the same shape, and the same in all
 * parts that don't differ.
 */
function matchUnsteady(printed: readonly (readonly string[])[]): (line: string) => boolean {
  const count = Math.max(...printed.map(({ length }) => length));
  const patterns = Array.from({ length: count }, (_, index) =>
    printed.map((lines) => lines[index] ?? ""),
  )
    .filter((versions) => new Set(versions).size > 1)
    .map((versions) => {
      const [first = [], ...others] = versions.map(splitParts);
      const isAlike = others.every((own) => own.length === first.length);
      const fixed = isAlike
        ? first.map((part, at) => (others.every((own) => own[at] === part) ? part : null))
        : [];

      return { shapes: versions.map(toShape), fixed };
    });
  return (line) =>
    patterns.some(({ shapes, fixed }) => {
      const own = splitParts(line);
      return (
        shapes.includes(toShape(line)) &&
        fixed.every((part, at) => part === null || part === own[at])
      );
    });
}

/** A line's words and numbers: `n=100 crc=9b 0.18 ms` has eight parts. */
const splitParts = (line: string): readonly string[] => line.match(/[\w.:-]+/g) ?? [];

/** With something left out (L3), or with a remark behind it: `3 files   # with the hidden one`. */
function isSameButForRemarks(quoted: string, printed: string): boolean {
  if (elision.test(quoted)) {
    let from = 0;
    return quoted.split(elision).every((part) => {
      const index = printed.indexOf(part.trim(), from);
      from = index + part.trim().length;
      return index !== -1;
    });
  }

  return (
    printed !== "" &&
    quoted.startsWith(printed) &&
    /^\s*(?:#|\/\/|<-|←|-->?|→)\s/.test(quoted.slice(printed.length))
  );
}

const removeSpace = (text: string): string => text.replaceAll(/\s+/g, "");

/**
 * The lines of an output that a document does not have, if it lacks most of them: what npm and make
 * print around it may be left out. Lines that differ between runs do not count. `isWhole`: the
 * document is to have all of it, so one of them is enough.
 */
export function findUnquoted(
  document: string,
  runs: readonly string[],
  isWhole = false,
): readonly string[] {
  const [first = [], ...others] = runs.map(toLines);
  const steady = first.filter(
    (line) => line !== "" && others.every((lines) => lines.includes(line)),
  );

  const written = new Set(document.split("\n").map(toComparable));
  const text = removeSpace(document);
  const missing = steady.filter((line) => !written.has(line) && !text.includes(removeSpace(line)));
  const own = missing.filter((line) => !/^(?:> |make(?:\[\d+\])?: )/.test(line));

  return 2 * missing.length > steady.length || (isWhole && own.length > 0) ? own : [];
}
