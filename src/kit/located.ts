// located: parses YAML or JSON and keeps the position of every value, so that errors can be
// reported with their line.
//
// Invariants:
//   L1. For any bytes the result is a value or findings; nothing is thrown.
//   L2. Work is bounded by limits on bytes, depth and, with aliases unfolded, nodes.
//   L3. No key names a member that every object inherits, so no reader can be fooled through a
//       prototype.
//   L4. A key is unique in its mapping.

import type * as v from "valibot";
import {
  Composer,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  Parser,
  type CST,
  type Document,
  type Node,
} from "yaml";
import { pathText, shown, type DataPath, type Finding, type Position } from "./finding.ts";
import { findIssues } from "./located-issues.ts";

export const documentBytesMax = 1_048_576;
const depthMax = 48;
const nodesMax = 50_000;
const findingsMax = 50;

/**
 * Where each value is in one document. A path that does not exist returns the position of its
 * nearest ancestor.
 */
export type Positions = {
  readonly file: string;
  placeOf(path: DataPath): Position;
  /** The position of the key itself, if the path ends with a key of a mapping. */
  keyPlaceOf(path: DataPath): Position;
};

export type Parsed = { readonly value: unknown; readonly positions: Positions };
export type Refused = { readonly findings: readonly Finding[] };

export const isRefused = (result: object): result is Refused => "findings" in result;

/** Parses a document and validates it by a schema. */
export function readLocated<S extends v.GenericSchema>(
  file: string,
  text: string | Uint8Array,
  schema: S,
): { readonly value: v.InferOutput<S>; readonly positions: Positions } | Refused {
  const parsed = parseLocated(file, text);
  return isRefused(parsed) ? parsed : fitLocated(parsed, schema);
}

/**
 * Validates parsed data by a schema: the second half of `readLocated`, for callers that must see
 * the data first.
 */
export function fitLocated<S extends v.GenericSchema>(
  { value, positions }: Parsed,
  schema: S,
): { readonly value: v.InferOutput<S>; readonly positions: Positions } | Refused {
  const validation = findIssues(schema, value);
  if (validation.issues.length === 0) return { value: validation.value, positions };
  return {
    findings: validation.issues
      .slice(0, findingsMax)
      .map(({ path, isAboutKey, rule, message }) => ({
        file: positions.file,
        ...(isAboutKey ? positions.keyPlaceOf(path) : positions.placeOf(path)),
        path: pathText(path),
        rule,
        message,
        severity: "error",
      })),
  };
}

/** Reads a document into plain data. An empty one is null. */
export function parseLocated(file: string, text: string | Uint8Array): Parsed | Refused {
  const refuse = (
    rule: string,
    message: string,
    place: Position = { line: 1, column: 1 },
    path: DataPath = [],
  ): Refused => ({
    findings: [{ file, ...place, path: pathText(path), rule, message, severity: "error" }],
  });

  const size = typeof text === "string" ? text.length : text.byteLength;
  if (size > documentBytesMax) {
    return refuse("too_large", `found ${size} bytes, expected at most ${documentBytesMax}`);
  } // L2

  const source = decodeText(text);
  if (source === null) {
    return refuse("not_utf8", "found bytes that are not UTF-8, expected a text file");
  }

  const nul = source.indexOf("\0");
  if (nul >= 0) {
    return refuse(
      "not_text",
      "found a NUL character, expected a text file",
      positionIn(source, nul),
    );
  }

  if (file.endsWith(".json")) {
    const fault = findJsonFault(source);
    if (fault !== null) return refuse("syntax", fault.message, fault.place);
  }

  try {
    const lines = new LineCounter();
    const tokens = parseTokens(source, lines);
    if (tokens === null) return refuse("too_deep", tooDeep); // L2

    // Keys are compared in `toPlainData`: the parser's own comparison is quadratic.
    const [document, second] = [
      ...new Composer({
        uniqueKeys: false,
        prettyErrors: false,
        version: "1.2",
        schema: "core",
      }).compose(tokens, true, source.length),
    ] as Document.Parsed[];
    if (document === undefined) return refuse("syntax", "found no document");
    if (second !== undefined) {
      return refuse(
        "syntax",
        "found a second document, expected one",
        positionAt(lines, second.range[0]),
      );
    }

    const problem = document.errors[0] ?? document.warnings[0];
    if (problem !== undefined) {
      return refuse("syntax", problem.message, positionAt(lines, problem.pos[0]));
    }

    return toPlainData(document, lines, file);
  } catch (error) {
    if (error instanceof Refusal) return refuse(error.rule, error.message, error.place, error.path); // L1
    if (error instanceof RangeError) return refuse("too_deep", tooDeep);
    return refuse("syntax", error instanceof Error ? error.message : String(error));
  }
}

/**
 * The document's tokens, or null if they nest too deep: the composer recurses, and running out of
 * stack there can end the process.
 */
function parseTokens(source: string, lines: LineCounter): CST.Token[] | null {
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  lines.addNewLine(0);

  for (const lexeme of new Lexer().lex(source)) {
    tokens.push(...parser.next(lexeme));
    if (parser.stack.length > 2 * depthMax) return null;
  }

  tokens.push(...parser.end());
  return tokens;
}

