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
import { Composer, type CST, Lexer, LineCounter, Parser } from "yaml";
import { pathText, type DataPath, type Finding, type Position } from "./finding.ts";
import { findIssues } from "./located-issues.ts";
import {
  depthMax,
  positionAt,
  Refusal,
  tooDeep,
  toPlainData,
  type PlainData,
} from "./plain-data.ts";

export const documentBytesMax = 1_048_576;
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
  try {
    const source = readSource(file, text);
    const { value, placeOf, keyPlaceOf } = parseYaml(source);
    return { value, positions: { file, placeOf, keyPlaceOf } };
  } catch (error) {
    const { rule, message, place, path } = toRefusal(error); // L1
    return {
      findings: [{ file, ...place, path: pathText(path), rule, message, severity: "error" }],
    };
  }
}

function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof RangeError) return refusal("too_deep", tooDeep);
  return refusal("syntax", error instanceof Error ? error.message : String(error));
}

/** A refusal that is about no value: about a place in the text, or all of it. */
const refusal = (
  rule: string,
  message: string,
  place: Position = { line: 1, column: 1 },
): Refusal => new Refusal(rule, message, place, []);

/** The text of a document that may be parsed. Throws a `Refusal`. */
function readSource(file: string, text: string | Uint8Array): string {
  const size = typeof text === "string" ? text.length : text.byteLength;
  if (size > documentBytesMax) {
    throw refusal("too_large", `found ${size} bytes, expected at most ${documentBytesMax}`);
  } // L2

  const source = decodeText(text);
  if (source === null) {
    throw refusal("not_utf8", "found bytes that are not UTF-8, expected a text file");
  }

  const nul = source.indexOf("\0");
  if (nul >= 0) {
    const message = "found a NUL character, expected a text file";
    throw refusal("not_text", message, positionIn(source, nul));
  }

  const fault = file.endsWith(".json") ? findJsonFault(source) : null;
  if (fault !== null) throw refusal("syntax", fault.message, fault.place);
  return source;
}

/** Throws a `Refusal`, or whatever the parser throws. */
function parseYaml(source: string): PlainData {
  const lines = new LineCounter();
  const tokens = parseTokens(source, lines);
  if (tokens === null) throw refusal("too_deep", tooDeep); // L2

  const composer = new Composer({
    uniqueKeys: false, // The parser's own comparison of keys is quadratic; `toPlainData` has one.
    prettyErrors: false,
    version: "1.2",
    schema: "core",
  });
  const composed = [...composer.compose(tokens, true, source.length)];
  const [document, secondDocument] = composed;

  if (document === undefined) throw refusal("syntax", "found no document");
  if (secondDocument !== undefined) {
    const place = positionAt(lines, secondDocument.range[0]);
    throw refusal("syntax", "found a second document, expected one", place);
  }

  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined) {
    throw refusal("syntax", problem.message, positionAt(lines, problem.pos[0]));
  }

  return toPlainData(document, lines);
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
