// rust-tests: the tests that a Rust source file holds beside its code: the modules under #[cfg(test)], each test in them by name.

import type { Deciding } from "./named.ts";
import { masked } from "./masked.ts";

type Region = { readonly from: number; readonly to: number };

const attribute = String.raw`#\[[^\]]{0,200}\]\s{0,80}`;
const moduleOpens = new RegExp(
  String.raw`#\[\s{0,9}cfg\s{0,9}\(\s{0,9}(?:test|all\s{0,9}\(\s{0,9}test\b[^\]]{0,200})\s{0,9}\)\s{0,9}\]\s{0,80}(?:${attribute}){0,8}(?:pub(?:\([^)]{0,40}\))?\s{1,9})?mod\s{1,9}\w{1,100}\s{0,80}\{`,
  "g",
);
const testOpens = new RegExp(
  String.raw`(?:${attribute}){0,8}#\[\s{0,9}(?:\w{1,40}::){0,4}(?:test|rstest|test_case|quickcheck)\b[^\]]{0,200}\]\s{0,80}(?:${attribute}){0,8}(?:pub\s{1,9})?(?:async\s{1,9})?(?:unsafe\s{1,9})?fn\s{1,9}(\w{1,100})`,
  "g",
);

/** Each test by its name, and what else the test modules hold; a test that is added changes none of them. */
export function rustTests(text: string): Deciding {
  const code = masked(text, "rust");
  const found: Record<string, string> = {};
  const tests: Region[] = [];
  for (const open of code.matchAll(testOpens)) {
    if (open.index < (tests.at(-1)?.to ?? 0)) continue;
    const region = bracedFrom(code, open.index + open[0].length, open.index);
    if (region === null) break;
    tests.push(region);
    found[`test ${open[1] ?? ""}`] = squeezed(text.slice(region.from, region.to));
  }
  const rest = modulesIn(code).map(({ from, to }) => {
    const inner = tests.filter((test) => test.from >= from && test.to <= to);
    let kept = "";
    let at = from;
    for (const test of inner) {
      kept += text.slice(at, test.from);
      at = test.to;
    }
    // Further imports may come with further tests.
    const lines = (kept + text.slice(at, to)).split("\n");
    return squeezed(lines.filter((line) => !/^\s*use\s.*;\s*$/.test(line) || /\bsuper\b/.test(line)).join("\n"));
  });
  if (rest.length > 0) found["what the tests share"] = rest.join("\n");
  return found;
}

/** The later file with the earlier one's test modules; null where the later one's cannot be told from its code. */
export function withRustTests(before: string, after: string): string | null {
  const was = modulesIn(masked(before, "rust")).map(({ from, to }) => before.slice(from, to));
  if (was.length === 0) return null;
  const is = modulesIn(masked(after, "rust"));
  let kept = "";
  let at = 0;
  for (const { from, to } of is) {
    kept += after.slice(at, from);
    at = to;
  }
  return `${(kept + after.slice(at)).trimEnd()}\n\n${was.join("\n\n")}\n`;
}

function modulesIn(code: string): readonly Region[] {
  const found: Region[] = [];
  for (const open of code.matchAll(moduleOpens)) {
    if (open.index < (found.at(-1)?.to ?? 0)) continue;
    const region = bracedFrom(code, open.index + open[0].length - 1, open.index);
    if (region === null) break; // nothing after braces that do not close can be told apart
    found.push(region);
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
