// criterion: one success criterion with the check it carries: `text :: command`, or ``text -- verified by: `command` (returns 2)``.

import type { Expectation } from "../../../contracts/evidence.ts";
import type { CheckedCriterion } from "../../../contracts/roadmap.ts";
import { shown } from "../../../kit/finding.ts";
import { listCodeSpans, withoutCode } from "../../../documents/code-spans.ts";
import { closingParenthesis } from "../../../documents/parentheses.ts";

export const criterionCharactersMax = 4_000;

export type CriterionFault = { readonly rule: string; readonly message: string; readonly severity: "error" | "warning" };
export type CriterionRead = Omit<CheckedCriterion, "line"> & { readonly faults: readonly CriterionFault[] };

/** Reads a criterion from its whole text, wrapped lines joined. */
export function readCriterion(written: string): CriterionRead {
  const text = written.trim();
  if (text.length > criterionCharactersMax) {
    const message = `found a criterion of ${text.length} characters, expected at most ${criterionCharactersMax}`;
    return { text: text.slice(0, 200), command: null, expect: null, faults: [{ rule: "criterion_too_long", message, severity: "error" }] };
  }
  return verifiedBy(text) ?? afterColons(text) ?? { text, command: null, expect: null, faults: tightColons(text) };
}

function verifiedBy(text: string): CriterionRead | null {
  const spans = listCodeSpans(text);
  const plain = withoutCode(text, spans);
  const marks = [...plain.matchAll(/\bverified by\b/gi)].map(({ index }) => {
    const lead = /^\s*:?\s*/.exec(text.slice(index + 11))?.[0] ?? "";
    return { index, behind: index + 11 + lead.length, hasColon: lead.includes(":") };
  });
  const faults: CriterionFault[] = [];
  for (const mark of marks) {
    const span = spans.find(({ start }) => start === mark.behind);
    if (span === undefined) continue;
    if (marks.length > 1)
      faults.push(warning("two_checks", "found `verified by` twice in one criterion, of which only the first with a command counts"));
    const reported = expectationAt(text.slice(span.end).trimStart());
    const command = span.code.trim();
    const fault = command === "" ? [empty] : [];
    return {
      text: wordsBefore(text.slice(0, mark.index), command),
      command: command === "" ? null : command,
      expect: reported.expect,
      faults: [...faults, ...fault, ...reported.faults],
    };
  }
  const [unquoted] = marks;
  if (unquoted?.hasColon !== true) return null;
  const found = text.slice(unquoted.behind).trim();
  const message = `found ${shown(found)} behind \`verified by:\`, expected the command in backticks`;
  return { text, command: null, expect: null, faults: [warning("check_not_quoted", message)] };
}

function afterColons(text: string): CriterionRead | null {
  const at = /(?:^|\s)::(?:\s|$)/.exec(withoutCode(text));
  if (at === null) return null;
  const wording = text.slice(0, at.index).trim();
  const rest = text.slice(at.index + at[0].length).trim();
  const quoted = listCodeSpans(rest).find(({ start }) => start === 0);
  if (quoted !== undefined && (quoted.end === rest.length || /^\s*\(/.test(rest.slice(quoted.end)))) {
    const reported = expectationAt(rest.slice(quoted.end).trimStart());
    return checked(wording, quoted.code.trim(), reported.expect, reported.faults);
  }
  const opens = [...rest.matchAll(/\s\((?=returns\b|expects?\b)/gi)].at(-1);
  if (opens !== undefined && closingParenthesis(rest, opens.index + 1) === rest.length - 1) {
    const reported = expectationAt(rest.slice(opens.index + 1));
    return checked(wording, rest.slice(0, opens.index).trim(), reported.expect, reported.faults);
  }
  return checked(wording, rest, null, []);
}

/** `text::command` means a check, and would pass for words: it is reported, and not guessed at. */
function tightColons(text: string): readonly CriterionFault[] {
  if (!withoutCode(text).includes("::")) return [];
  const message =
    "found `::` without a space on both sides, expected `text :: command`; where it belongs to a name, write the name in backticks";
  return [{ rule: "check_separator", message, severity: "error" }];
}

function checked(wording: string, command: string, expect: Expectation | null, faults: readonly CriterionFault[]): CriterionRead {
  if (command === "") return { text: wording, command: null, expect: null, faults: [...faults, empty] };
  return { text: wording === "" ? command : wording, command, expect, faults };
}

/** Only a parenthesis behind a command is an expectation; others are prose. */
function expectationAt(text: string): { readonly expect: Expectation | null; readonly faults: readonly CriterionFault[] } {
  const none = { expect: null, faults: [] };
  if (!text.startsWith("(")) return none;
  const end = closingParenthesis(text, 0);
  const inner = text.slice(1, end < 0 ? text.length : end).trim();
  const least = /^returns at least (\d{1,15})(?![\d.]*\d)/i.exec(inner)?.[1];
  if (least !== undefined) return { expect: { kind: "at_least", count: Number(least) }, faults: [] };
  const exact = /^returns (?:exactly )?(\d{1,15})(?![\d.]*\d)/i.exec(inner)?.[1];
  if (exact !== undefined) return { expect: { kind: "exactly", count: Number(exact) }, faults: [] };
  const wanted = /^expects?:?\s+(.+)$/is.exec(inner)?.[1]?.trim();
  if (wanted !== undefined) return { expect: { kind: "text", text: unquoted(wanted) }, faults: [] };
  if (!/^(returns|expects?)\b/i.test(inner)) return none;
  const message = `found (${inner}), expected (returns at least N), (returns N) or (expect TEXT)`;
  return { expect: null, faults: [{ rule: "expectation_unknown", message, severity: "error" }] };
}

function unquoted(text: string): string {
  const [span] = listCodeSpans(text);
  return span !== undefined && span.start === 0 && span.end === text.length ? span.code : text;
}

/** The criterion's own words, without what led over to its check. */
function wordsBefore(text: string, command: string): string {
  let wording = text.trimEnd();
  while (/[-–—:;,(*]$/.test(wording)) wording = wording.slice(0, -1).trimEnd();
  return wording === "" ? command : wording;
}

const warning = (rule: string, message: string): CriterionFault => ({ rule, message, severity: "warning" });
const empty: CriterionFault = { rule: "check_empty", message: "found a check without a command, expected one", severity: "error" };
