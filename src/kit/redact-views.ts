// redact-views: finds secrets that escapes, colours or line breaks hide. It makes views of a text
// with these decoded or removed, each of which knows the position of its parts in the original
// text, so that a secret found in a view is redacted there.

export type View = {
  readonly text: string;
  /** The part of the original text that a part of this one was made of. */
  readonly spanOf: (start: number, end: number) => readonly [start: number, end: number];
};

export const createPlainView = (text: string): View => ({
  text,
  spanOf: (start, end) => [start, end],
});

/** Up to three levels of escaping are found; more does not happen by accident. */
const roundsMax = 3;
const viewsMax = 24;

/**
 * The text with one family of escapes decoded, then another or the same once more, as long as there
 * is something to decode.
 */
export function listUnescapedViews(text: string): readonly View[] {
  if (!escapeHint.test(text)) return [];
  const views: View[] = [];
  const seen = new Set([text]);
  let round = [createPlainView(text)];

  for (let roundCount = 0; roundCount < roundsMax; roundCount++) {
    const nextRound: View[] = [];
    for (const view of round) {
      for (const { pattern, meaning } of families) {
        const decoded =
          views.length + nextRound.length < viewsMax
            ? replaceMatches(view, pattern, meaning)
            : null;
        if (decoded === null || seen.has(decoded.text)) continue;
        seen.add(decoded.text);
        nextRound.push(decoded);
      }
    }

    views.push(...nextRound);
    round = nextRound;
  }

  return views;
}

const lineBreakPattern = /\r?\n[ \t]*/g;

/**
 * The text without its line breaks and the indentation after them, as wrapped base64 has them; null
 * if it has none.
 */
export const joinLines = ({ text }: View): string | null =>
  text.includes("\n") ? text.replaceAll(lineBreakPattern, "") : null;

/**
 * The text as a terminal shows it, without colours and characters of no width; null if it has none.
 */
export const createTerminalView = (view: View): View | null =>
  controlHint.test(view.text)
    ? replaceMatches(view, families[0]?.pattern ?? /$^/g, () => "")
    : null;

/** The same with the position of each part, which takes many times as long. */
export const createJoinedView = (view: View): View =>
  replaceMatches(view, lineBreakPattern, () => "") ?? view;

/**
 * Control characters but tab and line breaks, and characters of no width; those beyond ASCII also
 * as UTF-8 read byte by byte.
 */
const unseenSource =
  "[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufe00-\\ufe0f\\ufeff]|" +
  "\\u00e2\\u0080[\\u008b-\\u008f\\u00aa-\\u00ae]|\\u00e2\\u0081[\\u00a0-\\u00af]|\\u00ef\\u00bb\\u00bf|\\u00ef\\u00b8[\\u0080-\\u008f]|\\u00c2\\u00ad";
/**
 * Control sequences that a terminal obeys and does not show: colours, moves, titles, links with
 * their text, single escapes.
 */
const sequenceSource =
  "(?:\\u001b\\[|\\u009b)[0-?]{0,64}[ -/]{0,8}[@-~]|\\u001b[\\]PX^_][^\\u0007\\u001b]{0,2048}(?:\\u0007|\\u001b\\\\)|\\u001b[ -/]{0,8}[0-~]";
const controlHint = new RegExp(`${unseenSource}|\\u009b`);
const escapeHint = new RegExp(`[%\\\\&]|${controlHint.source}`);
/**
 * Whether a text has line breaks, escapes or invisible characters, so that another view of it may
 * have a secret.
 */
export const hasOtherViews = (text: string): boolean =>
  unusualPattern.test(text) && (text.includes("\n") || escapeHint.test(text));
/**
 * Anything but plain characters of ASCII, tab and carriage return; `%`, `&` and `\` begin escapes.
 * Nearly no line has any of it.
 */
const unusualPattern = /[^\t\r -$'-[\]-~]/;
const controls: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };
const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

type Family = { readonly pattern: RegExp; readonly meaning: (match: RegExpExecArray) => string };

/**
 * They are decoded one at a time: what is an escape in one family may be plain characters of the
 * secret in another.
 */
