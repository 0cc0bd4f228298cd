// rust-build: switches a Rust source to what another build would compile (build-conditions.ts):
// `cfg` conditions and debug assertions are turned off in the text. Also finds out which features
// of a Cargo package are on in every build. Pure.
// Invariants D1 and on: verify/experiments/questions/build-conditions.ts.

import { findClosingBracket, findOutsideBrackets } from "../source/brackets.ts";
import type { TextChange } from "../source/apply-changes.ts";
import type { BuildSource, SwitchedBuild } from "./build-switch.ts";

/** How far the start of an item is searched: its visibility, kind and name. */
const startCharsMax = 400;

/** Conditions on the target, which is the same for every build on this machine. */
const targetCondition =
  /^(?:unix|windows|any|all|not|true|false|target_\w+|panic|proc_macro|miri|version|accessible)$/;

export function switchRust({
  text,
  code,
  isNew,
  isFeatureOn,
  isGentle,
}: BuildSource): SwitchedBuild {
  const changes: TextChange[] = [];
  const off: string[] = [];
  const isNeeded = isGentle ? createUseFilter(code) : () => true;

  for (const { 0: open, index } of code.matchAll(/\bcfg(?:_attr)?\s*(?:!\s*)?\(/g)) {
    const start = index + open.length;
    const end = findClosingBracket(code, start - 1);
    if (end === null) continue;
    const to = open.startsWith("cfg_attr")
      ? findOutsideBrackets(code, start, end - 1, (letter) => letter === ",")
      : end - 1;

    const behind = /^\s*\]\s*(?:#\[[^\]]*\]\s*)*/.exec(code.slice(end)); // an attribute, and those that follow it; null for `cfg!(…)`
    const item = behind === null ? end : end + behind[0].length;
    if (behind !== null && !open.startsWith("cfg_attr") && containsTests(code, item)) continue; // D2
    if (isGentle && behind !== null && text.slice(start, to).trim() === "test" && !isNeeded(item)) {
      continue;
    }

    if (!isNew(index, behind === null ? end : findItemEnd(code, item))) continue;
    for (const { 0: word, 1: feature, index: at } of text
      .slice(start, to)
      .matchAll(/\bfeature\s*=\s*"([^"]*)"|\b[a-z_]\w*\b(?!\s*[=(])/g)) {
      if (
        feature === undefined
          ? targetCondition.test(word) || isInString(code, start + at, word)
          : isFeatureOn(feature)
      ) {
        continue;
      } // D3

      changes.push({ from: start + at, to: start + at + word.length, text: "any()" }); // which is never true
      const condition = word === "debug_assertions" ? "debug assertions" : `cfg(${word})`;
      off.push(feature === undefined ? condition : `the feature ${feature}`);
    }
  }

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
