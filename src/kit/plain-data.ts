// plain-data: converts a parsed YAML document to plain data, with aliases unfolded, and finds the
// position of every value in it.
// Invariants L1 and on: kit/located.ts.

import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type LineCounter,
  type Node,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { type DataPath, type Position, shown } from "./finding.ts";

export const depthMax = 48;
const nodesMax = 50_000;
export const tooDeep = `found nesting that is too deep, expected at most ${depthMax} levels`;

export type PlainData = {
  readonly value: unknown;
  /** The position of the value at a path, or of its nearest ancestor. */
  readonly placeOf: (path: DataPath) => Position;
  /** The position of the key itself, if the path ends with a key of a mapping. */
  readonly keyPlaceOf: (path: DataPath) => Position;
};

/** Why a document is refused. It is thrown, since it is found deep inside of the document. */
export class Refusal extends Error {
  readonly rule: string;
  readonly place: Position;
  readonly path: DataPath;
  constructor(rule: string, message: string, place: Position, path: DataPath) {
    super(message);
    this.rule = rule;
    this.place = place;
    this.path = path;
  }
}

/** Throws a `Refusal` if the document breaks a rule. */
export function toPlainData(document: Document.Parsed, lines: LineCounter): PlainData {
  const converter = new Converter(lines);
  const value = converter.convert(document.contents, []);
  const findNode = (path: DataPath): FoundNode =>
    findNodeAt(document.contents, path, converter.aliasTargets);

  return {
    value,
    placeOf: (path) => nodePosition(lines, findNode(path).node),
    keyPlaceOf: (path) => nodePosition(lines, findNode(path).key),
  };
}

class Converter {
  /** The node that each alias stands for. */
  readonly aliasTargets = new Map<Node, Node>();
  readonly #lines: LineCounter;
  readonly #anchors = new Map<string, Node>();
  /** The lists and mappings that are being converted, from the outermost on. */
  readonly #openNodes = new Set<Node>();
  #nodeCount = 0;

  constructor(lines: LineCounter) {
    this.#lines = lines;
  }

  convert(node: unknown, path: DataPath): unknown {
    this.#nodeCount += 1;
    if (this.#nodeCount > nodesMax) {
      const message = `found more than ${nodesMax} values with aliases unfolded`;
      this.#refuse("too_many_nodes", message, node, path);
    } // L2

    if (path.length > depthMax) this.#refuse("too_deep", tooDeep, node, path); // L2
    if (node === null || node === undefined) return null;
    if (isAlias(node)) return this.#convertAlias(node, path);
    if (!isScalar(node) && !isSeq(node) && !isMap(node)) {
      const message = "found something that is neither text, number, list nor mapping";
      return this.#refuse("syntax", message, node, path);
    }

    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (isScalar(node)) return this.#convertScalar(node, path);

    this.#openNodes.add(node);
    const value = isSeq(node) ? this.#convertList(node, path) : this.#convertMapping(node, path);
    this.#openNodes.delete(node);
    return value;
  }

  #convertAlias(alias: Alias, path: DataPath): unknown {
    const name = alias.source;
    const target = this.#anchors.get(name);
    if (target === undefined) {
      const message = `found *${name}, expected an anchor &${name} before it`;
      return this.#refuse("unknown_anchor", message, alias, path);
    }

    if (this.#openNodes.has(target)) {
      const message = `found *${name} inside its own anchor, expected data that ends`;
      return this.#refuse("endless_alias", message, alias, path);
    }

    this.aliasTargets.set(alias, target);
    return this.convert(target, path);
  }

  #convertScalar(scalar: Scalar, path: DataPath): unknown {
    const { value } = scalar;
    if (typeof value === "number" && !Number.isFinite(value)) {
      this.#refuse("not_finite", `found ${value}, expected a finite number`, scalar, path);
    }

    return value;
  }

  #convertList({ items }: YAMLSeq, path: DataPath): readonly unknown[] {
    return items.map((item, index) => this.convert(item, [...path, index]));
  }

  #convertMapping({ items }: YAMLMap, path: DataPath): Readonly<Record<string, unknown>> {
    const record: Record<string, unknown> = {};
    for (const { key: keyNode, value } of items) {
      const key = this.#readNewKey(keyNode, record, path);
      record[key] = this.convert(value, [...path, key]);
    }

    return record;
  }

  /** The key's text, if no key of the record so far has it. */
  #readNewKey(keyNode: unknown, record: object, path: DataPath): string {
    const key = toKeyText(keyNode);
    if (key === null) {
      return this.#refuse("key_not_text", "found a key that is not plain text", keyNode, path);
    }

    if (key in Object.prototype) {
      const message = `found the key ${shown(key)}, which no document may use`;
      this.#refuse("reserved_key", message, keyNode, path);
    } // L3

    if (Object.hasOwn(record, key)) {
      const message = `found the key ${shown(key)} twice, expected it once`;
      this.#refuse("duplicate_key", message, keyNode, path);
    } // L4

    return key;
  }

  #refuse(rule: string, message: string, node: unknown, path: DataPath): never {
    throw new Refusal(rule, message, nodePosition(this.#lines, node), path);
  }
}

type FoundNode = { readonly node: unknown; readonly key: unknown };

/** The node at a path and its key's node, or the deepest ones on the way. */
function findNodeAt(
  contents: unknown,
  path: DataPath,
  aliasTargets: ReadonlyMap<Node, Node>,
): FoundNode {
  let deepest: FoundNode = { node: contents, key: contents };
  for (const part of path) {
    const node = isAlias(deepest.node) ? aliasTargets.get(deepest.node) : deepest.node;
    const next = findChild(node, part);
    if (next === null) return deepest;
    deepest = next;
  }

  return deepest;
}

function findChild(node: unknown, part: string | number): FoundNode | null {
  if (isMap(node)) {
    const pair = node.items.find((item) => toKeyText(item.key) === part);
    return pair === undefined ? null : { node: pair.value ?? pair.key, key: pair.key };
  }

  if (!isSeq(node) || typeof part !== "number") return null;
  const item = node.items[part];
  return item === undefined ? null : { node: item, key: item };
}

/** A key as text: numbers and words count as they are written. */
function toKeyText(key: unknown): string | null {
  if (!isScalar(key)) return null;
  if (typeof key.value === "string") return key.value;
  const isNumberOrWord = typeof key.value === "number" || typeof key.value === "boolean";
  return isNumberOrWord ? (key.source ?? String(key.value)) : null;
}

function nodePosition(lines: LineCounter, node: unknown): Position {
  const range = (node as { range?: readonly number[] | null } | null | undefined)?.range;
  return positionAt(lines, range?.[0] ?? 0);
}

export function positionAt(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}
