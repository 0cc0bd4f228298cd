// roadmap-fields: what the fields of a phase say: on whom it depends, which requirements it has, whether its goal is only a placeholder.

import { shown, type Position } from "../../../kit/finding.ts";
import type { CheckedCriterion } from "../../../contracts/roadmap.ts";
import { readCriterion } from "./criterion.ts";
import { fieldItems, fieldParagraph, type Field } from "../../../documents/fields.ts";
import { outsideParentheses } from "../../../documents/parentheses.ts";
import { parsePhaseId } from "../../../documents/phase-id.ts";
import type { Report } from "../../../documents/report.ts";
import { trivialBecause } from "../../../documents/trivial-command.ts";

/** An id, or a range of ids as in `Phases 3-5`, that names every phase between. */
export type Dependency = { readonly from: string; readonly to: string };

export const criteriaMax = 100;
const namesMax = 200;
const idsCharactersMax = 4_000;

/** The phase ids outside parentheses; `Nothing…` is none. */
export function fieldDependencies(field: Field, path: string, report: Report): readonly Dependency[] {
  const written = fieldParagraph(field);
  const { text, isClosed } = outsideParentheses(written.replaceAll(/[*_`]/g, ""));
  if (!isClosed)
    report.warning(
      field.inlinePlace,
      path,
      "unclosed_parenthesis",
      "found a parenthesis that is never closed; what follows it is not read",
    );
  if (text === "" || /^(nothing|none|n\/a|[-–—]$)/i.test(text) || isPlaceholder(text)) return [];
  if (text.length > idsCharactersMax)
    report.error(
      field.inlinePlace,
      path,
      "too_many",
      `found ${text.length} characters of dependencies, expected at most ${idsCharactersMax}`,
    );
  const { found, unread } = idsIn(text);
  if (found.length === 0)
    report.error(field.inlinePlace, path, "dependency_unreadable", `found ${shown(text)}, expected Phase <id>, Phase <id> … or Nothing`);
  for (const word of unread)
    report.warning(
      field.inlinePlace,
      path,
      "dependency_unread",
      `found ${shown(word)}, which is not taken for a dependency, expected Phase <id>`,
    );
  if (found.length > namesMax)
    report.error(field.inlinePlace, path, "too_many", `found ${found.length} dependencies, expected at most ${namesMax}`);
  return found.slice(0, namesMax);
}

/** Ids are read after `Phase`, at the beginning, and in a continued list; a number in the middle of prose isn't one. */
function idsIn(text: string): { readonly found: readonly Dependency[]; readonly unread: readonly string[] } {
  const foundDependencies: Dependency[] = [];
  const unread: string[] = [];
  let isExpected = true;
  let isRange = false;
  for (const [token] of text.slice(0, idsCharactersMax).matchAll(/\p{L}[\p{L}\p{M}\p{N}_]*|\d+(?:\.\d+)*|\S/gu)) {
    const id = parsePhaseId(token);
    const lastDependency = foundDependencies.at(-1);
    if (id !== null && isExpected && isRange && lastDependency !== undefined)
      foundDependencies[foundDependencies.length - 1] = { from: lastDependency.from, to: id };
    else if (id !== null && isExpected) foundDependencies.push({ from: id, to: id });
    else if (/^\d/.test(token)) unread.push(token);
    isRange =
      id === null &&
      isExpected &&
      lastDependency !== undefined &&
      (/^([-–—]|to|through)$/i.test(token) || (isRange && /^phases?$/i.test(token)));
    isExpected = isExpected ? id !== null || joining.test(token) : /^phases?$/i.test(token);
  }
  return { found: foundDependencies, unread };
}

const joining = /^(phases?|and|or|to|through|[,;、，；&+/#–—-])$/i;

/** One by one: `AUTH-01, AUTH-02`, a list below, or prose. A name before a colon is its line's id. */
export function fieldRequirements(field: Field): readonly string[] {
  const listedItems = fieldItems(field);
  const isList = listedItems.some(({ kind }) => kind !== "inline");
  const pieces = isList
    ? listedItems.flatMap(({ text, kind }) => (kind === "inline" ? split(text) : [outsideParentheses(text).text]))
    : split(fieldParagraph(field));
  const names = pieces
    .map((piece) => /^([A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*-\d+)\s*(?:[:：]|[-–—]\s)/.exec(piece)?.[1] ?? piece)
    .filter((piece) => piece !== "" && !isPlaceholder(piece) && !/^(none|nothing|n\/a|[-–—])$/i.test(piece));
  return [...new Set(names)].slice(0, namesMax);
}

const split = (text: string): readonly string[] =>
  outsideParentheses(text)
    .text.replaceAll(/[*`]/g, "")
    .split(/[,;、，；]/)
    .map((piece) => piece.trim());

/** A text that only keeps the place for one: nothing, `TBD`, `[To be planned]`, with or without a parenthesis behind. */
export function isPlaceholder(text: string): boolean {
  if (!/^[\s*_[]*(tbd|to be\b|[(（.…]|$)/i.test(text.slice(0, 40))) return false;
  const wording = outsideParentheses(text.replaceAll(/[*_]/g, "")).text;
  return /^(\[?(tbd|to be (planned|defined|determined|decided)[^\]]{0,80})\]?)?[.…]?$/i.test(wording);
}

/** The criteria with their checks, numbered in the roadmap; a bulleted list is accepted with a warning. */
export function fieldCriteria(field: Field, path: string, report: Report): CheckedCriterion[] {
  const items = fieldItems(field).filter(({ kind, text }) => kind !== "inline" || !isPlaceholder(text));
  const bullet = items.find(({ kind }) => kind !== "number");
  if (bullet !== undefined)
    report.warning(bullet.place, path, "criteria_not_numbered", "found a criterion without a number, expected a numbered list");
  if (items.length === 0) report.warning(field.place, path, "no_criteria", "found no criterion, expected a numbered list");
  const extra = items[criteriaMax];
  if (extra !== undefined) report.error(extra.place, path, "too_many", `found ${items.length} criteria, expected at most ${criteriaMax}`);
  return items.slice(0, criteriaMax).map(({ text, place }, n) => {
    const criterion = locatedCriterion(text, place, `${path}[${n}]`, report);
    const why = criterion.command === null ? null : trivialBecause(criterion.command, criterion.expect);
    if (why !== null)
      report.warning(
        place,
        `${path}[${n}]`,
        "trivial_command",
        `found the check ${shown(criterion.command)}, expected one that can fail; ${why}`,
      );
    return criterion;
  });
}

/** A criterion with its line, its faults reported there. */
export function locatedCriterion(written: string, place: Position, path: string, report: Report): CheckedCriterion {
  const { faults, ...criterion } = readCriterion(written);
  for (const { rule, message, severity } of faults) report[severity](place, path, rule, message);
  return { ...criterion, line: place.line };
}
