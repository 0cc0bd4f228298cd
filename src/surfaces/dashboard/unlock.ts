// unlock: lets a browser tab make changes after its user typed the code that the terminal shows.
// Needed when an agent runs as the same user, because that agent could read the page's token.
//
// Invariants:
//   U1. The code is shown in the terminal alone; it is never sent to a page, and a tab gets its own
//       key for it.
//   U2. A few wrong codes end the guessing until the server is started again.

import { randomBytes, randomInt } from "node:crypto";
import { isEqualConstantTime } from "./guards.ts";

const codeAlphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"; // without I, O, 0 and 1, which are easily confused
const codeChars = 6;
const triesMax = 5;
/** Tabs that may act at one time; the oldest key lapses. */
const keysMax = 20;

export type Unlock = {
  readonly code: string;
  /** A key for the tab that typed the code; `shut` once it was wrong too often. */
  readonly tryCode: (code: string) => { readonly key: string } | "wrong" | "shut";
  /** Whether a tab got this key for the code. */
  readonly isKey: (key: string | undefined) => boolean;
};

export function openUnlock(): Unlock {
  const code = Array.from(
    { length: codeChars },
    () => codeAlphabet[randomInt(codeAlphabet.length)],
  ).join("");

  const keys: string[] = [];
  let wrongCodes = 0;
  return {
    code,
    tryCode: (typedCode) => {
      if (wrongCodes >= triesMax) return "shut"; // U2
      if (!isEqualConstantTime(typedCode.trim().toUpperCase(), code)) {
        wrongCodes++;
        return "wrong";
      }

      wrongCodes = 0;
      const key = randomBytes(24).toString("base64url"); // U1
      keys.push(key);
      if (keys.length > keysMax) keys.shift();

      return { key };
    },
    isKey: (key) =>
      key !== undefined && keys.some((candidate) => isEqualConstantTime(key, candidate)),
  };
}
