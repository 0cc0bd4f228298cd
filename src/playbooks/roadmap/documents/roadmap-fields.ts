// roadmap-fields: parses the fields of a phase: dependencies, requirements and criteria.

import { shown, type Position } from "../../../kit/finding.ts";
import type { CheckedCriterion } from "../../../contracts/roadmap.ts";
import { parseCriterion } from "./criterion.ts";
import { listFieldItems, readFieldParagraph, type Field } from "../../../documents/fields.ts";
import { dropParentheses } from "../../../documents/parentheses.ts";
import { parsePhaseId } from "../../../documents/phase-id.ts";
import type { Report } from "../../../documents/report.ts";
import { whyTrivial } from "../../../documents/trivial-command.ts";

/** An id, or a range of ids as in `Phases 3-5`, that names every phase between. */
export type Dependency = { readonly from: string; readonly to: string };

export const criteriaMax = 100;
const namesMax = 200;
const idsCharactersMax = 4_000;
/** More than any placeholder has before its first word. */
const placeholderStartChars = 40;

/** The phase ids outside of parentheses; `Nothing` means no dependency. */
export function parseDependencies(
  field: Field,
  path: string,
  report: Report,
): readonly Dependency[] {
  const source = readFieldParagraph(field);
  const { text, isClosed } = dropParentheses(source.replaceAll(/[*_`]/g, ""));
  if (!isClosed) {
    report.warning(
      field.inlinePlace,
      path,
      "unclosed_parenthesis",
      "found a parenthesis that is never closed; what follows it is not read",
    );
  }

  if (text === "" || /^(nothing|none|n\/a|[-–—]$)/i.test(text) || isPlaceholder(text)) return [];
  if (text.length > idsCharactersMax) {
    report.error(
      field.inlinePlace,
      path,
      "too_many",
      `found ${text.length} characters of dependencies, expected at most ${idsCharactersMax}`,
    );
  }

  const { dependencies, ignored } = parseIds(text);
  if (dependencies.length === 0) {
    report.error(
      field.inlinePlace,
      path,
      "dependency_unreadable",
      `found ${shown(text)}, expected Phase <id>, Phase <id> … or Nothing`,
    );
  }

  for (const word of ignored) {
    report.warning(
      field.inlinePlace,
      path,
      "dependency_unread",
      `found ${shown(word)}, which is not taken for a dependency, expected Phase <id>`,
    );
  }

  if (dependencies.length > namesMax) {
    report.error(
      field.inlinePlace,
      path,
      "too_many",
      `found ${dependencies.length} dependencies, expected at most ${namesMax}`,
    );
  }

  return dependencies.slice(0, namesMax);
}

/**
 * An id counts after `Phase`, at the beginning and in a continued list; other numbers, in prose,
 * are returned as `ignored`.
 */
function parseIds(text: string): {
  readonly dependencies: readonly Dependency[];
  readonly ignored: readonly string[];
} {
  const dependencies: Dependency[] = [];
  const ignored: string[] = [];
  /** Whether an id may come next. */
  let isExpected = true;
  /** Whether the next id is the end of a range. */
  let isRange = false;

  // Tokens are words, ids such as 2.1, and single marks.
  for (const [token] of text
    .slice(0, idsCharactersMax)
    .matchAll(/\p{L}[\p{L}\p{M}\p{N}_]*|\d+(?:\.\d+)*|\S/gu)) {
    const id = parsePhaseId(token);
    const lastDependency = dependencies.at(-1);
    if (id !== null && isExpected && isRange && lastDependency !== undefined) {
      dependencies[dependencies.length - 1] = { from: lastDependency.from, to: id };
    } else if (id !== null && isExpected) {
      dependencies.push({ from: id, to: id });
    } else if (/^\d/.test(token)) {
      ignored.push(token);
    }

    const isPhaseWord = /^phases?$/i.test(token);
    const continuesRange: boolean = /^([-–—]|to|through)$/i.test(token) || (isRange && isPhaseWord); // `3 to phase 5`
    isRange = id === null && isExpected && lastDependency !== undefined && continuesRange;
    isExpected = isExpected ? id !== null || joiningWords.test(token) : isPhaseWord;
  }

  return { dependencies, ignored };
}

const joiningWords = /^(phases?|and|or|to|through|[,;、，；&+/#–—-])$/i;

/**
 * Requirements as `AUTH-01, AUTH-02`, as a list or as prose. Of `AUTH-01: text` only the id counts.
 */
export function parseRequirements(field: Field, path: string, report: Report): readonly string[] {
  const items = listFieldItems(field);
  const isList = items.some(({ kind }) => kind !== "inline");

  const pieces = isList
    ? items.flatMap(({ text, kind }) =>
        kind === "inline" ? splitList(text) : [dropParentheses(text).text],
      )
    : splitList(readFieldParagraph(field));
  const names = pieces
    .map(
      (piece) =>
        /^([A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*-\d+)\s*(?:[:：]|[-–—]\s)/.exec(piece)?.[1] ?? piece,
    )
    .filter(
      (piece) =>
        piece !== "" && !isPlaceholder(piece) && !/^(none|nothing|n\/a|[-–—])$/i.test(piece),
    );
  const uniqueNames = [...new Set(names)];
  if (uniqueNames.length > namesMax) {
    report.error(
      field.inlinePlace,
      path,
      "too_many",
      `found ${uniqueNames.length} requirements, expected at most ${namesMax}`,
    );
  }

  return uniqueNames.slice(0, namesMax);
}

/** `Tasks 03-01 and 03-02 (done)` → 03-01, 03-02; words that name nothing are left out. */
export const splitNames = (text: string): readonly string[] =>
  dropParentheses(text)
    .text.replaceAll(/[*`"[\]]/g, "")
    .split(/[\s,;、，；]+/)
    .filter((name) => name !== "" && !/^(tasks?|and|nothing|none|n\/a|tbd|[-–—]+)$/i.test(name));

const splitList = (text: string): readonly string[] =>
  dropParentheses(text)
    .text.replaceAll(/[*`]/g, "")
    .split(/[,;、，；]/)
    .map((piece) => piece.trim());

/**
 * Whether a text is empty, `TBD`, `[To be planned]` or the like, with or without a parenthesis
 * after it.
 */
export function isPlaceholder(text: string): boolean {
  // Most texts are no placeholder, which their beginning shows.
  if (!/^[\s*_[]*(tbd|to be\b|[(（.…]|$)/i.test(text.slice(0, placeholderStartChars))) return false;
  const wording = dropParentheses(text.replaceAll(/[*_]/g, "")).text;
  return /^(\[?(tbd|to be (planned|defined|determined|decided)[^\]]{0,80})\]?)?[.…]?$/i.test(
    wording,
  );
}

/** The criteria of a numbered list; a bulleted list is accepted with a warning. */
export function parseCriteria(field: Field, path: string, report: Report): CheckedCriterion[] {
  const items = listFieldItems(field).filter(
    ({ kind, text }) => kind !== "inline" || !isPlaceholder(text),
  );
  const bullet = items.find(({ kind }) => kind !== "number");
  if (bullet !== undefined) {
    report.warning(
      bullet.place,
      path,
      "criteria_not_numbered",
      "found a criterion without a number, expected a numbered list",
    );
  }

  if (items.length === 0) {
    report.warning(
      field.place,
      path,
      "no_criteria",
      "found no criterion, expected a numbered list",
    );
  }

  const extra = items[criteriaMax];
  if (extra !== undefined) {
    report.error(
      extra.place,
      path,
      "too_many",
      `found ${items.length} criteria, expected at most ${criteriaMax}`,
    );
  }

  return items.slice(0, criteriaMax).map(({ text, place }, index) => {
    const criterion = parseLocatedCriterion(text, place, `${path}[${index}]`, report);
    const why = criterion.command === null ? null : whyTrivial(criterion.command, criterion.expect);
    if (why !== null) {
      report.warning(
        place,
        `${path}[${index}]`,
        "trivial_command",
        `found the check ${shown(criterion.command)}, expected one that can fail; ${why}`,
      );
    }

    return criterion;
  });
}

/** Parses a criterion and reports its faults at its line. */
export function parseLocatedCriterion(
  source: string,
  place: Position,
  path: string,
  report: Report,
): CheckedCriterion {
  const { faults, ...criterion } = parseCriterion(source);
  for (const { rule, message, severity } of faults) report[severity](place, path, rule, message);
  return { ...criterion, line: place.line };
}
