// json-hazards: finds parts of a JSON text that readers disagree about: a duplicate key,
// `__proto__`, a lone surrogate, deep nesting. JSON.parse accepts all of these silently, and two
// readers then see two different values.
//
// Invariants:
//   H1. `countStrings` counts the names and texts of a value. A text that JSON.parse accepted has
//       two quotes for each of them, and two more for each overwritten key: equal counts prove that
//       there is no duplicate key, without a second pass over the text.
//   H2. Nothing here recurses deeper than `jsonDepthMax`, and nothing is thrown.

import { shown } from "./finding.ts";

export const jsonDepthMax = 64;

/**
 * How many names and texts are in a parsed value; minus infinity if it can't be counted, so that
 * the text must be searched.
 */
export function countStrings(value: object, depth = 1): number {
  if (depth > jsonDepthMax) return unsure; // H2
  let count = 0;

  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) {
      if (typeof item === "string") count++;
      else if (typeof item === "object" && item !== null) count += countStrings(item, depth + 1);
    }

    return count;
  }

  const tree = value as Readonly<Record<string, unknown>>;
  for (const key in tree) count += 1 + countStringsUnder(key, tree[key], depth);
  return count;
}

/** How many names and texts are in the value of a name. */
export function countStringsUnder(name: string, value: unknown, depth = 1): number {
  if (name === "__proto__") return unsure;
  if (typeof value === "string") return 1;
  return typeof value === "object" && value !== null ? countStrings(value, depth + 1) : 0;
}

/** Whether a parsed value is nested so deep that a recursive reader runs out of stack. */
export function isTooDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth === jsonDepthMax) return true; // H2
  return Object.values(value).some((item) => isTooDeep(item, depth + 1));
}

/** No sum with it can look like a count. */
const unsure = Number.NEGATIVE_INFINITY;

/**
 * `key`: duplicate or reserved. `half`: half a character. `deep`: nested so deep that a recursive
 * reader runs out of stack.
 */
export type Hazard = {
  readonly offset: number;
  readonly kind: "key" | "half" | "deep";
  readonly message: string;
};

/**
 * An object or a list that is open. `names`: those of an object so far; null for a list.
 * `expectsName`: the next string is a name.
 */
type Level = { readonly names: Set<string> | null; expectsName: boolean };

/** The hazards of a text that JSON.parse accepts, in order, at most so many. */
export function findHazards(text: string, hazardsMax = 10): readonly Hazard[] {
  const hazards: Hazard[] = [];
  const levels: Level[] = [];

  let index = 0;
  while (index < text.length && hazards.length < hazardsMax) {
    const code = text.charCodeAt(index);
    if (code === quote) {
      const end = findStringEnd(text, index);
      const hazard = findStringHazard(text.slice(index, end), levels.at(-1));
      if (hazard !== null) hazards.push({ offset: index, ...hazard });
      index = end;
      continue;
    }

    const opensLevel = code === openBrace || code === openBracket;
    if (opensLevel && levels.length === jsonDepthMax) {
      return [...hazards, { offset: index, ...tooDeep }];
    } // H2

    trackLevels(levels, code);
    index += 1;
  }

  return hazards;
}

const tooDeep: Omit<Hazard, "offset"> = {
  kind: "deep",
  message: `is nested deeper than ${jsonDepthMax} levels, expected less`,
};

/** Opens or closes a level by a character between strings, and notes whether a name comes next. */
function trackLevels(levels: Level[], code: number): void {
  if (code === openBrace) levels.push({ names: new Set(), expectsName: true });
  if (code === openBracket) levels.push({ names: null, expectsName: false });
  if (code === closeBrace || code === closeBracket) levels.pop();
  const level = levels.at(-1);
  if (code === comma && level !== undefined) level.expectsName = level.names !== null;
}

const [quote, comma, openBrace, closeBrace, openBracket, closeBracket, backslash] = [
  34, 44, 123, 125, 91, 93, 92,
];

/** The position behind the string that begins here. */
function findStringEnd(text: string, from: number): number {
  let position = from + 1;
  while (position < text.length && text.charCodeAt(position) !== quote) {
    position += text.charCodeAt(position) === backslash ? 2 : 1;
  }

  return position + 1;
}

/** `literal`: a name or a text of this level, in its quotes. */
function findStringHazard(
  literal: string,
  level: Level | undefined,
): Omit<Hazard, "offset"> | null {
  const isName = level?.expectsName === true;
  if (level !== undefined) level.expectsName = false;
  if (!isName && !literal.includes("\\u")) return null;
  const decoded = decodeString(literal);

  if (/\p{Surrogate}/u.test(decoded)) {
    return {
      kind: "half",
      message: `holds half a character (${shown(decoded)}), expected whole ones`,
    };
  }

  if (!isName || level.names === null) return null;
  if (decoded === "__proto__") {
    return {
      kind: "key",
      message: "holds the key __proto__, which no reader can take for plain data",
    };
  }

  if (level.names.has(decoded)) {
    return { kind: "key", message: `holds the key ${shown(decoded)} twice, expected it once` };
  }

  level.names.add(decoded);
  return null;
}

function decodeString(literal: string): string {
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal; // a text that was cut off, which JSON.parse would not have taken
  }
}
