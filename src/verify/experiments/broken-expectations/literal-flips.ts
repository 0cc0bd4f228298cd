// literal-flips: makes expectations in a test file wrong by changing one literal. Pure.
//
// Invariants:
//   F1. There is no parser: a literal near an assertion word is a candidate. Whether changing it
//       fails a test is decided by running it.
//   F2. A flip keeps the literal's kind, and a number stays close: a typed language still compiles
//       it.
//   F3. Bounded in lines and characters per file; one candidate per line.

import { listSome } from "../../../kit/list-some.ts";
import { createDraw, negateBoolean, toOtherLiteral } from "./near-values.ts";
import { flipHelperCall, findComparingFunctions } from "./shell-expectations.ts";

/**
 * An expectation of a test that is made wrong: the line as it was, and with another literal or
 * assertion.
 */
export type Flip = {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** The whole line, or lines, before and after: the same number. */
  readonly was: string;
  readonly broken: string;
  /**
   * How likely it is an expectation: 4 an assertion with another expectation, 3 beside an
   * assertion, 2 a recorded answer next to one, 1 near one.
   */
  readonly score: number;
  /** For a line of data: the script that reads it. */
  readonly readBy?: string;
};

/** Bounds of a file (F3), and how far from an assertion a literal may be its expectation. */
const lineCharsMax = 500;
const linesMax = 20_000;
const nearLines = 2;

/** Words of assertions: `assertEqual`, `expect`, `toBe`. */
const assertionWord =
  /\b(?:assert\w*|expect\w*|should|shouldBe|(?:strict|deep|not)?_?equals?|deepStrictEqual|strictEqual|deepEqual|toBe\w*|toEqual|toStrictEqual|toHave\w*|toContain\w*|toMatch\w*|toThrow\w*|is_deeply|is|isnt|eq|ok|same|notSame|throws|require|verify|EXPECT_\w+|ASSERT_\w+|CHECK\w*|REQUIRE\w*|mustEqual|must_equal|must)\b|\bassert\w*!/;
/**
 * A shell's own comparison (`[ "$(add 1 2)" = 3 ]`), which ends a script that stops at the first
 * failure.
 */
