// json-bytes: writes a value's JSON directly into a batch, and copies the value in the same pass.
// Done separately, both cost several times as much.
//
// Invariants:
//   N1. The bytes are those of JSON.stringify.
//   N2. The copy equals what JSON.parse makes of the bytes, and shares nothing with the value that
//       could change. A value for which that is not certain is `unsupported`: its bytes are
//       discarded, and JSON.stringify is used.

import { type Batch, putAscii, putByte, putNumber, reserve } from "./batch.ts";

/** Returned in place of a copy. */
export const unsupported = Symbol("unsupported");
type Unsupported = typeof unsupported;
type Plain = Record<string, unknown>;

/** Deeper values, cyclic ones among them, are left to JSON.stringify. */
const depthMax = 8;
/** Longer texts go to the native functions, which are faster for them. */
const shortCharsMax = 128;
/** A UTF-16 unit has at most three bytes in UTF-8; a pair of units has four. */
export const utf8BytesPerUnitMax = 3;
const quote = 34;
const backslash = 92;
const comma = 44;
const colon = 58;
const openArray = 91;
const closeArray = 93;
const openObject = 123;
const closeObject = 125;

/** Puts a string in quotes. */
export function putText(batch: Batch, text: string): void {
  const { length } = text;
  if (length > shortCharsMax) return putEscaped(batch, text);
  reserve(batch, length + 2);
  const { bytes, used } = batch;
  bytes[used] = quote;

  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index);
    if (code < 32 || code > 126 || code === quote || code === backslash) {
      return putEscaped(batch, text);
    }

    bytes[used + 1 + index] = code;
  }

  bytes[used + 1 + length] = quote;
  batch.used = used + length + 2;
}

function putEscaped(batch: Batch, text: string): void {
  const escaped = JSON.stringify(text);
  reserve(batch, escaped.length * utf8BytesPerUnitMax);
  batch.used += batch.bytes.write(escaped, batch.used, "utf8");
}

/** Puts a value and returns its copy, or `unsupported`: then the bytes put so far are worthless. */
export function putValue(batch: Batch, value: unknown, depth: number): unknown {
  if (typeof value === "string") {
    putText(batch, value);
    return value;
  }

  if (typeof value === "number") {
    if (!Number.isFinite(value) || Object.is(value, -0)) return unsupported;
    putNumber(batch, value);
    return value;
  }

  if (typeof value === "boolean" || value === null) {
    putAscii(batch, String(value));
    return value;
  }

  if (typeof value !== "object" || depth > depthMax) return unsupported;
  return Array.isArray(value)
    ? putArray(batch, value, depth)
    : putObject(batch, value as Plain, depth);
}

function putArray(
  batch: Batch,
  values: readonly unknown[],
  depth: number,
): readonly unknown[] | Unsupported {
  if (Object.getPrototypeOf(values) !== Array.prototype) return unsupported;
  const copy: unknown[] = [];
  putByte(batch, openArray);

  for (let index = 0; index < values.length; index++) {
    if (index > 0) putByte(batch, comma);
    const copied = putValue(batch, values[index], depth + 1);
    if (copied === unsupported) return unsupported;
    copy.push(copied);
  }

  putByte(batch, closeArray);
  return copy;
}

function putObject(batch: Batch, values: Plain, depth: number): Plain | Unsupported {
  if (Object.getPrototypeOf(values) !== Object.prototype) return unsupported;
  const copy: Plain = {};
  putByte(batch, openObject);
  const names = Object.keys(values);
  for (let index = 0; index < names.length; index++) {
    const name = names[index] ?? "";
    if (index > 0) putByte(batch, comma);
    const copied = putNamed(batch, name, values[name], depth + 1);
    if (copied === unsupported) return unsupported;
    copy[name] = copied;
  }

  putByte(batch, closeObject);
  return copy;
}

/** Puts a name and its value, and returns the value's copy. */
export function putNamed(batch: Batch, name: string, value: unknown, depth: number): unknown {
  // Assigning the first changes the copy's prototype; the second may be a function that
  // JSON.stringify calls.
  if (name === "__proto__" || name === "toJSON") return unsupported;
  putText(batch, name);
  putByte(batch, colon);

  return putValue(batch, value, depth);
}
