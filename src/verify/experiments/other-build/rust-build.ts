// rust-build: switches a Rust source to what another build would compile (build-conditions.ts):
// `cfg` conditions and debug assertions are turned off in the text. Also finds out which features
// of a Cargo package are on in every build. Pure.
// Invariants D1 and on: verify/experiments/other-build/build-conditions.ts.

import { findClosingBracket, findOutsideBrackets } from "../source-text/brackets.ts";
import type { TextChange } from "../source-text/apply-changes.ts";
import type { BuildSource, SwitchedBuild } from "./build-switch.ts";

/** How far the start of an item is searched: its visibility, kind and name. */
const startCharsMax = 400;

/** Conditions on the target, which is the same for every build on this machine. */
const targetCondition =
  /^(?:unix|windows|any|all|not|true|false|target_\w+|panic|proc_macro|miri|version|accessible)$/;

export function switchRust(source: BuildSource): SwitchedBuild {
  const conditions = switchConditions(source);
  const assertions = switchDebugAssertions(source);
  return {
    changes: [...conditions.changes, ...assertions.changes],
    off: [...conditions.off, ...assertions.off],
  };
}

/** A condition on the build: `#[cfg(…)]`, `#[cfg_attr(…, derive(…))]` or `cfg!(…)`. */
type Condition = {
  /** Where its word `cfg` begins. */
  readonly index: number;
  readonly isCfgAttr: boolean;
  /** Between its brackets; of a `cfg_attr` only what is before the first comma. */
  readonly from: number;
  readonly to: number;
  /** Behind its closing bracket. */
  readonly end: number;
  /** Where the item begins that an attribute is about; null for `cfg!(…)`. */
  readonly item: number | null;
};

/** Turns off the conditions of the new code that a build need not meet. */
function switchConditions({
  text,
  code,
  isNew,
  isFeatureOn,
  isGentle,
}: BuildSource): SwitchedBuild {
  const changes: TextChange[] = [];
  const off: string[] = [];
  const isUsedOutsideTests = isGentle ? createUseFilter(code) : () => true;

  const isLeftOn = ({ isCfgAttr, from, to, item }: Condition): boolean => {
    if (item === null) return false;
    if (!isCfgAttr && containsTests(code, item)) return true; // D2
    return isGentle && text.slice(from, to).trim() === "test" && !isUsedOutsideTests(item);
  };

  for (const condition of findConditions(code)) {
    const { index, from, to, end, item } = condition;
    if (isLeftOn(condition) || !isNew(index, item === null ? end : findItemEnd(code, item))) {
      continue;
    }

    for (const { 0: word, 1: feature, index: at } of text.slice(from, to).matchAll(featureOrWord)) {
      const isOnInEveryBuild =
        feature === undefined
          ? targetCondition.test(word) || isInString(code, from + at, word)
          : isFeatureOn(feature);
      if (isOnInEveryBuild) continue; // D3

      changes.push({ from: from + at, to: from + at + word.length, text: "any()" }); // which is never true
      off.push(nameCondition(word, feature));
    }
  }

  return { changes, off };
}

/** `feature = "std"`, and other words that aren't followed by `=` or `(`: `test`, `unix`. */
const featureOrWord = /\bfeature\s*=\s*"([^"]*)"|\b[a-z_]\w*\b(?!\s*[=(])/g;

function nameCondition(word: string, feature: string | undefined): string {
  if (feature !== undefined) return `the feature ${feature}`;
  return word === "debug_assertions" ? "debug assertions" : `cfg(${word})`;
}

