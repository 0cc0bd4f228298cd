// comparison-definitions: finds definitions of the code under test by which tests compare, and which the work changed: a tolerance
// (`abs(a - 3.14) < EPS`), a comparison (`near(root(4), 2)`, `a.equals(b)`), a normal form of both sides (`equal(fmt(a), fmt(3.14))`). Then
// the code under test affects its own judgement. Pure.
//
// Invariants:
//   C1. Only definitions that existed before the work and differ now. New ones are judged like everything else, by other values.
//   C2. That a check fails with the base's definition shows nothing by itself: the work may have changed what the definition depends on. Only
//       a definition that still finds every value equal to itself can judge the work's values.
//   C3. If nothing else was changed, the definition is the work.

import { listSome } from "../../../kit/list-some.ts";
import { detectLanguage } from "../../protected/kinds.ts";
import { maskText } from "../../protected/mask-text.ts";
import type { Assertion, Span } from "../flips/assertion-rules.ts";
import { removeSpace, type Definition, findDefinitions, findRedefined } from "../source/definitions.ts";
import { parseArguments, findAssertions } from "../flips/assertion-flips.ts";
import type { Edit } from "../lab.ts";
import { isWrittenOut } from "../flips/near-values.ts";
import { applyChanges, type TextChange } from "../source/apply-changes.ts";

type Text = { readonly path: string; readonly text: string };
export type Changed = { readonly path: string; readonly was: string | null; readonly is: string };
export type RestoredDefinitions = {
  readonly definitions: readonly Definition[];
  /** The work with those definitions as they were. */
  readonly edits: readonly Edit[];
  /** The tests, comparing each value with itself by any definition of a changed file (C2). */
  readonly controls: readonly Edit[];
};

/** The source of a regular expression for a whole name, such as `$near`. */
const wordPattern = (name: string): string => `(?<![\\w$])${name.replaceAll("$", "\\$")}(?![\\w$])`;

/** Null if tests compare with nothing that the work redefined, or if nothing else was changed (C3). */
export function findComparers(changed: readonly Changed[], tests: readonly Text[]): RestoredDefinitions | null {
  const pairs: readonly ChangedDefinition[] = changed.flatMap(({ path, was, is }) =>
    was === null ? [] : [...findRedefined(path, was, is), ...findMoved(path, was, is)],
  ); // C1
  const controls = new Map<string, TextChange[]>();
  const comparing = changed.flatMap(({ path, was }) =>
    (was === null ? [] : findDefinitions(path, was)).filter(({ name, isFunction }) => {
      const comparisons = tests.map((test) => ({ test, changes: compareWithSelf(test, name, isFunction) }));
      for (const { test, changes } of comparisons) controls.set(test.path, [...(controls.get(test.path) ?? []), ...changes]);
      return comparisons.some(({ changes }) => changes.length > 0);
    }),
  );
  const mentions = (text: string, name: string): boolean => new RegExp(wordPattern(name)).test(text);
  // Helpers of such a definition that no test calls belong to it.
  const servesComparison = (name: string): boolean =>
    comparing.some(({ text }) => mentions(text, name)) && !tests.some(({ text }) => mentions(text, name));
  const restored = pairs.filter(
    ({ was: { path, name } }) =>
      comparing.some((definition) => definition.path === path && definition.name === name) || servesComparison(name),
  );
  const edits = changed.flatMap(({ path, is }) => {
    const fileDefinitions = restored.filter((definition) => definition.is.path === path);
    const text = applyChanges(
      is,
      fileDefinitions.flatMap((definition) => definition.put ?? [{ ...definition.is, text: definition.was.text }]),
    );
    return fileDefinitions.length === 0 ? [] : [{ path, text }];
  });
  const textOf = (file: Changed): string => edits.find(({ path }) => path === file.path)?.text ?? file.is;
  if (edits.length === 0 || changed.every((file) => file.was !== null && removeSpace(textOf(file)) === removeSpace(file.was))) return null; // C3
  return {
    definitions: restored.map(({ is }) => is),
    edits,
    controls: tests.flatMap(({ path, text }) => {
      const changes = controls.get(path) ?? [];
      return changes.length === 0 ? [] : [{ path, text: applyChanges(text, changes) }];
    }),
  };
}

