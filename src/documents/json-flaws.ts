// json-flaws: finds the first syntax fault of a JSON text, and its duplicate keys, which a parser
// would silently accept.

import { skipBlank, skipString, skipValue } from "./json-place.ts";

/** `detail`: what was expected there, or the duplicate key. */
export type JsonFlaw = { readonly offset: number; readonly detail: string };

export type JsonFlaws = {
  readonly fault: JsonFlaw | null;
  readonly duplicateKeys: readonly JsonFlaw[];
};

export function findJsonFlaws(text: string): JsonFlaws {
  const reader = new JsonReader(text);
  const fault = reader.readAll();
  return { fault, duplicateKeys: reader.duplicateKeys };
}

const levelsMax = 1_000;
const scalarPattern = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/** `keys`: of an object, those seen so far; null for a list. */
type Container = { readonly keys: Set<string> | null };

/** A container that was just opened may end: it expects its first key or item, or its end. */
type Expected = "value" | "key" | "first or end" | "separator or end";

class JsonReader {
  readonly duplicateKeys: JsonFlaw[] = [];
  readonly #text: string;
  readonly #openContainers: Container[] = [];
  #expected: Expected = "value";
  #offset = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads up to the end, or returns the first fault. */
  readAll(): JsonFlaw | null {
    this.#skipBlank();
    while (this.#offset < this.#text.length) {
      const fault = this.#readNext();
      if (fault !== null) return fault;
      this.#skipBlank();
    }

    const isWhole = this.#expected === "separator or end" && this.#openContainers.length === 0;
    return isWhole ? null : { offset: this.#text.length, detail: "more: the file ends too early" };
  }

  #skipBlank(): void {
    this.#offset = skipBlank(this.#text, this.#offset);
  }

  #readNext(): JsonFlaw | null {
    const mark = this.#text.charAt(this.#offset);
    const container = this.#openContainers.at(-1);
    const mayEnd = this.#expected === "first or end" || this.#expected === "separator or end";
    if (mayEnd && container !== undefined && mark === closingMarkOf(container)) {
      this.#openContainers.pop();
      return this.#moveTo(this.#offset + 1, "separator or end");
    }

    if (this.#expected === "separator or end") return this.#readSeparator(mark, container);
    const keys = container?.keys ?? null;
    if (keys !== null && this.#expected !== "value") return this.#readKey(mark, keys);
    return mark === "{" || mark === "[" ? this.#openContainer(mark) : this.#readScalar(mark);
  }

  #readSeparator(mark: string, container: Container | undefined): JsonFlaw | null {
    if (container === undefined) return this.#fail("the end of the file");
    if (mark !== ",") return this.#fail(`, or ${closingMarkOf(container)}`);
    return this.#moveTo(this.#offset + 1, container.keys === null ? "value" : "key");
  }

  #readKey(mark: string, keys: Set<string>): JsonFlaw | null {
    const end = mark === '"' ? skipString(this.#text, this.#offset) : this.#offset;
    const key = this.#parseString(end);
    if (key === null) return this.#fail("a key in double quotes");
    const colon = skipBlank(this.#text, end);
    if (this.#text.charAt(colon) !== ":") return this.#fail("a colon", colon);

    if (keys.has(key)) this.duplicateKeys.push({ offset: this.#offset, detail: key });
    keys.add(key);
    return this.#moveTo(colon + 1, "value");
  }

  #openContainer(mark: "{" | "["): JsonFlaw | null {
    if (this.#openContainers.length >= levelsMax) return this.#fail(`at most ${levelsMax} levels`);
    this.#openContainers.push({ keys: mark === "{" ? new Set() : null });
    return this.#moveTo(this.#offset + 1, "first or end");
  }

  #readScalar(mark: string): JsonFlaw | null {
    const end = skipValue(this.#text, this.#offset);
    const isValue =
      mark === '"'
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

  #fail(detail: string, offset = this.#offset): JsonFlaw {
    return { offset, detail };
  }
}

const closingMarkOf = ({ keys }: Container): string => (keys === null ? "]" : "}");