function findConditions(code: string): readonly Condition[] {
  return [...code.matchAll(/\bcfg(_attr)?\s*(?:!\s*)?\(/g)].flatMap(
    ({ 0: open, 1: attr, index }) => {
      const from = index + open.length;
      const end = findClosingBracket(code, from - 1);
      if (end === null) return [];
      const isCfgAttr = attr !== undefined;
      const to = isCfgAttr
        ? findOutsideBrackets(code, from, end - 1, (letter) => letter === ",")
        : end - 1;

      // The end of an attribute, and the attributes that follow it: `] #[inline]`.
      const attributes = /^\s*\]\s*(?:#\[[^\]]*\]\s*)*/.exec(code.slice(end));
      const item = attributes === null ? null : end + attributes[0].length;
      return [{ index, isCfgAttr, from, to, end, item }];
    },
  );
}

/** `debug_assert!(a > 0)` in new code becomes `if false { debug_assert!(a > 0) }`. */
function switchDebugAssertions({ code, isNew }: BuildSource): SwitchedBuild {
  const changes: TextChange[] = [];
  const off: string[] = [];

  for (const { 0: open, index } of code.matchAll(/\bdebug_assert(?:_eq|_ne)?!\s*[([{]/g)) {
    const end = findClosingBracket(code, index + open.length - 1);
    if (end === null || !isNew(index, end)) continue;
    changes.push(
      { from: index, to: index, text: "if false { " },
      { from: end, to: end, text: " }" },
    );
    off.push("debug assertions");
  }

  return { changes, off };
}

/** Words inside a string aren't names of conditions. */
const isInString = (code: string, position: number, word: string): boolean =>
  code.slice(position, position + word.length) !== word;

/** An item up to its body: its kind, and what follows the kind. */
const itemStart =
  /^(?:pub(?:\([^)]*\))?\s+)?(?:(?:async|unsafe|const)\s+(?=fn\b))*(fn|use|struct|enum|const|static|type|trait|mod|impl|macro_rules!)\s*([^{;]*)/;

/**
 * Returns a predicate for positions of items under `#[cfg(test)]`: whether code outside the test
 * build uses what the item defines.
 */
function createUseFilter(code: string): (item: number) => boolean {
  let codeOutside = code;
  for (const { 0: open, index } of code.matchAll(
    /#\[\s*cfg\s*\(\s*test\s*\)\s*\]\s*(?:#\[[^\]]*\]\s*)*/g,
  )) {
    const end = findItemEnd(code, index + open.length) + 1;
    codeOutside = codeOutside.slice(0, index) + " ".repeat(end - index) + codeOutside.slice(end);
  }

  const namesOutside = new Set(codeOutside.match(/[A-Za-z_]\w*/g) ?? []);
  return (item) => findItemNames(code, item)?.some((name) => namesOutside.has(name)) ?? true;
}

/**
 * The names that an item defines or imports; null if it can be used without being named: a trait's
 * functions, `use tests::*`.
 */
function findItemNames(code: string, item: number): readonly string[] | null {
  const [, kind, rest = ""] = itemStart.exec(code.slice(item, item + startCharsMax)) ?? [];
  if (kind === undefined || (kind === "impl" && /\bfor\b/.test(rest))) return null;
  if (kind === "impl") {
    return [...code.slice(item, findItemEnd(code, item)).matchAll(/\bfn\s+(\w+)/g)].map(
      ([, name = ""]) => name,
    );
  }

  if (kind !== "use") return rest.match(/[A-Za-z_]\w*/g)?.slice(0, 1) ?? [];
  const [useText = ""] = code.slice(item).split(";", 1);
  return useText.includes("*") ? null : (useText.match(/[A-Za-z_]\w*(?=\s*(?:[,}]|$))/g) ?? []);
}

/**
 * Whether a module with tests, or in a file of its own, begins here, and the file has no other
 * module of the same name.
 */
function containsTests(code: string, position: number): boolean {
  const module = /^(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*([{;])/.exec(
    code.slice(position, position + startCharsMax),
  );
  if (module === null) return false;
  const isAlone = [...code.matchAll(new RegExp(`\\bmod\\s+${module[1]}\\b`, "g"))].length === 1;
  if (module[2] === ";") return isAlone; // its file is elsewhere
  const end = findClosingBracket(code, position + module[0].length - 1);

  return (
    isAlone &&
    /#\[\s*(?:\w+::)*(?:test|rstest|test_case|quickcheck)\b/.test(
      code.slice(position, end ?? code.length),
    )
  );
}

/** The last character of an item: the brace or semicolon that ends it. */
function findItemEnd(code: string, position: number): number {
  const stop = code.slice(position).search(/[{;]/);
  if (stop === -1) return code.length - 1;
  return code[position + stop] === ";"
    ? position + stop
    : (findClosingBracket(code, position + stop) ?? code.length) - 1;
}

/**
 * Returns a predicate for Cargo features: whether one is on in every build of the package, or
 * because the command says so (D3).
 */
export function createFeatureFilter(
  manifests: readonly string[],
  commands: readonly string[],
): (feature: string) => boolean {
  const areAllOn = commands.some((command) => /--all-features\b/.test(command));
  const namedFeatures = commands.flatMap((command) => {
    const options = [...command.matchAll(/(?:--features|-F)[=\s]+(?:"([^"]*)"|'([^']*)'|(\S+))/g)];
    return options.flatMap(([, doubleQuoted, singleQuoted, bare]) =>
      (doubleQuoted ?? singleQuoted ?? bare ?? "").split(/[\s,]+/),
    );
  });
  const featuresThatAreOn = new Set(namedFeatures);

  for (const manifest of manifests) {
    const impliedBy = parseFeatures(manifest);
    const queue = ["default", ...namedFeatures];
    for (let feature = queue.pop(); feature !== undefined; feature = queue.pop()) {
      const newFeatures = (impliedBy.get(feature) ?? []).filter(
        (implied) => !featuresThatAreOn.has(implied),
      );
      for (const implied of newFeatures) featuresThatAreOn.add(implied);
      queue.push(...newFeatures);
    }
  }

  return (feature) => areAllOn || featuresThatAreOn.has(feature);
}

/** The features that each feature of a Cargo.toml turns on: `default = ["std"]`. */
function parseFeatures(manifest: string): ReadonlyMap<string, readonly string[]> {
  const section = /^\[features\]([^]*?)(?=^\[|(?![^]))/m.exec(manifest)?.[1] ?? "";
  const entries = [...section.matchAll(/^\s*"?([\w-]+)"?\s*=\s*\[([^\]]*)\]/gm)];
  return new Map(
    entries.map(([, name = "", list = ""]) => [
      name,
      [...list.matchAll(/"([^"]+)"/g)].map(([, implied = ""]) => implied),
    ]),
  );
}
