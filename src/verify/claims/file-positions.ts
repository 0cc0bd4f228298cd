// file-positions: finds positions in files that a text names: `src/a.ts:12`, `src/a.ts:12-40`,
// `a.ts#L12`, "lines 12 to 40 of a.ts". Pure.

export type FilePosition = {
  readonly path: string;
  /** Every line that is named: both ends of a range, each of a list. At least one. */
  readonly lines: readonly number[];
  /** Where the position stands in the text, path and lines together. */
  readonly from: number;
  readonly to: number;
};

export const pathPattern =
  "(?:\\.{0,2}/)?(?:[\\w@.-]+/){0,20}[\\w@-][\\w@.-]{0,120}\\.[A-Za-z]\\w{0,9}";
const paths = new RegExp(`(?<![\\w/.@:-])(${pathPattern})(?![\\w/])`, "g");
/** A name with one of these endings is a host (`example.com`), not a file. */
export const hostSuffix = /\.(?:com|org|net|io|dev|local|internal|invalid|example|localhost)$/i;
/**
 * Directly behind the path, or behind the quotes that close it: `:12`, `:12-40`, `:12,40`,
 * `#L12-L40`.
 */
const attachedLines = /^[`*_"')\]]{0,4}(?::L?|#L)(\d{1,7}(?:(?:[-–—,]|\.\.)L?\d{1,7})*)(?![\w/])/;
/**
 * By a word: `, line 12`, `(lines 12–40)`, `", "line": 12`. Only `lines` is followed by a list with
 * spaces.
 */
const wordedLines =
  /^[\s`*_"'()[\],:|–—-]{0,8}(?:(?:on|at|in) )?["'*_`]{0,3}(?:L(?=\d)|line\b(?!s)|lines\b)["'*_`]{0,3}[\s:#~=*_"'`]{0,5}(\d{1,7}(?:\s?(?:[-–—]|\.\.| to )\s?L?\d{1,7})?)(?![\w/])/i;
/** `, lines 12, 14 and 20`. */
const wordedList =
  /^[\s`*_"'()[\],:|–—-]{0,8}(?:(?:on|at|in) )?lines[\s:]{1,3}(\d{1,7}(?:(?:,| and|, and| &|\s?[-–—]) ?\d{1,7})+)(?![\w/])/i;
/** `lines 12 to 40 of src/a.ts`. */
const lineFirst = new RegExp(
  `\\blines? (\\d{1,7}(?:(?:,| and| to|\\s?[-–—]) ?\\d{1,7})*)(?: of| in)? [\`*]{0,3}(${pathPattern})(?![\\w/])`,
  "gi",
);

/** How far behind a path its lines are searched. */
const behindCharsMax = 120;

export function findFilePositions(text: string): readonly FilePosition[] {
  return [...findPathsFirst(text), ...findLinesFirst(text)].filter(
    ({ path, from }) => !hostSuffix.test(path) && !text.slice(0, from).endsWith("//"), // a port of a host
  );
}

function findPathsFirst(text: string): readonly FilePosition[] {
  return [...text.matchAll(paths)].flatMap(({ 1: path = "", index: from }) => {
    const end = from + path.length;
    const behindPath = text.slice(end, end + behindCharsMax);
    const match =
      attachedLines.exec(behindPath) ?? wordedList.exec(behindPath) ?? wordedLines.exec(behindPath);
    if (match === null) return [];

    const [whole, numbers = ""] = match;
    return [{ path, lines: readNumbers(numbers), from, to: end + whole.length }];
  });
}

function findLinesFirst(text: string): readonly FilePosition[] {
  return [...text.matchAll(lineFirst)].map(
    ({ 0: whole, 1: numbers = "", 2: path = "", index: from }) => ({
      path,
      lines: readNumbers(numbers),
      from,
      to: from + whole.length,
    }),
  );
}

const readNumbers = (text: string): readonly number[] => (text.match(/\d+/g) ?? []).map(Number);
