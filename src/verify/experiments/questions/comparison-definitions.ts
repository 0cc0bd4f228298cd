// comparison-definitions: finds definitions of the code under test by which tests compare, and
// which the work changed: a tolerance (`abs(a - 3.14) < EPS`), a comparison (`near(root(4), 2)`,
// `a.equals(b)`), a normal form of both sides (`equal(fmt(a), fmt(3.14))`). Then the code under
// test affects its own judgement. Pure.
//
// Invariants:
//   C1. Only definitions that existed before the work and differ now. New ones are judged like
//       everything else, by other values.
//   C2. That a check fails with the base's definition shows nothing by itself: the work may have
//       changed what the definition depends on. Only a definition that still finds every value
//       equal to itself can judge the work's values.
//   C3. If nothing else was changed, the definition is the work.

import { listSome } from "../../../kit/list-some.ts";
import { detectLanguage } from "../../protected/kinds.ts";
import type { Edit } from "../lab.ts";
import { applyChanges, type TextChange } from "../source-text/apply-changes.ts";
import {
  removeSpace,
  type Definition,
  findDefinitions,
  findRedefined,
} from "../source-text/definitions.ts";
import { compareWithSelf, createNamePattern, mentions } from "../source-text/self-comparison.ts";

export type Changed = { readonly path: string; readonly was: string | null; readonly is: string };
export type RestoredDefinitions = {
  readonly definitions: readonly Definition[];
  /** The work with those definitions as they were. */
  readonly edits: readonly Edit[];
  /** The tests, comparing each value with itself by any definition of a changed file (C2). */
  readonly controls: readonly Edit[];
};

/**
 * Null if tests compare by nothing that the work redefined, or if nothing else was changed (C3).
 */
export function findComparers(
  changed: readonly Changed[],
  tests: readonly Edit[],
): RestoredDefinitions | null {
  const comparers = changed
    .flatMap(({ path, was }) => findDefinitions(path, was ?? ""))
    .flatMap((item) => toComparer(item, tests) ?? []);

  const restored = changed
    .flatMap(findChangedDefinitions)
    .filter(({ was }) => isComparedBy(was, comparers, tests));
  const edits = changed.flatMap((file) => restoreDefinitions(file, restored));
  if (edits.length === 0 || isAllThatChanged(changed, edits)) return null; // C3
  const controls = tests.flatMap(({ path, text }) => {
    const changes = comparers.flatMap(({ selfComparisons }) => selfComparisons.get(path) ?? []);
    return changes.length === 0 ? [] : [{ path, text: applyChanges(text, changes) }];
  });

  return { definitions: restored.map(({ is }) => is), edits, controls };
}

/**
 * A definition that tests compare by; by their paths, the changes that make them compare a value
 * with itself.
 */
type Comparer = {
  readonly definition: Definition;
  readonly selfComparisons: ReadonlyMap<string, readonly TextChange[]>;
};

function toComparer(definition: Definition, tests: readonly Edit[]): Comparer | null {
  const selfComparisons = new Map(
    tests.map((test) => [test.path, compareWithSelf(test, definition)]),
  );
  return [...selfComparisons.values()].some((changes) => changes.length > 0)
    ? { definition, selfComparisons }
    : null;
}

/** Also a helper of such a definition, if no test calls it itself. */
function isComparedBy(
  { path, name }: Definition,
  comparers: readonly Comparer[],
  tests: readonly Edit[],
): boolean {
  const isComparer = comparers.some(
    ({ definition }) => definition.path === path && definition.name === name,
  );

  const servesComparer =
    comparers.some(({ definition }) => mentions(definition.text, name)) &&
    !tests.some(({ text }) => mentions(text, name));
  return isComparer || servesComparer;
}

/** `restoring`: the changes that put the earlier definition back. */
type ChangedDefinition = {
  readonly was: Definition;
  readonly is: Definition;
  readonly restoring: readonly TextChange[];
};

/** C1 */
function findChangedDefinitions({ path, was, is }: Changed): readonly ChangedDefinition[] {
  if (was === null) return [];
  const redefined = findRedefined(path, was, is).map((pair) => ({
    ...pair,
    restoring: [{ ...pair.is, text: pair.was.text }],
  }));
  return [...redefined, ...findMoved(path, was, is)];
}

/**
 * Definitions that a file now imports from elsewhere: the import is removed, and the old definition
 * is appended.
 */
function findMoved(path: string, was: string, is: string): readonly ChangedDefinition[] {
  const definedNames = new Set(findDefinitions(path, is).map(({ name }) => name));
  const importLines = [...is.matchAll(/^.*\b(?:import|export|include|require)\b.*$/gm)];
  return findDefinitions(path, was).flatMap((earlier): readonly ChangedDefinition[] => {
    const { name, text } = earlier;
    const imports = importLines.filter(([line]) => mentions(line, name));
    const isIncluded =
      /^\s*#\s*define\b/.test(text) && importLines.some(([line]) => line.includes("#"));
    if (definedNames.has(name) || !(imports.length > 0 || isIncluded)) return [];
    const removals =
      detectLanguage(path) === "js"
        ? imports.flatMap(({ 0: line, index }) => removeSpecifier(line, index, name))
        : [];

    const appended = {
      from: is.length,
      to: is.length,
      text: isIncluded ? `\n#undef ${name}\n${text}\n` : `\n${text}\n`,
    };

    return [{ was: earlier, is: earlier, restoring: [...removals, appended] }];
  });
}

/** Removes `near as close,` from `import { near as close, far } from "./near.js"`. */
function removeSpecifier(line: string, position: number, name: string): readonly TextChange[] {
  const match = new RegExp(
    `(?:[\\w$]+\\s+as\\s+)?${createNamePattern(name)}(?:\\s+as\\s+[\\w$]+)?\\s*,?`,
  ).exec(line);
  return match === null
    ? []
    : [{ from: position + match.index, to: position + match.index + match[0].length, text: "" }];
}

function restoreDefinitions(
  { path, is }: Changed,
  restored: readonly ChangedDefinition[],
): readonly Edit[] {
  const changes = restored
    .filter((definition) => definition.is.path === path)
    .flatMap(({ restoring }) => restoring);
  return changes.length === 0 ? [] : [{ path, text: applyChanges(is, changes) }];
}

/** Whether every file is as before with these edits. */
const isAllThatChanged = (changed: readonly Changed[], edits: readonly Edit[]): boolean =>
  changed.every(({ path, was, is }) => {
    const text = edits.find((edit) => edit.path === path)?.text ?? is;
    return was !== null && removeSpace(text) === removeSpace(was);
  });

export const listDefinitions = (definitions: readonly Definition[]): string =>
  listSome(definitions.map(({ path, line, name }) => `${name} (${path}:${line})`));

export const describeComparers = (definitions: readonly Definition[]): string =>
  `its tests compare by ${listDefinitions(definitions)}, which the work changed, and fail with that as it was, so a person has to look at that`;
