// change-data: changes the letters and digits of a data file so that its shape stays and nothing
// else does (`ann,3` becomes `boo,5`). A check that compares with the file must fail then; one that
// still passes takes its answers from the file. Pure.
//
// Invariants:
//   V1. Names of fields stay, so that what reads the file finds its way: an error of its reader
//       would say nothing of the work.
//   V2. Values beside each other are not changed alike: of an input and its answer in one file,
//       only one who reads both there keeps up.
//   V3. A number stays a number: no digit becomes 0.

const structured = /\.(?:jsonl?|ya?ml|toml|xml|x?html?|svg|ini|cfg|plist)$/;
/**
 * What names a field, by how the file's name ends: `"name":`, `name:`, `name =` or a section, the
 * first line of a table.
 */
const fieldNames: readonly (readonly [ending: RegExp, name: RegExp])[] = [
  [/\.jsonl?$/, /"(?:[^"\\]|\\.)*"\s*:/],
  [/\.ya?ml$/, /(?<=^\s*(?:-\s+)*|[{,]\s*)(?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w.-]+):(?=\s|$)/m],
  [/\.(?:toml|ini|cfg)$/, /^\s*(?:\[[^\]\n]*\][^\n]*|[\w."-]+\s*=)/m],
  [/\.[ct]sv$/, /(?<![^])[A-Za-z_]+(?:[,;\t][ \w]*[A-Za-z_])+(?=\r?\n.)/],
];
const word = /[\p{L}\p{N}_]+(?:[.-][\p{L}\p{N}_]+)*/u;
const wordCharsMin = 3;
/** Values beside each other get so many different shifts (V2). */
const shifts = 4;

/**
 * `kind`: the number of the kind of file, from 0; each is changed differently. Data that is read by
 * line gets one line more, for code that counts.
 */
export function changeContents(path: string, text: string, kind: number): string {
  const isReadByLine = !structured.test(path);
  let valuesSeen = 0;
  let changed = "";

  for (const { text: part, isKept } of splitValues(path, text)) {
    if (part === "\n" && isReadByLine) valuesSeen = 0; // columns are counted in each line

    if (isKept || !/[\p{L}\p{N}]/u.test(part)) {
      changed += part;
    } else {
      changed += shiftAll(part, kind * shifts + 1 + (valuesSeen % shifts)); // V2
      valuesSeen += 1;
    }
  }

  const lastLine = /[^\n]+\n$/.exec(changed)?.[0] ?? "";
  return isReadByLine ? `${changed}${lastLine}` : changed;
}

/** The words of a data file that are no names of fields and too long to be there by chance. */
export function listValueWords(path: string, text: string): readonly string[] {
  const words = splitValues(path, text)
    .filter(({ isKept }) => !isKept)
    .flatMap(({ text: part }) => part.match(new RegExp(word, "gu")) ?? []);

  const longWords = words.filter((found) => found.length >= wordCharsMin);
  return [...new Set(longWords)];
}

type Part = { readonly text: string; readonly isKept: boolean };

/** Values, and what stays: names of fields (V1). */
function splitValues(path: string, text: string): readonly Part[] {
  const separator = structured.test(path) ? /[,\n]|\s{2,}/ : /[,;|\t]|\n/;
  const fieldName = fieldNames.find(([ending]) => ending.test(path))?.[1];
  const keptSources = fieldName === undefined ? [separator] : [fieldName, separator];
  const kept = new RegExp(keptSources.map(({ source }) => source).join("|"), "gm");

  const parts: Part[] = [];
  let from = 0;

  for (const { 0: found, index } of text.matchAll(kept)) {
    parts.push({ text: text.slice(from, index), isKept: false });
    parts.push({ text: found, isKept: true });
    from = index + found.length;
  }

  parts.push({ text: text.slice(from), isKept: false });
  return parts.filter((part) => part.text !== "");
}

/**
 * Every letter and digit some steps on, within its kind: `Ann 10` becomes `Boo 22`. Escapes and
 * words of the format stay.
 */
const shiftAll = (text: string, steps: number): string =>
  text.replaceAll(/\\.|\b(?:true|false|null)\b|\b\d+[eE]|[a-z]|[A-Z]|\d/g, (found) => {
    if (found.length > 1) return found; // also the head of a number with an exponent
    if (found === "0") return String(1 + (steps % 9)); // V3
    if (/\d/.test(found)) return shift(found, "1", 9, 1 + ((steps - 1) % 8));

    return shift(found, found >= "a" ? "a" : "A", 26, 1 + ((steps - 1) % 25));
  });

/** The character so many steps on in the circle of `count` characters from `first`. */
function shift(character: string, first: string, count: number, steps: number): string {
  const firstCode = first.charCodeAt(0);
  const place = character.charCodeAt(0) - firstCode;
  return String.fromCharCode(firstCode + ((place + steps) % count));
}
