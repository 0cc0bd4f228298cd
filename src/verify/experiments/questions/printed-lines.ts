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
function toComparable(line: string): string {
  let text = toPlain(line);
  for (const [part, sign] of variableParts) text = text.replaceAll(part, () => sign);
  return text;
}

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
  const printedElsewhere = toLines(elsewhere);
  const wanted = quoted.map(toComparable).filter((line) => line !== "" && !isElision(line));

  const isWrapped = [...printed, printedElsewhere].some((lines) => containsText(lines, wanted)); // L1
  if (isWrapped || isTyped(wanted, runs)) return [];

  const all = new Set([...printed.flat(), ...printedElsewhere]);
  const isUnsteady = matchUnsteady(printed); // L2
  const printsComments = [...all].some((line) => /^(?:#|\/\/)/.test(line));

  return wanted.filter((line) => {
    const isComment = !printsComments && /^(?:#|\/\/|<!--)/.test(line);
    if (isComment || all.has(line) || isUnsteady(line)) return false;
    return ![...all].some((printedLine) => isSameButForRemarks(line, printedLine));
  });
}

/** Whether lines have all the text of others, wherever either is wrapped. */
const containsText = (lines: readonly string[], others: readonly string[]): boolean =>
  removeSpace(lines.join("")).includes(removeSpace(others.join("")));

/** Whether the quotation shows somebody's answer behind the question that a command ends with. */
function isTyped(quoted: readonly string[], runs: readonly string[]): boolean {
  const questions = runs
    .map((run) => toComparable(run.split("\n").at(-1) ?? "")) // without an end of the line
    .filter((line) => /.[?:>$#)\]]$/.test(line));

  return quoted.some((line) =>
    questions.some((question) => line.startsWith(question) && line !== question),
  );
}

/**
 * Whether a line is like one that differs between runs: of the same shape, and the same in all
 * parts that don't differ.
 */
function matchUnsteady(printed: readonly (readonly string[])[]): (line: string) => boolean {
  const linesMax = Math.max(...printed.map(({ length }) => length));
  const patterns = Array.from({ length: linesMax }, (_, index) =>
    printed.map((lines) => lines[index] ?? ""),
  )
    .filter((versions) => new Set(versions).size > 1)
    .map((versions) => ({ shapes: versions.map(toShape), fixed: findFixedParts(versions) }));

  return (line) => {
    const parts = splitParts(line);
    return patterns.some(({ shapes, fixed }) => {
      const hasFixed = fixed.every((part, index) => part === null || part === parts[index]);
      return hasFixed && shapes.includes(toShape(line));
    });
  };
}

/** The parts that all versions of a line share, null for others; none if they differ in number. */
function findFixedParts(versions: readonly string[]): readonly (string | null)[] {
  const [first = [], ...others] = versions.map(splitParts);
  if (others.some((parts) => parts.length !== first.length)) return [];
  return first.map((part, index) => (others.every((parts) => parts[index] === part) ? part : null));
}

/** A line's words and numbers: `n=100 crc=9b 0.18 ms` has eight parts. */
const splitParts = (line: string): readonly string[] => line.match(/[\w.:-]+/g) ?? [];

/** With something left out (L3), or with a remark behind it: `3 files   # with the hidden one`. */
function isSameButForRemarks(quoted: string, printed: string): boolean {
  if (elision.test(quoted)) return hasInOrder(printed, quoted.split(elision));
  if (printed === "" || !quoted.startsWith(printed)) return false;
  return /^\s*(?:#|\/\/|<-|←|-->?|→)\s/.test(quoted.slice(printed.length));
}

function hasInOrder(text: string, parts: readonly string[]): boolean {
  let from = 0;
  for (const part of parts.map((untrimmed) => untrimmed.trim())) {
    const index = text.indexOf(part, from);
    if (index === -1) return false;
    from = index + part.length;
  }

  return true;
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