const families: readonly Family[] = [
  // Invisible characters and terminal sequences. Then the same with a backspace that deletes the
  // character before it.
  { pattern: new RegExp(`(?:${sequenceSource}|${unseenSource})+`, "g"), meaning: () => "" },
  {
    pattern: new RegExp(
      `[^\\u0008](?:${sequenceSource})*\\u0008(?:[ ]\\u0008)?|(?:${sequenceSource})+`,
      "g",
    ),
    meaning: () => "",
  },
  {
    pattern: /%([0-9A-Fa-f]{2})/g,
    meaning: ([, byte = ""]) => toCharacter(Number.parseInt(byte, 16)),
  },
  {
    // \u0041, \u{41}, \x41, \101, \n, and any punctuation.
    pattern:
      /\\(?:u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|x([0-9A-Fa-f]{2})|([0-3][0-7]{2})|([nrtbf])|([^A-Za-z0-9]))/g,
    meaning: ([, unicode, braced, byte, octal, control, mark]) => {
      const sixteen = unicode ?? braced ?? byte;
      if (sixteen !== undefined) return toCharacter(Number.parseInt(sixteen, 16));
      if (octal !== undefined) return toCharacter(Number.parseInt(octal, 8));

      return mark ?? controls[control ?? ""] ?? "";
    },
  },
  {
    // &#65;, &#x41;, &amp;.
    pattern: /&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|(amp|lt|gt|quot|apos));/g,
    meaning: ([, decimal, hex, entity]) => {
      if (decimal !== undefined) return toCharacter(Number(decimal));
      return hex === undefined
        ? (entities[entity ?? ""] ?? "")
        : toCharacter(Number.parseInt(hex, 16));
    },
  },
];

const toCharacter = (code: number): string =>
  code > 0x10ffff ? "\ufffd" : String.fromCodePoint(code);

/** A view in which every match is replaced; null if there is none. */
function replaceMatches(
  view: View,
  pattern: RegExp,
  meaning: (match: RegExpExecArray) => string,
): View | null {
  const pieces: string[] = [];
  // For each piece: where it begins in the new text, and where it began and ended in the old one.
  // Three lists, because that is fastest.
  const newStarts: number[] = [];
  const oldStarts: number[] = [];
  const oldEnds: number[] = [];
  let length = 0;

  const add = (piece: string, start: number, end: number): void => {
    if (piece === "") return;
    newStarts.push(length);
    oldStarts.push(start);
    oldEnds.push(end);
    pieces.push(piece);
    length += piece.length;
  };

  let position = 0;
  pattern.lastIndex = 0;

  for (let match = pattern.exec(view.text); match !== null; match = pattern.exec(view.text)) {
    add(view.text.slice(position, match.index), position, match.index);
    position = match.index + match[0].length;
    add(meaning(match), match.index, position);
  }

  if (position === 0) return null;
  add(view.text.slice(position), position, view.text.length);

  const pieceAt = (offset: number): number => {
    let low = 0;
    for (let high = newStarts.length - 1; low < high;) {
      const middle = (low + high + 1) >> 1;
      if ((newStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }

    return low;
  };

  /**
   * Whether a piece is as long as before: then its characters are at their places. A replaced piece
   * counts as one character.
   */
  const isUnchanged = (piece: number): boolean =>
    (oldEnds[piece] ?? 0) - (oldStarts[piece] ?? 0) ===
    (newStarts[piece + 1] ?? length) - (newStarts[piece] ?? 0);

  const spanOf = (start: number, end: number): readonly [number, number] => {
    const [first, last] = [pieceAt(start), pieceAt(end - 1)];
    const oldStart =
      (oldStarts[first] ?? 0) + (isUnchanged(first) ? start - (newStarts[first] ?? 0) : 0);
    const oldEnd = isUnchanged(last)
      ? (oldStarts[last] ?? 0) + (end - (newStarts[last] ?? 0))
      : (oldEnds[last] ?? 0);

    return view.spanOf(oldStart, oldEnd);
  };

  return { text: pieces.join(""), spanOf };
}
