// written-calls: tells whether a piece of an example is a value or a call that can be evaluated
// alone, because everything in it is written out.
// Invariants A1 and on: verify/experiments/documents/usage-examples.ts.

import { maskText } from "../../protected/mask-text.ts";
import { isClosedOver, isWrittenOut } from "../broken-expectations/near-values.ts";
import { findClosingBracket } from "../source-text/brackets.ts";

/** A1: one call of a known function, with nothing behind it. */
export function isPlainCall(code: string, knownNames: ReadonlySet<string>): boolean {
  const name = /^([A-Za-z_$][\w$]*)\(/.exec(code)?.[1];
  if (name === undefined || !knownNames.has(name) || !code.endsWith(")")) return false;
  if (findClosingBracket(maskText(code, "js"), code.indexOf("(")) !== code.length) return false;

  return isClosedOver(toFinite(code), knownNames) && !/\bMath\.random\b/.test(code);
}

export const isWrittenValue = (code: string): boolean =>
  code.trim() !== "" && isWrittenOut(toFinite(code));

/** Numbers without digits are literals too. */
const toFinite = (code: string): string => code.replaceAll(/\b(?:NaN|Infinity)\b/g, "0");
