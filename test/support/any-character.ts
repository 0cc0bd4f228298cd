// any-character: every character there is, for texts that a property makes up.

import * as fc from "fast-check";

const surrogatesFrom = 0xd8_00;
const surrogates = 0x8_00;
const characters = 0x11_00_00 - surrogates;

/**
 * As fast-check's own `unit: "binary"`, which makes a table of a million characters before the
 * first text: a second of computing in each worker.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat({ max: characters - 1 }).map(
  (at) => String.fromCodePoint(at < surrogatesFrom ? at : at + surrogates),
  (character) => {
    const code = typeof character === "string" ? (character.codePointAt(0) ?? -1) : -1;
    if (code < 0 || character !== String.fromCodePoint(code)) throw new Error("no character");
    return code < surrogatesFrom ? code : code - surrogates;
  },
);
