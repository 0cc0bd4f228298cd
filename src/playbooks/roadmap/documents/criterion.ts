// criterion: parses one success criterion with its check: `text :: command`, or ``text -- verified
// by: `command` (returns 2)``.

import type { Expectation } from "../../../contracts/evidence.ts";
import type { CheckedCriterion } from "../../../contracts/roadmap.ts";
import { shown } from "../../../kit/finding.ts";
import { listCodeSpans, withoutCode } from "../../../documents/code-spans.ts";
import { findClosingParenthesis } from "../../../documents/parentheses.ts";

export const criterionCharactersMax = 4_000;
/** How much is kept of a criterion that is too long, to tell which one it is. */
const excerptCharactersMax = 200;

export type CriterionFault = {
  readonly rule: string;
  readonly message: string;
  readonly severity: "error" | "warning";
};
export type ParsedCriterion = Omit<CheckedCriterion, "line"> & {
  readonly faults: readonly CriterionFault[];
};

/** Expects the whole text of the criterion, with wrapped lines joined. */
export function parseCriterion(source: string): ParsedCriterion {
  const text = source.trim();
  if (text.length > criterionCharactersMax) {
    const message = `found a criterion of ${text.length} characters, expected at most ${criterionCharactersMax}`;
    return {
      text: text.slice(0, excerptCharactersMax),
      command: null,
      expect: null,
      faults: [{ rule: "criterion_too_long", message, severity: "error" }],
    };
  }

  return (
    parseVerifiedBy(text) ??
    parseAfterColons(text) ?? { text, command: null, expect: null, faults: findTightColons(text) }
  );
}

/**
 * ``text -- verified by: `command` (returns 2)``; null if there is no command after `verified by`.
 */
function parseVerifiedBy(text: string): ParsedCriterion | null {
  const spans = listCodeSpans(text);
  const marks = [...withoutCode(text, spans).matchAll(/\bverified by\b/gi)].map(
    ({ index, 0: phrase }) => {
      const phraseEnd = index + phrase.length;
      const separator = /^\s*:?\s*/.exec(text.slice(phraseEnd))?.[0] ?? "";
      return {
        index,
        commandStart: phraseEnd + separator.length,
        hasColon: separator.includes(":"),
      };
    },
  );

  const faults: CriterionFault[] = [];
  for (const mark of marks) {
    const span = spans.find(({ start }) => start === mark.commandStart);
    if (span === undefined) continue;
    if (marks.length > 1) {
      faults.push(
        warning(
          "two_checks",
          "found `verified by` twice in one criterion, of which only the first with a command counts",
        ),
      );
    }

    const expectation = parseExpectation(text.slice(span.end).trimStart());
    const command = span.code.trim();
    const emptyFault = command === "" ? [emptyCheck] : [];

    return {
      text: trimLeadIn(text.slice(0, mark.index), command),
      command: command === "" ? null : command,
      expect: expectation.expect,
      faults: [...faults, ...emptyFault, ...expectation.faults],
    };
  }

  const [firstMark] = marks;
  if (firstMark?.hasColon !== true) return null;
  const unquotedText = text.slice(firstMark.commandStart).trim();
  const message = `found ${shown(unquotedText)} behind \`verified by:\`, expected the command in backticks`;

  return { text, command: null, expect: null, faults: [warning("check_not_quoted", message)] };
}

/**
 * `text :: command`, `text :: command (returns 2)`, ``text :: `command` (returns 2)``; null without
 * the colons.
 */
function parseAfterColons(text: string): ParsedCriterion | null {
  const separator = /(?:^|\s)::(?:\s|$)/.exec(withoutCode(text));
  if (separator === null) return null;
  const wording = text.slice(0, separator.index).trim();
  const check = text.slice(separator.index + separator[0].length).trim();
  const quoted = listCodeSpans(check).find(({ start }) => start === 0);
  if (
    quoted !== undefined &&
    (quoted.end === check.length || /^\s*\(/.test(check.slice(quoted.end)))
  ) {
    const expectation = parseExpectation(check.slice(quoted.end).trimStart());
    return buildParsed(wording, quoted.code.trim(), expectation.expect, expectation.faults);
  }

  const parenthesis = [...check.matchAll(/\s\((?=returns\b|expects?\b)/gi)].at(-1);
  if (
    parenthesis !== undefined &&
    findClosingParenthesis(check, parenthesis.index + 1) === check.length - 1
  ) {
    const expectation = parseExpectation(check.slice(parenthesis.index + 1));
    return buildParsed(
      wording,
      check.slice(0, parenthesis.index).trim(),
      expectation.expect,
      expectation.faults,
    );
  }

  return buildParsed(wording, check, null, []);
}

/**
 * `text::command` was probably meant as a check, but is only text: it is reported instead of
 * guessed.
 */
function findTightColons(text: string): readonly CriterionFault[] {
  if (!withoutCode(text).includes("::")) return [];
  const message =
    "found `::` without a space on both sides, expected `text :: command`; where it belongs to a name, write the name in backticks";
  return [{ rule: "check_separator", message, severity: "error" }];
}

function buildParsed(
  wording: string,
  command: string,
  expect: Expectation | null,
  faults: readonly CriterionFault[],
): ParsedCriterion {
  if (command === "") {
    return { text: wording, command: null, expect: null, faults: [...faults, emptyCheck] };
  }

  return { text: wording === "" ? command : wording, command, expect, faults };
}

/** The expectation in a parenthesis right after a command; other parentheses are prose. */
function parseExpectation(text: string): {
  readonly expect: Expectation | null;
  readonly faults: readonly CriterionFault[];
} {
  const noExpectation = { expect: null, faults: [] };
  if (!text.startsWith("(")) return noExpectation;
  const end = findClosingParenthesis(text, 0);
  const inner = text.slice(1, end < 0 ? text.length : end).trim(); // returns at least 3
  const atLeast = /^returns at least (\d{1,15})(?![\d.]*\d)/i.exec(inner)?.[1];
  if (atLeast !== undefined) {
    return { expect: { kind: "at_least", count: Number(atLeast) }, faults: [] };
  }

  const exactly = /^returns (?:exactly )?(\d{1,15})(?![\d.]*\d)/i.exec(inner)?.[1];
  if (exactly !== undefined) {
    return { expect: { kind: "exactly", count: Number(exactly) }, faults: [] };
  }

  const expectedText = /^expects?:?\s+(.+)$/is.exec(inner)?.[1]?.trim();
  if (expectedText !== undefined) {
    return { expect: { kind: "text", text: withoutBackticks(expectedText) }, faults: [] };
  }

  if (!/^(returns|expects?)\b/i.test(inner)) return noExpectation;
  const message = `found (${inner}), expected (returns at least N), (returns N) or (expect TEXT)`;
  return { expect: null, faults: [{ rule: "expectation_unknown", message, severity: "error" }] };
}

function withoutBackticks(text: string): string {
  const [span] = listCodeSpans(text);
  return span !== undefined && span.start === 0 && span.end === text.length ? span.code : text;
}

/** The criterion's text without the punctuation before its check. */
function trimLeadIn(text: string, command: string): string {
  let wording = text.trimEnd();
  while (/[-–—:;,(*]$/.test(wording)) wording = wording.slice(0, -1).trimEnd();
  return wording === "" ? command : wording;
}

const warning = (rule: string, message: string): CriterionFault => ({
  rule,
  message,
  severity: "warning",
});
const emptyCheck: CriterionFault = {
  rule: "check_empty",
  message: "found a check without a command, expected one",
  severity: "error",
};
