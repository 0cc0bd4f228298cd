// given-arguments: finds out whether a call is given anything that the code could choose. Pure.

import type { Source } from "./read-source.ts";

/** Whether the first call of a value is given anything but literals. */
export function isGivenSomething(
  { code, brackets: { partner } }: Source,
  from: number,
  to: number,
): boolean {
  const call = /^[\s.\w]*\(/.exec(code.slice(from, to));
  if (call === null) return false;
  const open = from + call[0].length - 1;
  const chosenText = code
    .slice(open + 1, partner[open] ?? open)
    .replaceAll(
      /\b(?:\w+\s*(?:=(?!=)|:)|None|True|False|true|false|null|undefined|\w+\.[A-Z_]+)|["'][\s]*["']/g,
      "",
    );
  return /[A-Za-z_]/.test(chosenText.replaceAll(/\b[rbf]+\b|\d\w*/g, ""));
}
