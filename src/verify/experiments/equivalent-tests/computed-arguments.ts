// computed-arguments: rewrites the texts and numbers that a test file gives to the work's functions
// so that they are computed while the tests run. A caller's values come out of a computation; code
// that asks whether a value was written out (is it interned, may it be written to, who else holds
// it) can tell a test by it. Pure.
//
// Invariants:
//   A1. An argument is equal to what it was, and of the same type. Only whole arguments that are
//       written out, of calls by the name of a function that the work changed, or of a helper of
//       the test file that calls one.
//   A2. As many lines as before.

import { detectSourceLanguage, type SourceLanguage } from "../../protected/source-language.ts";
import { maskText } from "../../protected/mask-text.ts";
import { parseArguments } from "../broken-expectations/assertion-flips.ts";
import { applyChanges, type TextChange } from "../source-text/apply-changes.ts";
import { findFunctions } from "../source-text/definitions.ts";
import { perlTestFile } from "../source-text/perl-tests.ts";

const callsMax = 400;

/** The test file with computed arguments; the same text if it has none. */
export function computeArguments(path: string, text: string, functions: readonly string[]): string {
  const compute = perlTestFile.test(path)
    ? computed.perl
    : computed[detectSourceLanguage(path) ?? ""];
  if (compute === undefined || functions.length === 0) return text;
  const code = maskText(text, detectSourceLanguage(path) ?? "py");
  const call = createCallPattern([...functions, ...findCallers(path, text, functions)]);
  const changes: TextChange[] = [];

  for (const { 0: head, index } of [...code.matchAll(call)].slice(0, callsMax)) {
    const args = parseArguments(code, index + head.length - 1)?.args ?? [];
    for (const span of args) {
      const replacement = compute(text.slice(span.from, span.to));
      if (replacement !== null) changes.push({ ...span, text: replacement });
    }
  }

  return applyChanges(text, changes);
}

/** Not the definition of a function of that name, nor a new object of a class. */
const createCallPattern = (names: readonly string[]): RegExp =>
  new RegExp(`\\b(?<!\\b(?:def|sub|new)\\s+)(?:${names.join("|")})\\s*\\(`, "g");

/** Functions of the test file that call one of these. */
function findCallers(path: string, text: string, functions: readonly string[]): readonly string[] {
  const call = createCallPattern(functions);
  return findFunctions(path, text)
    .filter((definition) => definition.text.search(call) !== -1)
    .map(({ name }) => name);
}

/** How each language computes a literal; null if the argument is none that is known. */
const computed: Readonly<
  Partial<Record<SourceLanguage | "perl" | "", (argument: string) => string | null>>
> = {
  // Neither is folded into a constant before the program runs.
  perl: (argument) => {
    if (/^(?:'[^'\\\n]*'|"[^"\\$@\n]*")$/.test(argument)) return `(substr(${argument}, 0) . "")`;
    return /^[1-9]\d{0,8}$/.test(argument) ? `(substr("${argument}", 0) + 0)` : null;
  },
  py: (argument) => {
    const [, quote = "", inner = ""] = /^(["'])([^"'\\\n]{2,})\1$/.exec(argument) ?? [];
    if (inner === "") return null;
    const half = Math.floor(inner.length / 2);

    return `"".join((${quote}${inner.slice(0, half)}${quote}, ${quote}${inner.slice(half)}${quote}))`;
  },
  java: (argument) => (/^"(?:[^"\\\n]|\\.)*"$/.test(argument) ? `new String(${argument})` : null),
};