/** `put`: how the earlier definition is put back, if it is not in the place of the new one. */
type ChangedDefinition = { readonly was: Definition; readonly is: Definition; readonly put?: readonly TextChange[] };

/** Definitions that a file now imports from elsewhere: the import is removed, and the old definition is appended. */
function findMoved(path: string, was: string, is: string): readonly ChangedDefinition[] {
  const definedNames = new Set(findDefinitions(path, is).map(({ name }) => name));
  const importLines = [...is.matchAll(/^.*\b(?:import|export|include|require)\b.*$/gm)];
  return findDefinitions(path, was).flatMap((earlier): readonly ChangedDefinition[] => {
    const { name } = earlier;
    const mentioning = importLines.filter(([line]) => new RegExp(wordPattern(name)).test(line));
    const isIncluded = /^\s*#\s*define\b/.test(earlier.text) && importLines.some(([line]) => line.includes("#"));
    if (definedNames.has(name) || !(mentioning.length > 0 || isIncluded)) return [];
    const removals = detectLanguage(path) === "js" ? mentioning.flatMap(({ 0: line, index }) => removeSpecifier(line, index, name)) : [];
    const appended = isIncluded ? `\n#undef ${name}\n${earlier.text}\n` : `\n${earlier.text}\n`;
    return [{ was: earlier, is: earlier, put: [...removals, { from: is.length, to: is.length, text: appended }] }];
  });
}

function removeSpecifier(line: string, position: number, name: string): readonly TextChange[] {
  const match = new RegExp(`(?:[\\w$]+\\s+as\\s+)?${wordPattern(name)}(?:\\s+as\\s+[\\w$]+)?\\s*,?`).exec(line);
  return match === null ? [] : [{ from: position + match.index, to: position + match.index + match[0].length, text: "" }];
}

const cFile = /\.(?:c|cc|cpp|cxx|h|hpp)$/;

/** Edits that make a test compare a value with itself wherever it compares with this name; none if it does not. */
function compareWithSelf({ path, text }: Text, name: string, isFunction: boolean): readonly TextChange[] {
  const family = cFile.test(path) ? "java" : detectLanguage(path);
  if (
    family === null ||
    !new RegExp(wordPattern(name)).test(text) ||
    findDefinitions(path, text).some((definition) => definition.name === name)
  )
    return [];
  const code = maskText(text, family);
  const of = ({ from, to }: Span): string => text.slice(from, to).trim();
  const word = wordPattern(name);
  if (!isFunction) return findAssertions(path, text, "").flatMap((assertion) => expectActual(assertion, code, text, new RegExp(word)));
  const assertions = findAssertions(path, text, "");
  const direct = [...code.matchAll(new RegExp(`${word}!?\\s*\\(`, "g"))].flatMap(({ 0: open, index }): readonly TextChange[] => {
    const { args: [first, second] = [], close } = parseArguments(code, index + open.length - 1) ?? { close: index };
    const receiver = code[index - 1] === "." ? findReceiver(code, index - 1) : null;
    const whole = { from: receiver?.from ?? index, to: close };
    if (first === undefined || !(isSaidToBeTrue(whole, assertions, code) || assertions.some((assertion) => isTrueOf(assertion, whole, of))))
      return [];
    if (second !== undefined) return [first, second].every((arg) => isWrittenOut(of(arg))) ? [] : [{ ...second, text: of(first) }];
    return receiver === null || notValue.test(of(receiver)) ? [] : [{ ...first, text: of(receiver) }];
  });
  if (direct.length > 0) return direct;
  const called = new RegExp(`${word}\\s*\\(`);
  const isOnBoth = ({ values: [expected, actual] = [] }: Assertion): boolean =>
    expected !== undefined && actual !== undefined && called.test(of(expected)) && called.test(of(actual));
  return assertions.filter(isOnBoth).flatMap((assertion) => expectActual(assertion, code, text, called));
}

/** What may be before a dot and isn't a value. */
const notValue = /^(?:self|this|assert|t|expect)$/;