const shellComparison = /(?:^|[\s;&|(])(?:\[\[?|test)\s.*\s(?:==?|!=|-(?:eq|ne|lt|le|gt|ge))\s/;
export const shellFile = /\.(?:sh|bash|bats)$/;
const shellDefinition = /^\s*(?:function\s+)?[\w-]+\s*\(\)/;
const cDefinition = /^[ \t]*(?:[\w*<>[\],]+[ \t]+)+\*?\w+[ \t]*\([^;{}"]*\)[^;{}]*\{/;
/** A helper that compares its arguments contains no expectation. */
const isDefinition = (path: string, line: string): boolean =>
  (shellFile.test(path) && shellDefinition.test(line)) ||
  (/\.(?:c|cc|cpp|h|hpp)$/.test(path) && cDefinition.test(line));
/**
 * A shell helper that gets a program's output and the expected one (`check "$(add 1 2)" 3 "adds"`):
 * the parts around the latter.
 */
export const shellCall =
  /^(\s*[A-Za-z_][\w-]*\s(?:[^#\n]*\s)?"?\$\([^\n]*\)"?\s+)(-?\d+|"[^"$`\n]*"|'[^'\n]*')(?=\s|$|;)(.*)$/;
const shellCompared =
  /^(.*(?:\[\[?|\btest)\s.*\s(?:==?|!=|-eq|-ne)\s+)(-?\d+|"[^"$`\n]*"|'[^'\n]*'|[a-z][\w-]*)(\s*(?:\]|$|;|&|\|).*)$/;
/** A line that reports a failure: beside a plain comparison, it makes that an assertion. */
const failureReport =
  /\b(?:t|b|tb|self|this|ctx|done)\.(?:Error|Fatal|Fail|fail)\w*\b|\b(?:fail|panic!?|process\.exit|exit|die|raise|throw)\b|\b(?:fail\w*|errors?|bad|wrong)\s*(?:\+\+|\+?=)|\+\+\s*(?:fail\w*|errors?|bad|wrong)\b/;
/**
 * A line that begins by reporting a failure: its texts are messages, unless it also compares (`die
 * "no" if $a != 3`).
 */
const reportingLine =
  /^\s*(?:\}\s*else\s*\{\s*)?(?:(?:t|b|tb|self|this|ctx|done)\.(?:Error|Fatal|Fail|fail|Log|Skip)\w*|fail|panic!?|die|raise|throw|console\.\w+|println!?|eprintln!|printf|puts)\b/;
const isMessage = (line: string): boolean =>
  reportingLine.test(line) &&
  !/[=!<>]=|\b(?:if|unless|eq|ne)\b/.test(
    line.replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`/g, ""),
  );
const answerNames = /\b(?:want|wanted|expected|expects|output|out|result|answer)\b/i;
/** Comments, imports and attributes. */
const otherLine =
  /^\s*(?:\/\/|\/\*|\*|#(?!\[)|--|;|<!--|"""|''')|^\s*(?:import\b|export\s.*\bfrom\b|from\s|package\s|use\s|using\s|#include|require\s|@)|\brequire\(["']/;

const literal =
  /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\$\n]|\\.)*`|\b(?:true|false|True|False)\b|(?<![\w.$#]|\d[eE][-+]?)-?\d{1,12}(?:\.\d{1,12})?(?![\w.])/g;

/** The candidates of a file, in the order of its lines. */
export function createLiteralFlips(path: string, text: string): readonly Flip[] {
  const lines = text.split("\n").slice(0, linesMax); // F3
  const helpers = shellFile.test(path) ? findComparingFunctions(text) : new Map<string, number>();
  const callsOwnAssertion = findOwnAssertions(lines);

  const isAssertion = (line: string): boolean =>
    assertionWord.test(line) ||
    callsOwnAssertion(line) ||
    flipHelperCall(line, helpers) !== null ||
    (shellFile.test(path) && (shellComparison.test(line) || shellCall.test(line)));
  const areAssertions = lines.map(
    (line) => line.length <= lineCharsMax && !otherLine.test(line) && isAssertion(line),
  );
  const areRelated = lines.map(
    (line, index) =>
      areAssertions[index] === true || (line.length <= lineCharsMax && failureReport.test(line)),
  );

  return lines.flatMap((was, index) => {
    if (
      was.length > lineCharsMax ||
      otherLine.test(was) ||
      isDefinition(path, was) ||
      isMessage(was)
    ) {
      return [];
    }

    const isNear = areRelated
      .slice(Math.max(0, index - nearLines), index + nearLines + 1)
      .includes(true);
    if (areAssertions[index] !== true && !isNear) return [];
    const broken =
      flipHelperCall(was, helpers) ?? (shellFile.test(path) ? flipShellLine(was) : flipLine(was));
    if (broken === null) return [];
    const weakScore = answerNames.test(was) ? 2 : 1;

    return [
      { path, line: index + 1, was, broken, score: areAssertions[index] === true ? 3 : weakScore },
    ];
  });
}

/**
 * `static void check(Object got, Object want) {` with a line below that reports a failure: its
 * calls are assertions.
 */
function findOwnAssertions(lines: readonly string[]): (line: string) => boolean {
  const names = lines.flatMap((line, index) => {
    const name = line.length > lineCharsMax ? undefined : functionHead.exec(line)?.[1];
    const body = lines.slice(index, index + bodyLines);
    return name !== undefined &&
      !/^(?:if|for|while|switch|catch|main)$/.test(name) &&
      body.some((part) => failureReport.test(part))
      ? [name]
      : [];
  });

  const call = new RegExp(`^\\s*(?:${names.join("|")})\\s*\\(`);
  return (line) => names.length > 0 && call.test(line) && !functionHead.test(line);
}
const functionHead = /\b([A-Za-z_]\w*)\s*\([^()\n]*\)\s*(?:throws\s+[\w.]+\s*)?\{/;
const bodyLines = 4;

function flipShellLine(line: string): string | null {
  const call = shellCall.exec(line) ?? shellCompared.exec(line);
  if (call !== null) return flipShellCall(call);
  const hasExpansion = /[$`]/.test(line); // then its strings aren't literals

  return hasExpansion || shellComparison.test(line) ? null : flipLine(line);
}

/**
 * A helper's call or a comparison with another expectation. Of `assert_eq "aa" "$(repeat a 2)"
 * "repeats"` nobody knows which of the two texts is the expectation and which the title, so both
 * are changed.
 */
function flipShellCall([line, head = "", expected = "", tail = ""]: RegExpExecArray): string {
  const change = (literalText: string): string =>
    toOtherLiteral(literalText, createDraw(line), true, line);
  const before = firstShellArgument.exec(head);
  const changedHead =
    before === null
      ? head
      : `${before[1]}${change(before[2] ?? "")}${head.slice(before[0].length)}`;

  return `${changedHead}${change(expected)}${tail}`;
}
const firstShellArgument = /^(\s*[A-Za-z_][\w-]*\s+)(-?\d+|"[^"$`\n]*"|'[^'\n]*')(?=\s+"?\$\()/;

/**
 * The command with one of the literals changed that it compares with, for each of them; if it
 * compares with none, for each literal that names no file or module. A string with code in it has
 * its own literals.
 */
export function createCommandVariants(command: string): readonly string[] {
  const all = listLiteralChanges(command);
  const compared = all.filter(({ isCompared }) => isCompared);
  return (compared.length > 0 ? compared : all).map(({ text }) => text);
}

/** What is before a literal that something is compared with. */
const beforeCompared = /(?:[=!]==?|[<>]=?|[^=!<>]=|-eq|-ne|\bgrep\s+(?:-\w+\s+)*)\s*$/;
/** What is before the name of a module. */
const beforeModule = /(?:\bimport|\brequire|\bfrom)\s*\(?\s*$/;

function listLiteralChanges(
  line: string,
): readonly { readonly text: string; readonly isCompared: boolean }[] {
  return [...line.matchAll(literal)].flatMap(({ 0: text, index }) => {
    const [before, after, quote] = [
      line.slice(0, index),
      line.slice(index + text.length),
      text[0] ?? "",
    ];
    const isText = /["'`]/.test(quote);

    const inner = isText
      ? listLiteralChanges(text.slice(1, -1)).map((change) => ({
          text: before + quote + change.text + quote + after,
          isCompared: change.isCompared || beforeCompared.test(before),
        }))
      : [];
    if (inner.length > 0) return inner;
    if (isText && (beforeModule.test(before) || /^.[.\w-]*\//.test(text))) return [];

    return [
      { text: before + toAdjacentLiteral(text) + after, isCompared: beforeCompared.test(before) },
    ];
  });
}

/** An assigned value, or an exit code, isn't an expectation, unless its name says so. */
const assignment =
  /(?:(?<![\w$])(?!(?:\w*_)?(?:want|wanted|expected|expects|output|out|result|answer)\b)[\w$]+\s*=\s*|\b(?:exit|return|abort|exitCode)\b\s*[(=]?\s*)$/i;

/** The line with its most significant literal changed; null if it has none. */
export function flipLine(line: string): string | null {
  const literals = [...line.matchAll(literal)]
    .map(({ 0: text, index }) => ({ text, index }))
    .filter(
      ({ text, index }) =>
        !assignment.test(line.slice(0, index)) &&
        !thrownValue.test(line.slice(0, index)) &&
        !isPrinted(line, index, index + text.length),
    );

  const isString = ({ text }: { text: string }): boolean => /^["'`]/.test(text);
  const strings = literals.filter(isString);
  const isExact = ({ text, index }: { text: string; index: number }): boolean =>
    /[=!]==?\s*$/.test(line.slice(0, index)) || /^\s*[=!]=/.test(line.slice(index + text.length));
  // A string after a value is often only the failure message; a lone string is the expectation.
  // What is compared exactly comes first.
  const chosen =
    literals.findLast((candidate) => !isString(candidate) && isExact(candidate)) ??
    literals.findLast((candidate) => !isString(candidate)) ??
    (strings.length === 1 && isTitle(line, strings[0]) ? undefined : strings.at(-1));
  if (chosen === undefined) return null;
  const [before, after] = [line.slice(0, chosen.index), line.slice(chosen.index)];
  const bound = /\b(?:for|while)\b/.test(line)
    ? null
    : /^(.*[\w$)\]]\s+)([<>]=?)(\s+)$/.exec(before);
  if (bound !== null) return `${bound[1]}${oppositeOrder[bound[2] ?? ""]}${bound[3]}${after}`;

  return before + toAdjacentLiteral(chosen.text) + after.slice(chosen.text.length);
}
/** A bound that moves by one often shows nothing (`ms < 60`), so the comparison is turned round. */
const oppositeOrder: Readonly<Record<string, string>> = {
  "<": ">=",
  "<=": ">",
  ">": "<=",
  ">=": "<",
};

/**
 * Before the text of an error: `throw new AssertionError("got " + a + `; not before a condition
 * (`raise "no" if a != 3`).
 */
const thrownValue = /\b(?:throw|raise)\b(?:(?!\b(?:if|unless)\b)[^;{}])*$/;

/**
 * A literal that is only printed, and the number of a stream (`2>/dev/null`, `>&2`), is no
 * expectation.
 */
const isPrinted = (line: string, from: number, to: number): boolean =>
  (printCall.exec(line.slice(0, from))?.[0].search(/[=!]=/) === -1 &&
    /^[^|]*(?:$|[;}])/.test(line.slice(to))) ||
  line.startsWith(">", to) ||
  line.endsWith(">&", from);
const printCall =
  /\b(?:System\.(?:out|err)\.\w+|console\.\w+|e?println!?|printf|fprintf|puts|fmt\.F?[Pp]rint\w*|echo)\b[^;|&]*$/;

/**
 * The first string of a line that opens a test is the test's name; one after a boolean condition is
 * its message.
 */
const isTitle = (line: string, one: { readonly index: number } | undefined): boolean =>
  one !== undefined &&
  (/\b(?:ok|notOk|true|false|assert|isTrue|isFalse|assertTrue|assertFalse|truthy|falsy)\s*\(.*,\s*$/.test(
    line.slice(0, one.index),
  ) ||
    /\b(?:test|it|describe|context|specify|suite|scenario|Run)\s*(?:\.\w+)*\s*\(\s*$/.test(
      line.slice(0, one.index),
    ));

/** The other boolean, the next number, or the text with another last letter (F2). */
export function toAdjacentLiteral(text: string): string {
  const flipped = negateBoolean(text);
  if (flipped !== null) return flipped;
  const quote = text[0] ?? "";
  if (/["'`]/.test(quote)) return changeString(text, quote);
  const [whole = "0", fraction] = text.split(".");

  return `${BigInt(whole) + 1n}${fraction === undefined ? "" : `.${fraction}`}`;
}

/** The length stays, if possible: 'a' may be a character and not a string. */
function changeString(text: string, quote: string): string {
  const inner = text.slice(1, -1);
  const last = /[A-Za-z0-9](?=[^A-Za-z0-9]*$)/.exec(inner);
  if (last === null || /\\.?$/.test(inner.slice(0, last.index))) {
    return inner === "" ? `${quote}x${quote}` : `${quote}x${inner.slice(1)}${quote}`;
  }

  const step = /[zZ9]/.test(last[0]) ? -1 : 1;
  const changed = String.fromCharCode(last[0].charCodeAt(0) + step);
  return `${quote}${inner.slice(0, last.index)}${changed}${inner.slice(last.index + 1)}${quote}`;
}

/** The text with these flips; null if the line of one is missing, or moved and not unique. */
export function applyFlips(
  text: string,
  flips: readonly Pick<Flip, "line" | "was" | "broken">[],
): string | null {
  const lines = text.split("\n");
  for (const flip of flips) {
    const position = findFlipLine(lines, flip);
    if (position === -1) return null;
    lines.splice(position, flip.was.split("\n").length, ...flip.broken.split("\n"));
  }

  return lines.join("\n");
}

/** The line a flip begins in, from 0, though it may have moved. */
export function findFlipLine(
  lines: readonly string[],
  { line, was }: Pick<Flip, "line" | "was">,
): number {
  const wanted = was.split("\n");
  const isAt = (position: number): boolean =>
    wanted.every((text, offset) => lines[position + offset] === text);
  return isAt(line - 1) ? line - 1 : findOnlyIndex(lines, isAt);
}

function findOnlyIndex(lines: readonly string[], isAt: (position: number) => boolean): number {
  const first = lines.findIndex((_line, index) => isAt(index));
  return first !== -1 && lines.findIndex((_line, index) => index > first && isAt(index)) === -1
    ? first
    : -1;
}

export const formatPositions = (flips: readonly Pick<Flip, "path" | "line">[]): string =>
  listSome(flips.map(({ path, line }) => `${path}:${line}`));
