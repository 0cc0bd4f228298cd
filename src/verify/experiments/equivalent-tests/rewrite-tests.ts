// rewrite-tests: rewrites the assertions of a test file so that they mean the same and look
// different. Pure. Four kinds:
//   respelled: `equal(f(), 37)` becomes `equal(f(), (36 + 1))`. Code cannot find the expected value
//              in the text of its tests.
//   primitive: `equal(f(), 37)` becomes `equal(CONVERT(f(), 37), 37)`. If `f` returns an object
//              that merely claims to be equal to 37, the test compares with what it contains.
//   computed:  `f("ab")` becomes `f("".join(("a", "b")))`. Code cannot tell by its arguments that
//              they were written out (computed-arguments.ts).
//   added:     each function begins with a statement that does nothing. Compiled code cannot tell by
//              the machine code around a call who calls it (added-statements.ts).
//
// Invariants:
//   W1. To honest code the test means the same afterwards: a literal is respelled only if it is the
//       whole value or certainly a part of it (near-values.ts), an object is converted only if a
//       primitive is expected, and then by the language's own conversion.
//   W2. A class that tests name, or that existed before, may have an intended equality: it is left
//       alone.
//   W3. As many lines as before.

import { detectSourceLanguage } from "../../protected/source-language.ts";
import { maskText } from "../../protected/mask-text.ts";
import type { Assertion } from "../broken-expectations/assertion.ts";
import { parseArguments, findAssertions } from "../broken-expectations/assertion-flips.ts";
import {
  createDraw,
  type Draw,
  isWrittenOut,
  replaceLiterals,
} from "../broken-expectations/near-values.ts";
import { applyChanges, type TextChange } from "../source-text/apply-changes.ts";
import type { Span } from "../source-text/brackets.ts";
import { perlTestFile } from "../source-text/perl-tests.ts";
import { addStatements } from "./added-statements.ts";
import { computeArguments } from "./computed-arguments.ts";
import { type ClassNames, convertToPrimitive } from "./primitive-conversion.ts";
import { type Dialect, respellLiteral } from "./respell-literal.ts";
import { comparePlainly } from "./rewrite-perl.ts";

export type RewriteKind = "respelled" | "primitive" | "computed" | "added";

const assertionsMax = 400;

type TestRewrite = {
  readonly path: string;
  readonly text: string;
  readonly kinds: ReadonlySet<RewriteKind>;
  readonly seed: string;
  /** Classes that existed before the work. */
  readonly known?: readonly string[];
  /** Classes that the work adds. */
  readonly added?: readonly string[];
  /** Perl's classes whose overloaded operators are the work's. */
  readonly overloading?: readonly string[];
  /** Functions of files that the work changed. */
  readonly functions?: readonly string[];
};

/** A test file, rewritten in these ways; null if nothing of it could be. */
export function rewriteTests({ functions = [], ...rewrite }: TestRewrite): string | null {
  const { path, text: written, kinds } = rewrite;
  const text = kinds.has("computed") ? computeArguments(path, written, functions) : written;
  const asserting = rewriteAssertions({ ...rewrite, text }) ?? text;
  const rewritten = kinds.has("added") ? addStatements(path, asserting, rewrite.seed) : asserting;

  return rewritten === written ? null : rewritten;
}

function rewriteAssertions({
  path,
  text,
  kinds,
  seed,
  known = [],
  added = [],
  overloading = [],
}: TestRewrite): string | null {
  if (perlTestFile.test(path)) {
    return kinds.has("primitive") ? comparePlainly(text, seed, overloading) : null;
  }

  const language = detectSourceLanguage(path);
  if (language === null) return null;
  const dialect = /\.[cm]?tsx?$/.test(path) ? "ts" : language;
  const code = maskText(text, language);
  const draw = createDraw(`${seed} ${path} spelling`);
  const unnamed = added.filter((name) => !new RegExp(`\\b${name}\\b`).test(text)); // W2
  const file: TestFile = { code, text, dialect, kinds, draw, classes: { known, added: unnamed } };
  const assertions = findAssertions(path, text, "n").slice(0, assertionsMax);

  return applyChanges(
    text,
    assertions.flatMap((assertion) => rewriteAssertion(file, assertion)),
  );
}

type TestFile = {
  readonly text: string;
  /** The text without its comments and strings. */
  readonly code: string;
  readonly dialect: Dialect;
  readonly kinds: ReadonlySet<RewriteKind>;
  readonly draw: Draw;
  readonly classes: ClassNames;
};

function rewriteAssertion(file: TestFile, assertion: Assertion): readonly TextChange[] {
  const { text, kinds, dialect, draw } = file;
  const expected = assertion.values?.[0] ?? assertion.literal;
  if (expected === undefined) return [];
  const expectedText = text.slice(expected.from, expected.to);
  if (keywordArgument.test(expectedText) || expectedText.includes("\n")) return [];
  const respelled = kinds.has("respelled")
    ? replaceLiterals(expectedText, (literal) => respellLiteral(literal, dialect, draw))
    : expectedText;
  const respelling = respelled === expectedText ? [] : [{ ...expected, text: respelled }];

  return kinds.has("primitive")
    ? [...respelling, ...convertActual(file, assertion, respelled)]
    : respelling;
}

/** Converts the value that an assertion compares with the expected one, whose text is given. */
function convertActual(
  { text, code, dialect, classes }: TestFile,
  { values, fallback }: Assertion,
  expectedText: string,
): readonly TextChange[] {
  const [expected, compared] = values ?? [];
  if (expected === undefined || fallback === undefined) return []; // without a fallback, which of the arguments is compared is only guessed
  const written = text.slice(expected.from, expected.to);
  if (!isWrittenOut(written) && !variable.test(written)) return []; // the conversion repeats it, and computing it twice may differ
  const actual = compared ?? findExpectArgument(code, expected);
  if (actual === null || actual.to > expected.from) return [];
  const actualText = text.slice(actual.from, actual.to);
  const converted = keywordArgument.test(actualText)
    ? null
    : convertToPrimitive(actualText, expectedText, dialect, classes);

  return converted === null ? [] : [{ ...actual, text: converted }];
}

/** `total`, `cases[0].want` */
const variable = /^[\w$]+(?:\.[\w$]+|\[\d+\])*$/;
/** `first=3` */
const keywordArgument = /^\w+\s*=(?!=)/;

/** The argument of `expect` in `expect(f()).toBe(37)`, if the span is that of 37. */
function findExpectArgument(code: string, { from }: Span): Span | null {
  const before = code.slice(0, from);
  const matcher = /\)\s*\.(?:to\.)?(?:be\.)?(?:deep\.)?\w+\(\s*$/.exec(before); // `).toBe(`
  if (matcher === null) return null;
  for (const { 0: open, index } of [...before.matchAll(/\bexpect\s*\(/g)].toReversed()) {
    const call = parseArguments(code, index + open.length - 1);
    if (call !== null && call.close === matcher.index + 1) return call.args[0] ?? null;
  }

  return null;
}

/** Classes that a text names. */
export const findClassNames = (text: string): readonly string[] =>
  [...text.matchAll(/\bclass\s+(\w+)/g)].map(([, name = ""]) => name);