/** Whether a call is asserted to be true. (A call whose result is compared with a value is what the test asks for.) */
function isSaidToBeTrue({ from, to }: Span, assertions: readonly Assertion[], code: string): boolean {
  const [before, after] = [code.slice(code.lastIndexOf("\n", from - 1) + 1, from), code.slice(to, to + 40)];
  const isAlone = /^\s*$|[;{]\s*$|=>\s*$/.test(before) && /^\s*(?:[;}\n]|$)/.test(after);
  if (isAlone || /\bif\s*\(?\s*(?:!|not\b)\s*$/.test(before)) return true;
  return assertions.some(
    ({ truth }) =>
      truth !== undefined && truth.to >= to && code.slice(Math.min(truth.from, from), from).trim() === "" && truth.from <= from,
  );
}

/** `equal(a.equals(b), true)` */
const isTrueOf = ({ values: [expected, actual] = [] }: Assertion, { from, to }: Span, of: (span: Span) => string): boolean =>
  expected !== undefined &&
  /^true$/i.test(of(expected)) &&
  (actual === undefined ? expected.from > to && expected.from - to < 40 : actual.from <= from && actual.to >= to);

/** An assertion's expected value becomes the actual one; nothing if that cannot be determined, or it does not use a name. */
function expectActual(
  { values: [expected, actual] = [], truth }: Assertion,
  code: string,
  text: string,
  named: RegExp,
): readonly TextChange[] {
  const span = truth ?? expected;
  if (span === undefined || !named.test(lineAround(code, span))) return [];
  if (expected !== undefined && actual !== undefined) return [{ ...expected, text: text.slice(actual.from, actual.to).trim() }];
  if (truth === undefined) return [];
  for (const { 0: open, index } of code.slice(truth.from, truth.to).matchAll(/\b(?:\w+\.)*f?abs\s*\(/gi)) {
    const position = truth.from + index + open.length;
    const [inner] = parseArguments(code, position - 1)?.args ?? [];
    const minus = inner === undefined ? -1 : findSubtraction(code, inner);
    if (inner !== undefined && minus !== -1) return [{ from: minus + 1, to: inner.to, text: ` (${text.slice(inner.from, minus).trim()})` }];
  }
  return [];
}

function lineAround(code: string, { from, to }: Span): string {
  const end = code.indexOf("\n", to);
  return code.slice(code.lastIndexOf("\n", from - 1) + 1, end === -1 ? code.length : end);
}

/** The only subtraction outside brackets; -1 if there is none, or more. */
function findSubtraction(code: string, { from, to }: Span): number {
  let [depth, found] = [0, -1];
  for (let index = from; index < to; index += 1) {
    const letter = code[index] ?? "";
    if ("([{".includes(letter)) depth += 1;
    if (")]}".includes(letter)) depth -= 1;
    if (depth !== 0 || letter !== "-" || !/[\w)\]]\s*$/.test(code.slice(from, index)) || /[eE]$/.test(code.slice(from, index))) continue;
    if (found !== -1) return -1;
    found = index;
  }
  return found;
}

/** What is before a dot, as far as it is one value. */
function findReceiver(code: string, dot: number): Span | null {
  let position = dot;
  for (; position > 0; position -= 1) {
    const letter = code[position - 1] ?? "";
    if (")]".includes(letter)) {
      const open = findOpening(code, position - 1);
      if (open === null) return null;
      position = open + 1;
    } else if (!/[\w$.]/.test(letter)) break;
  }
  const before = /\bnew\s+$/.exec(code.slice(Math.max(0, position - 12), position));
  const from = before === null ? position : position - before[0].length;
  return from === dot ? null : { from, to: dot };
}

function findOpening(code: string, close: number): number | null {
  let depth = 0;
  for (let index = close; index >= 0; index -= 1) {
    if (")]}".includes(code[index] ?? "")) depth += 1;
    if ("([{".includes(code[index] ?? "")) depth -= 1;
    if (depth === 0) return index;
  }
  return null;
}

export const listDefinitions = (definitions: readonly Definition[]): string =>
  listSome(definitions.map(({ path, line, name }) => `${name} (${path}:${line})`));

export const describeComparers = (definitions: readonly Definition[]): string =>
  `its tests compare by ${listDefinitions(definitions)}, which the work changed, and fail with that as it was, so a person has to look at that`;
