// redact-views: a text with escapes decoded or lines joined, and the position of each part in the original text.

export type View = {
  readonly text: string;
  /** The stretch of the original text that a stretch of this one was made of. */
  readonly spanOf: (start: number, end: number) => readonly [start: number, end: number];
};

export const plainView = (text: string): View => ({ text, spanOf: (start, end) => [start, end] });

/** Up to three levels of escaping are found; more does not happen by accident. */
const roundsMax = 3;
const viewsMax = 24;

/** The text with one family of escapes taken back, then another or the same once more, as long as there is something to take back. */
export function unescapedViews(text: string): readonly View[] {
  if (!escapeHint.test(text)) return [];
  const views: View[] = [];
  const seen = new Set([text]);
  let round = [plainView(text)];
  for (let n = 0; n < roundsMax; n++) {
    const next: View[] = [];
    for (const view of round)
      for (const { pattern, meaning } of families) {
        const found = views.length + next.length < viewsMax ? replaced(view, pattern, meaning) : null;
        if (found === null || seen.has(found.text)) continue;
        seen.add(found.text);
        next.push(found);
      }
    views.push(...next);
    round = next;
  }
  return views;
}

const lineBreak = /\r?\n[ \t]*/g;

/** The text without its line breaks and the indentation after them, as wrapped base64 has them; null if it has none. */
export const joinedText = ({ text }: View): string | null => (text.includes("\n") ? text.replaceAll(lineBreak, "") : null);

/** The text as a terminal shows it, without colours and characters of no width; null if it has none. */
export const terminalView = (view: View): View | null =>
  controlHint.test(view.text) ? replaced(view, families[0]?.pattern ?? /$^/g, () => "") : null;

/** The same with where each part stood, which takes many times as long. */
export const joinedView = (view: View): View => replaced(view, lineBreak, () => "") ?? view;

/** Control characters but tab and line breaks, and characters of no width; those beyond ASCII also as UTF-8 read byte by byte. */
const unseen =
  "[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufe00-\\ufe0f\\ufeff]|" +
  "\\u00e2\\u0080[\\u008b-\\u008f\\u00aa-\\u00ae]|\\u00e2\\u0081[\\u00a0-\\u00af]|\\u00ef\\u00bb\\u00bf|\\u00ef\\u00b8[\\u0080-\\u008f]|\\u00c2\\u00ad";
/** Control sequences that a terminal obeys and does not show: colours, moves, titles, links with their text, single escapes. */
const sequence =
  "(?:\\u001b\\[|\\u009b)[0-?]{0,64}[ -/]{0,8}[@-~]|\\u001b[\\]PX^_][^\\u0007\\u001b]{0,2048}(?:\\u0007|\\u001b\\\\)|\\u001b[ -/]{0,8}[0-~]";
const controlHint = new RegExp(`${unseen}|\\u009b`);
const escapeHint = new RegExp(`[%\\\\&]|${controlHint.source}`);
/** Whether a text reads otherwise than it is written. */
export const hasOtherViews = (text: string): boolean => unusual.test(text) && (text.includes("\n") || escapeHint.test(text));
/** Anything but the plain characters of ASCII, tab and carriage return: one quick look ends here for nearly every text. */
const unusual = /[^\t\r -$'-[\]-~]/;
const controls: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };
const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

type Family = { readonly pattern: RegExp; readonly meaning: (match: RegExpExecArray) => string };

/** One at a time: what one family escapes may be plain characters of the secret to another. */
const families: readonly Family[] = [
  // What is on the way but not seen, between any two characters; a backspace takes back the character before it, or only moves.
  { pattern: new RegExp(`(?:${sequence}|${unseen})+`, "g"), meaning: () => "" },
  { pattern: new RegExp(`[^\\u0008](?:${sequence})*\\u0008(?:[ ]\\u0008)?|(?:${sequence})+`, "g"), meaning: () => "" },
  { pattern: /%([0-9A-Fa-f]{2})/g, meaning: ([, byte = ""]) => characterFor(Number.parseInt(byte, 16)) },
  {
    // \u0041, \u{41}, \x41, \101, \n, and any punctuation.
    pattern: /\\(?:u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|x([0-9A-Fa-f]{2})|([0-3][0-7]{2})|([nrtbf])|([^A-Za-z0-9]))/g,
    meaning: ([, unicode, braced, byte, octal, control, mark]) => {
      const sixteen = unicode ?? braced ?? byte;
      if (sixteen !== undefined) return characterFor(Number.parseInt(sixteen, 16));
      if (octal !== undefined) return characterFor(Number.parseInt(octal, 8));
      return mark ?? controls[control ?? ""] ?? "";
    },
  },
  {
    // &#65;, &#x41;, &amp;.
    pattern: /&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|(amp|lt|gt|quot|apos));/g,
    meaning: ([, decimal, hex, entity]) => {
      if (decimal !== undefined) return characterFor(Number(decimal));
      return hex === undefined ? (entities[entity ?? ""] ?? "") : characterFor(Number.parseInt(hex, 16));
    },
  },
];

const characterFor = (code: number): string => (code > 0x10ffff ? "\ufffd" : String.fromCodePoint(code));

/** A view in which every match is replaced; null if there is none. */
function replaced(view: View, pattern: RegExp, meaning: (match: RegExpExecArray) => string): View | null {
  const pieces: string[] = [];
  // Each part: where it is here, where it was before, and where it ended there. A part that was replaced counts as one character.
  const here: number[] = [];
  const from: number[] = [];
  const until: number[] = [];
  let length = 0;
  const add = (piece: string, start: number, end: number): void => {
    if (piece === "") return;
    here.push(length);
    from.push(start);
    until.push(end);
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
  const partAt = (place: number): number => {
    let low = 0;
    for (let high = here.length - 1; low < high;) {
      const middle = (low + high + 1) >> 1;
      if ((here[middle] ?? 0) <= place) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  const isLiteral = (part: number): boolean => (until[part] ?? 0) - (from[part] ?? 0) === (here[part + 1] ?? length) - (here[part] ?? 0);
  const spanOf = (start: number, end: number): readonly [number, number] => {
    const [first, last] = [partAt(start), partAt(end - 1)];
    const begins = (from[first] ?? 0) + (isLiteral(first) ? start - (here[first] ?? 0) : 0);
    const ends = isLiteral(last) ? (from[last] ?? 0) + (end - (here[last] ?? 0)) : (until[last] ?? 0);
    return view.spanOf(begins, ends);
  };
  return { text: pieces.join(""), spanOf };
}
