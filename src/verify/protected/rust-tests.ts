// rust-tests: the tests inside a Rust source file: the modules under #[cfg(test)], each test in them by name.

import type { Deciding } from "./named.ts";
import { masked } from "./masked.ts";

type Region = { readonly from: number; readonly to: number };
type Module = Region & { readonly name: string };

const attribute = String.raw`#\[[^\]]{0,200}\]\s{0,80}`;
const moduleOpens = new RegExp(
  String.raw`#\[\s{0,9}cfg\s{0,9}\(\s{0,9}(?:test|all\s{0,9}\(\s{0,9}test\b[^\]]{0,200})\s{0,9}\)\s{0,9}\]\s{0,80}(?:${attribute}){0,8}(?:pub(?:\([^)]{0,40}\))?\s{1,9})?mod\s{1,9}(\w{1,100})\s{0,80}\{`,
  "g",
);
const testOpens = new RegExp(
  String.raw`(?:${attribute}){0,8}#\[\s{0,9}(?:\w{1,40}::){0,4}(?:test|rstest|test_case|quickcheck)\b[^\]]{0,200}\]\s{0,80}(?:${attribute}){0,8}(?:pub\s{1,9})?(?:async\s{1,9})?(?:unsafe\s{1,9})?fn\s{1,9}(\w{1,100})`,
  "g",
);

/**
 * Each test by its module and name, and what else each test module has. Adding a test or a whole module changes none of them, unless it
 * brings macros: those could replace the assertions of existing tests.
 */
export function rustTests(text: string): Deciding {
  const code = masked(text, "rust");
  const found: Record<string, string> = {};
  const add = (name: string, said: string): void => {
    let free = name;
    for (let more = 2; Object.hasOwn(found, free); more++) free = `${name} (${more})`;
    found[free] = squeezed(said);
  };
  const modules = modulesIn(code);
  const tests: Region[] = [];
  for (const open of code.matchAll(testOpens)) {
    if (open.index < (tests.at(-1)?.to ?? 0)) continue;
    const region = bracedFrom(code, open.index + open[0].length, open.index);
    if (region === null) break;
    tests.push(region);
    const module = modules.find(({ from, to }) => region.from >= from && region.to <= to);
    add(`test ${module === undefined ? "" : `${module.name}::`}${open[1] ?? ""}`, text.slice(region.from, region.to));
  }
  for (const { from, to, name } of modules) {
    const inner = tests.filter((test) => test.from >= from && test.to <= to);
    let kept = "";
    let position = from;
    for (const test of inner) {
      kept += text.slice(position, test.from);
      position = test.to;
    }
    // Further imports may come with further tests, but not of assertions.
    const lines = (kept + text.slice(position, to)).split("\n");
    add(`what the tests in ${name} share`, lines.filter((line) => !furtherImport.test(line) || judgingImport.test(line)).join("\n"));
  }
  if (modules.length > 0) found["macros that the tests bring"] = modules.map(({ from, to }) => macrosIn(text, code, from, to)).join("");
  return found;
}

const furtherImport = /^\s*use\s.*;\s*$/;
const judgingImport = /\bsuper\b|\b(?:debug_)?assert\w*|\bpanic\b/;

/** All of a module that defines macros, nothing of any other. */
const macrosIn = (text: string, code: string, from: number, to: number): string =>
  /\bmacro_(?:rules|use|export)\b/.test(code.slice(from, to)) ? squeezed(text.slice(from, to)) : "";

/** The later file with the earlier one's test modules; null if the later one's cannot be separated from its code. */
export function withRustTests(before: string, after: string): string | null {
  const was = modulesIn(masked(before, "rust")).map(({ from, to }) => before.slice(from, to));
  if (was.length === 0) return null;
  const is = modulesIn(masked(after, "rust"));
  let kept = "";
  let position = 0;
  for (const { from, to } of is) {
    kept += after.slice(position, from);
    position = to;
  }
  return `${(kept + after.slice(position)).trimEnd()}\n\n${was.join("\n\n")}\n`;
}

function modulesIn(code: string): readonly Module[] {
  const found: Module[] = [];
  for (const open of code.matchAll(moduleOpens)) {
    if (open.index < (found.at(-1)?.to ?? 0)) continue;
    const region = bracedFrom(code, open.index + open[0].length - 1, open.index);
    if (region === null) break; // after unbalanced braces nothing can be separated
    found.push({ ...region, name: open[1] ?? "" });
  }
  return found;
}

/** From a start to the end of the next braces. */
function bracedFrom(code: string, search: number, from: number): Region | null {
  let depth = 0;
  for (let to = search; to < code.length; to++) {
    if (code[to] === ";" && depth === 0) return null;
    if (code[to] === "{") depth++;
    if (code[to] === "}" && --depth === 0) return { from, to: to + 1 };
  }
  return null;
}

const squeezed = (text: string): string => text.replaceAll(/\s+/g, " ").trim();