const tooDeep = `found nesting that is too deep, expected at most ${depthMax} levels`;

class Refusal extends Error {
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

function toPlainData(document: Document.Parsed, lines: LineCounter, file: string): Parsed {
  const anchors = new Map<string, Node>();
  const aliasTargets = new Map<Node, Node>();
  const openNodes = new Set<Node>();
  let nodes = 0;
  const nodePosition = (node: unknown): Position => positionAt(lines, readOffset(node));

  const convert = (node: unknown, path: DataPath): unknown => {
    const refuse = (rule: string, message: string, at: unknown = node): never => {
      throw new Refusal(rule, message, nodePosition(at), path);
    };

    nodes += 1;
    if (nodes > nodesMax) {
      refuse("too_many_nodes", `found more than ${nodesMax} values with aliases unfolded`);
    } // L2

    if (path.length > depthMax) refuse("too_deep", tooDeep); // L2
    if (node === null || node === undefined) return null;
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target === undefined) {
        return refuse(
          "unknown_anchor",
          `found *${node.source}, expected an anchor &${node.source} before it`,
        );
      }

      if (openNodes.has(target)) {
        return refuse(
          "endless_alias",
          `found *${node.source} inside its own anchor, expected data that ends`,
        );
      }

      aliasTargets.set(node, target);
      return convert(target, path);
    }

    const anchor = isMap(node) || isSeq(node) || isScalar(node) ? node.anchor : undefined;
    if (anchor !== undefined) anchors.set(anchor, node as Node);
    if (isScalar(node)) {
      if (typeof node.value === "number" && !Number.isFinite(node.value)) {
        refuse("not_finite", `found ${node.value}, expected a finite number`);
      }

      return node.value;
    }

    openNodes.add(node as Node);
    let value: unknown;

    if (isSeq(node)) {
      value = node.items.map((item, index) => convert(item, [...path, index]));
    } else if (isMap(node)) {
      const record: Record<string, unknown> = {};
      for (const pair of node.items) {
        const key = toKeyText(pair.key);
        if (key === null) {
          return refuse("key_not_text", "found a key that is not plain text", pair.key);
        }

        if (key in Object.prototype) {
          return refuse(
            "reserved_key",
            `found the key ${shown(key)}, which no document may use`,
            pair.key,
          );
        } // L3

        if (Object.hasOwn(record, key)) {
          return refuse(
            "duplicate_key",
            `found the key ${shown(key)} twice, expected it once`,
            pair.key,
          );
        } // L4

        record[key] = convert(pair.value, [...path, key]);
      }

      value = record;
    } else {
      return refuse("syntax", "found something that is neither text, number, list nor mapping");
    }

    openNodes.delete(node);
    return value;
  };
  const value = convert(document.contents, []);

  /** The node at a path and its key's node, or the deepest ones on the way. */
  const findNode = (path: DataPath): { node: unknown; key: unknown } => {
    let deepest: { node: unknown; key: unknown } = {
      node: document.contents,
      key: document.contents,
    };

    for (const part of path) {
      const node = isAlias(deepest.node) ? aliasTargets.get(deepest.node) : deepest.node;
      if (isMap(node)) {
        const pair = node.items.find((item) => toKeyText(item.key) === part);
        if (pair === undefined) return deepest;
        deepest = { node: pair.value ?? pair.key, key: pair.key };
      } else if (isSeq(node) && typeof part === "number" && node.items[part] !== undefined) {
        deepest = { node: node.items[part], key: node.items[part] };
      } else {
        return deepest;
      }
    }

    return deepest;
  };

  const positions: Positions = {
    file,
    placeOf: (path) => nodePosition(findNode(path).node),
    keyPlaceOf: (path) => nodePosition(findNode(path).key),
  };

  return { value, positions };
}

/** A key as text: numbers and words count as they are written. */
function toKeyText(key: unknown): string | null {
  if (!isScalar(key)) return null;
  if (typeof key.value === "string") return key.value;
  return typeof key.value === "number" || typeof key.value === "boolean"
    ? (key.source ?? String(key.value))
    : null;
}

function readOffset(node: unknown): number {
  const range = (node as { range?: readonly number[] | null } | null | undefined)?.range;
  return range?.[0] ?? 0;
}

function positionAt(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

function positionIn(text: string, offset: number): Position {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function decodeText(text: string | Uint8Array): string | null {
  if (typeof text === "string") return /\p{Surrogate}/u.test(text) ? null : text;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(text);
  } catch {
    return null;
  }
}

/** JSON is stricter than YAML: a .json file that is only valid YAML is refused. */
function findJsonFault(source: string): { message: string; place: Position } | null {
  try {
    JSON.parse(source);
    return null;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const offset = /position (\d+)/.exec(message)?.[1];
    return {
      message: `not JSON: ${message}`,
      place: positionIn(source, offset === undefined ? source.length : Number(offset)),
    };
  }
}
