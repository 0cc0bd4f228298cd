// expectation-lines: tells which lines of a test file probably hold an expectation, by words of
// assertions on them or near them. Pure; there is no parser.

import { type ComparedParameters, flipHelperCall } from "./shell-expectations.ts";

/** Bounds of a line, and how far from an assertion a literal may be its expectation. */
const lineCharsMax = 500;
const nearLines = 2;

/** Words of assertions: `assertEqual`, `expect`, `toBe`. */
const assertionWord =
  /\b(?:assert\w*|expect\w*|should|shouldBe|(?:strict|deep|not)?_?equals?|deepStrictEqual|strictEqual|deepEqual|toBe\w*|toEqual|toStrictEqual|toHave\w*|toContain\w*|toMatch\w*|toThrow\w*|is_deeply|is|isnt|eq|ok|same|notSame|throws|require|verify|EXPECT_\w+|ASSERT_\w+|CHECK\w*|REQUIRE\w*|mustEqual|must_equal|must)\b|\bassert\w*!/;
/**
 * A shell's own comparison (`[ "$(add 1 2)" = 3 ]`), which ends a script that stops at the first
 * failure.
 */
export const shellComparison =
  /(?:^|[\s;&|(])(?:\[\[?|test)\s.*\s(?:==?|!=|-(?:eq|ne|lt|le|gt|ge))\s/;
export const shellFile = /\.(?:sh|bash|bats)$/;
const shellDefinition = /^\s*(?:function\s+)?[\w-]+\s*\(\)/;
const cDefinition = /^[ \t]*(?:[\w*<>[\],]+[ \t]+)+\*?\w+[ \t]*\([^;{}"]*\)[^;{}]*\{/;

/** A helper that compares its arguments contains no expectation. */
function isDefinition(path: string, line: string): boolean {
  if (shellFile.test(path)) return shellDefinition.test(line);
  return /\.(?:c|cc|cpp|h|hpp)$/.test(path) && cDefinition.test(line);
}

/**
 * A shell helper that gets a program's output and the expected one (`check "$(add 1 2)" 3 "adds"`):
 * the parts around the latter.
 */
export const shellCall =
  /^(\s*[A-Za-z_][\w-]*\s(?:[^#\n]*\s)?"?\$\([^\n]*\)"?\s+)(-?\d+|"[^"$`\n]*"|'[^'\n]*')(?=\s|$|;)(.*)$/;
/** The same of a comparison. */
export const shellCompared =
  /^(.*(?:\[\[?|\btest)\s.*\s(?:==?|!=|-eq|-ne)\s+)(-?\d+|"[^"$`\n]*"|'[^'\n]*'|[a-z][\w-]*)(\s*(?:\]|$|;|&|\|).*)$/;
/** A line that reports a failure: beside a plain comparison, it makes that an assertion. */
const failureReport =
  /\b(?:t|b|tb|self|this|ctx|done)\.(?:Error|Fatal|Fail|fail)\w*\b|\b(?:fail|panic!?|process\.exit|exit|die|raise|throw)\b|\b(?:fail\w*|errors?|bad|wrong)\s*(?:\+\+|\+?=)|\+\+\s*(?:fail\w*|errors?|bad|wrong)\b/;
/**
 * A line that begins by reporting a failure: its texts are messages, unless it also compares (`die
 * "no" if $a != 3`).
 */
const reportingLine =
  /^\s*(?:\}\s*else\s*\{\s*)?(?:(?:t|b|tb|self|this|ctx|done)\.(?:Error|Fatal|Fail|fail|Log|Skip)\w*|fail|panic!?|die|raise|throw|console\.\w+|e?println!?|printf?|puts)\b/;

const isMessage = (line: string): boolean => reportingLine.test(line) && !comparesValues(line);

/** Whether code compares, outside its strings. */
export function comparesValues(code: string): boolean {
  const withoutStrings = code.replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`/g, "");
  return /[=!<>]=|\b(?:if|unless|eq|ne)\b/.test(withoutStrings);
}

const answerNames = /\b(?:want|wanted|expected|expects|output|out|result|answer)\b/i;
/** Comments, imports and attributes. */
const otherLine =
  /^\s*(?:\/\/|\/\*|\*|#(?!\[)|--|;|<!--|"""|''')|^\s*(?:import\b|export\s.*\bfrom\b|from\s|package\s|use\s|using\s|#include|require\s|@)|\brequire\(["']/;

/**
 * How likely each line holds an expectation (`Flip.score`); null if it holds none. `helpers`: the
 * functions of a shell script that compare.
 */
export function rateLines(
  path: string,
  lines: readonly string[],
  helpers: ReadonlyMap<string, ComparedParameters>,
): readonly (number | null)[] {
  const isShell = shellFile.test(path);
  const callsOwnAssertion = findOwnAssertions(lines);

  const isAssertion = (line: string): boolean =>
    assertionWord.test(line) ||
    callsOwnAssertion(line) ||
    flipHelperCall(line, helpers) !== null ||
    (isShell && (shellComparison.test(line) || shellCall.test(line)));

  const isShort = (line: string): boolean => line.length <= lineCharsMax;
  const areAssertions = lines.map(
    (line) => isShort(line) && !otherLine.test(line) && isAssertion(line),
  );
  const areRelated = lines.map(
    (line, index) => areAssertions[index] === true || (isShort(line) && failureReport.test(line)),
  );

  return lines.map((line, index) => {
    const holdsNone = otherLine.test(line) || isDefinition(path, line) || isMessage(line);
    if (!isShort(line) || holdsNone) return null;
    if (areAssertions[index] === true) return 3;

    const nearby = areRelated.slice(Math.max(0, index - nearLines), index + nearLines + 1);
    if (!nearby.includes(true)) return null;
    return answerNames.test(line) ? 2 : 1;
  });
}

/**
 * `static void check(Object got, Object want) {` with a line below that reports a failure: its
 * calls are assertions.
 */
function findOwnAssertions(lines: readonly string[]): (line: string) => boolean {
  const names = lines.flatMap((line, index) => {
    const isOpenedBelow = lines[index + 1]?.trim() === "{";
    const head = isOpenedBelow ? `${line} {` : line;
    const name = head.length > lineCharsMax ? undefined : functionHead.exec(head)?.[1];
    if (name === undefined || statementWord.test(name)) return [];

    const body = readBody(lines, index);
    return body.some((part) => failureReport.test(part)) ? [name] : [];
  });
  if (names.length === 0) return () => false;

  const call = new RegExp(`^\\s*(?:${names.join("|")})\\s*\\(`);
  return (line) => call.test(line) && !functionHead.test(line);
}

/** The lines of a function, as far as its closing bracket in the column of its head. */
function readBody(lines: readonly string[], head: number): readonly string[] {
  const indent = /^\s*/.exec(lines[head] ?? "")?.[0] ?? "";
  const body = lines.slice(head, head + bodyLinesMax);
  const end = body.findIndex((line) => line.trimEnd() === `${indent}}`);
  return end === -1 ? body : body.slice(0, end);
}

const functionHead = /\b([A-Za-z_]\w*)\s*\([^()\n]*\)\s*(?:throws\s+[\w.]+\s*)?\{/;
const statementWord = /^(?:if|for|while|switch|catch|main)$/;
const bodyLinesMax = 15;
