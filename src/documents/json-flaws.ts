// json-flaws: finds the first syntax error of a JSON text, and its duplicate keys, which a parser
// would silently accept.

import { skipBlank, skipString, skipValue } from "./json-place.ts";

export type JsonSyntaxError = { readonly offset: number; readonly expected: string };
export type DuplicateKey = { readonly offset: number; readonly key: string };

export type JsonFlaws = {
  readonly syntaxError: JsonSyntaxError | null;
  readonly duplicateKeys: readonly DuplicateKey[];
};

export function findJsonFlaws(text: string): JsonFlaws {
  const reader = new JsonReader(text);
  const syntaxError = reader.readAll();
  return { syntaxError, duplicateKeys: reader.duplicateKeys };
}

const levelsMax = 1_000;
const scalarPattern = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/** `keys`: of an object, those seen so far; null for a list. */
type Container = { readonly keys: Set<string> | null };

/** A container that was just opened may end: it expects its first key or item, or its end. */
type Expected = "value" | "key" | "first or end" | "separator or end";

class JsonReader {
  readonly duplicateKeys: DuplicateKey[] = [];
  readonly #text: string;
  readonly #openContainers: Container[] = [];
  #expected: Expected = "value";
  #offset = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads up to the end, or returns the first syntax error. */
  readAll(): JsonSyntaxError | null {
    this.#skipBlank();
    while (this.#offset < this.#text.length) {
      const syntaxError = this.#readNext();
      if (syntaxError !== null) return syntaxError;
      this.#skipBlank();
    }

    const isWhole = this.#expected === "separator or end" && this.#openContainers.length === 0;
    return isWhole
      ? null
      : { offset: this.#text.length, expected: "more: the file ends too early" };
  }

  #skipBlank(): void {
    this.#offset = skipBlank(this.#text, this.#offset);
  }

  #readNext(): JsonSyntaxError | null {
    const char = this.#text.charAt(this.#offset);
    const container = this.#openContainers.at(-1);
    const mayEnd = this.#expected === "first or end" || this.#expected === "separator or end";
    if (mayEnd && container !== undefined && char === closingCharOf(container)) {
      this.#openContainers.pop();
      return this.#moveTo(this.#offset + 1, "separator or end");
    }

    if (this.#expected === "separator or end") return this.#readSeparator(char, container);
    const keys = container?.keys ?? null;
    if (keys !== null && this.#expected !== "value") return this.#readKey(char, keys);
    return char === "{" || char === "[" ? this.#openContainer(char) : this.#readScalar(char);
  }

  #readSeparator(char: string, container: Container | undefined): JsonSyntaxError | null {
    if (container === undefined) return this.#fail("the end of the file");
    if (char !== ",") return this.#fail(`, or ${closingCharOf(container)}`);
    return this.#moveTo(this.#offset + 1, container.keys === null ? "value" : "key");
  }

  #readKey(char: string, keys: Set<string>): JsonSyntaxError | null {
    const end = char === '"' ? skipString(this.#text, this.#offset) : this.#offset;
    const key = this.#parseString(end);
    if (key === null) return this.#fail("a key in double quotes");
    const colon = skipBlank(this.#text, end);
    if (this.#text.charAt(colon) !== ":") return this.#fail("a colon", colon);

    if (keys.has(key)) this.duplicateKeys.push({ offset: this.#offset, key });
    keys.add(key);
    return this.#moveTo(colon + 1, "value");
  }

  #openContainer(char: "{" | "["): JsonSyntaxError | null {
    if (this.#openContainers.length >= levelsMax) return this.#fail(`at most ${levelsMax} levels`);
    this.#openContainers.push({ keys: char === "{" ? new Set() : null });
    return this.#moveTo(this.#offset + 1, "first or end");
  }

  #readScalar(char: string): JsonSyntaxError | null {
    const end = skipValue(this.#text, this.#offset);
    const isValue =
      char === '"'
        ? this.#parseString(end) !== null
        : scalarPattern.test(this.#text.slice(this.#offset, end));
    if (!isValue) {
      return this.#fail("a value: a text in double quotes, a number, true, false, null, { or [");
    }

    return this.#moveTo(end, "separator or end");
  }

  /** The string that begins here; null if it is none. */
  #parseString(end: number): string | null {
    try {
      const value: unknown = JSON.parse(this.#text.slice(this.#offset, end));
      return typeof value === "string" ? value : null;
    } catch {
      return null;
    }
  }

  #moveTo(offset: number, expected: Expected): null {
    this.#offset = offset;
    this.#expected = expected;
    return null;
  }

  #fail(expected: string, offset = this.#offset): JsonSyntaxError {
    return { offset, expected };
  }
}

const closingCharOf = ({ keys }: Container): string => (keys === null ? "]" : "}");
