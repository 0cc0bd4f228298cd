// java-asserts: turns off Java's assertions, which run only if a test asks for them. Pure.

import { findOutsideBrackets } from "../source-text/brackets.ts";
import type { TextChange } from "../source-text/apply-changes.ts";

/**
 * `assert x : message` becomes `assert true || (x) : message`, so that its condition isn't
 * evaluated.
 */
export function switchJavaAsserts(
  code: string,
  isNew: (from: number, to: number) => boolean,
): readonly TextChange[] {
  return [...code.matchAll(/(?<=[;{}\s])assert\b(?=[\s(])/g)].flatMap(({ 0: word, index }) => {
    const from = index + word.length;
    let choices = 0;
    const to = findOutsideBrackets(code, from, code.length, (letter) => {
      if (letter === "?") choices += 1;
      return letter === ";" || (letter === ":" && choices-- === 0);
    });

    if (!isNew(index, to)) return [];
    return [
      { from, to: from, text: " true || (" },
      { from: to, to, text: ")" },
    ];
  });
}
