// batch: gathers lines on their way to the disk in a growing byte buffer. Each put function makes
// room for what it adds; whoever writes into the bytes directly reserves first.

/** Bytes that are used, and room behind them. */
export type Batch = { bytes: Buffer; used: number };

export function reserve(batch: Batch, bytes: number): void {
  const needed = batch.used + bytes;
  if (needed > batch.bytes.length) enlarge(batch, needed);
}

function enlarge(batch: Batch, needed: number): void {
  const larger = Buffer.allocUnsafeSlow(Math.max(needed, batch.bytes.length * 2));
  batch.bytes.copy(larger, 0, 0, batch.used);
  batch.bytes = larger;
}

/**
 * A part of a buffer; a plain Uint8Array is created several times faster than a Buffer, and it
 * happens once or twice a line.
 */
export function toByteView(bytes: Buffer, start: number, end: number): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start);
}

/** Puts our own short ASCII texts. A loop is faster than a native call for these. */
export function putAscii(batch: Batch, text: string): void {
  reserve(batch, text.length);
  const { bytes, used } = batch;
  for (let index = 0; index < text.length; index++) bytes[used + index] = text.charCodeAt(index);
  batch.used = used + text.length;
}

export function putByte(batch: Batch, byte: number): void {
  reserve(batch, 1);
  batch.bytes[batch.used++] = byte;
}

/** 2147483647 has ten. */
const int31DigitsMax = 10;
const zeroDigit = "0".charCodeAt(0);

/** Puts a number as JSON writes it; it is finite, and not minus zero. */
export function putNumber(batch: Batch, value: number): void {
  if ((value | 0) !== value || value < 0)
  // a fraction, negative, or above 31 bits
  {
    return putAscii(batch, String(value));
  }

  reserve(batch, int31DigitsMax);
  let digits = 1;
  for (let rest = value; rest >= 10; rest = (rest / 10) | 0) digits++;
  const { bytes, used } = batch;
  for (let index = used + digits - 1, rest = value; index >= used; index--) {
    const tenth = (rest / 10) | 0;
    bytes[index] = zeroDigit + rest - tenth * 10;
    rest = tenth;
  }

  batch.used = used + digits;
}
