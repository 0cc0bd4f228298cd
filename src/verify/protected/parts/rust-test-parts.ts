// rust-test-parts: extracts the tests inside a Rust source file, the modules under #[cfg(test)] and each
// test in them by name, and puts the base's test modules back.

import { type ProtectedParts, squeezeSpace } from "./protected-parts.ts";
import { maskText } from "../mask-text.ts";

type Region = { readonly from: number; readonly to: number };
type Module = Region & { readonly name: string };

const attribute = String.raw`#\[[^\]]{0,200}\]\s{0,80}`;
/** `#[cfg(test)] mod tests {`. */
const moduleOpens = new RegExp(
  String.raw`#\[\s{0,9}cfg\s{0,9}\(\s{0,9}(?:test|all\s{0,9}\(\s{0,9}test\b[^\]]{0,200})\s{0,9}\)\s{0,9}\]\s{0,80}(?:${attribute}){0,8}(?:pub(?:\([^)]{0,40}\))?\s{1,9})?mod\s{1,9}(\w{1,100})\s{0,80}\{`,
  "g",
);
/** `#[test] fn adds`. */
const testOpens = new RegExp(
  String.raw`(?:${attribute}){0,8}#\[\s{0,9}(?:\w{1,40}::){0,4}(?:test|rstest|test_case|quickcheck)\b[^\]]{0,200}\]\s{0,80}(?:${attribute}){0,8}(?:pub\s{1,9})?(?:async\s{1,9})?(?:unsafe\s{1,9})?fn\s{1,9}(\w{1,100})`,
  "g",
);

/** `fn parsed(text: &str) -> Value`. */
const functionOpens = new RegExp(
  String.raw`(?:${attribute}){0,8}(?:pub\s{1,9})?(?:(?:const|async|unsafe)\s{1,9}){0,3}fn\s{1,9}(\w{1,100})`,
  "g",
);
const helperPrefix = "helper ";

/**
 * Each test and each helper by its module and name, and what else each test module has. Adding a
 * test, a helper or a whole module changes none of them, unless it brings macros, which could
 * replace the assertions of existing tests, or a helper has a name that they use.
 */
export function extractRustTestParts(text: string): ProtectedParts {
  const code = maskText(text, "rust");
  const parts: Record<string, string> = {};

  const add = (name: string, source: string): void => {
    let unusedName = name;
    for (let suffix = 2; Object.hasOwn(parts, unusedName); suffix++) {
      unusedName = `${name} (${suffix})`;
    }

    parts[unusedName] = squeezeSpace(source);
  };

  const modules = findModules(code);
  const tests: Region[] = [];

  for (const open of code.matchAll(testOpens)) {
    if (open.index < (tests.at(-1)?.to ?? 0)) continue;
    const region = findRegion(code, open.index + open[0].length, open.index);
    if (region === null) break;
    tests.push(region);
    const module = modules.find(({ from, to }) => region.from >= from && region.to <= to);
    add(
      `test ${module === undefined ? "" : `${module.name}::`}${open[1] ?? ""}`,
      text.slice(region.from, region.to),
    );
  }

  for (const { from, to, name } of modules) {
    const inner = tests.filter((test) => test.from >= from && test.to <= to);
    const helpers = findModuleFunctions(code, { from, to }, inner);
    for (const helper of helpers) {
      add(`${helperPrefix}${name}::${helper.name}`, text.slice(helper.from, helper.to));
    }

    let sharedText = "";
    let position = from;

    for (const item of [...inner, ...helpers].toSorted((one, other) => one.from - other.from)) {
      sharedText += text.slice(position, item.from);
      position = item.to;
    }

    // Further imports may come with further tests, but not of assertions.
    const lines = (sharedText + text.slice(position, to)).split("\n");
    add(
      `what the tests in ${name} share`,
      lines.filter((line) => !importLine.test(line) || judgingImport.test(line)).join("\n"),
    );
  }

  if (modules.length > 0) {
    parts["macros that the tests bring"] = modules
      .map(({ from, to }) => readModuleMacros(text, code, from, to))
      .join("");
  }

  return parts;
}

/** The functions that stand in a module itself and are no tests. */
function findModuleFunctions(
  code: string,
  module: Region,
  tests: readonly Region[],
): readonly Module[] {
  const helpers: Module[] = [];
  for (const open of code.slice(0, module.to).matchAll(functionOpens)) {
    const isInside = (region: Region): boolean =>
      open.index >= region.from && open.index < region.to;
    if (!isInside(module) || [...tests, ...helpers].some(isInside)) continue;
    const before = code.slice(module.from, open.index);
    if (countOf(before, "{") - countOf(before, "}") !== 1) continue;
    const region = findRegion(code, open.index + open[0].length, open.index);
    if (region !== null) helpers.push({ ...region, name: open[1] ?? "" });
  }

  return helpers;
}
const countOf = (text: string, character: string): number => text.split(character).length - 1;

/** Whether a new part takes the place of something that the tests before it use by name. */
export const replacesInTests = (partName: string, before: ProtectedParts): boolean =>
  partName.startsWith(helperPrefix) &&
  Object.values(before).some((text) =>
    text.split(/\W+/).includes(partName.slice(partName.lastIndexOf(":") + 1)),
  );

const importLine = /^\s*use\s.*;\s*$/;
const judgingImport = /\bsuper\b|\b(?:debug_)?assert\w*|\bpanic\b/;

/** The whole text of a module that defines macros; empty for any other. */
const readModuleMacros = (text: string, code: string, from: number, to: number): string =>
  /\bmacro_(?:rules|use|export)\b/.test(code.slice(from, to))
    ? squeezeSpace(text.slice(from, to))
    : "";

/**
 * The later file with the earlier one's test modules in the place of its own; null if the earlier
 * one has none.
 */
export function restoreRustTests(before: string, after: string): string | null {
  const baseModules = findModules(maskText(before, "rust")).map(({ from, to }) =>
    before.slice(from, to),
  );
  if (baseModules.length === 0) return null;
  const laterModules = findModules(maskText(after, "rust"));
  let code = "";
  let position = 0;

  for (const { from, to } of laterModules) {
    code += after.slice(position, from);
    position = to;
  }

  return `${(code + after.slice(position)).trimEnd()}\n\n${baseModules.join("\n\n")}\n`;
}

function findModules(code: string): readonly Module[] {
  const modules: Module[] = [];
  for (const open of code.matchAll(moduleOpens)) {
    if (open.index < (modules.at(-1)?.to ?? 0)) continue;
    const region = findRegion(code, open.index + open[0].length - 1, open.index);
    if (region === null) break; // after unbalanced braces nothing can be separated
    modules.push({ ...region, name: open[1] ?? "" });
  }

  return modules;
}

/**
 * From `from` to the end of the braces that open at or after `search`; null if a statement ends
 * first, or they don't close.
 */
function findRegion(code: string, search: number, from: number): Region | null {
  let depth = 0;
  for (let to = search; to < code.length; to++) {
    if (code[to] === ";" && depth === 0) return null;
    if (code[to] === "{") depth++;
    if (code[to] === "}" && --depth === 0) return { from, to: to + 1 };
  }

  return null;
}
