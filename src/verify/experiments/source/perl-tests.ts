// perl-tests: the assertions of a Perl test, each of which is a test with a name or a line of its own. Pure; no parser.

import { maskText } from "../../protected/masked.ts";

export const perlTestFile = /\.t$/;

type Span = { readonly from: number; readonly to: number };
export type PerlAssertion = Span & {
  /** The function: `is`, `ok`. */
  readonly name: string;
  readonly args: readonly Span[];
  /** The argument that names the test, or null if it has none. */
  readonly title: Span | null;
  /** It is in a block that is skipped or expected to fail. */
  readonly isSkipped: boolean;
};

/** How many arguments come before a test's name. */
const comparedArguments: ReadonlyMap<string, number> = new Map([
  ["ok", 1],
  ["is", 2],
  ["isnt", 2],
  ["is_deeply", 2],
  ["eq_or_diff", 2],
  ["like", 2],
  ["unlike", 2],
  ["cmp_ok", 3],
]);
const heads = new RegExp(`(?<=(?:^|[;{}])\\s*)(?:${[...comparedArguments.keys()].join("|")})\\b(?!\\s*[=,;)]|\\s*=>)`, "g");
const assertionsMax = 2_000;
const assertionCharsMax = 4_000;

export function findPerlAssertions(text: string): readonly PerlAssertion[] {
  const program = text.replace(/^__(?:END|DATA)__$[^]*/m, "");
  const code = maskText(program.replaceAll("$#", "$ "), "py");
  const skipped = [...code.matchAll(/\b(?:TO[D]O|SKIP)\s*:\s*\{/g)].map(({ 0: open, index }) => ({
    from: index,
    to: endOfArguments(code, index + open.length, code.length).to,
  }));
  return [...code.matchAll(heads)].slice(0, assertionsMax).map(({ 0: name, index: from }) => {
    const call = readArguments(code, from + name.length);
    const title = call.args[comparedArguments.get(name) ?? 2] ?? null;
    return { name, from, ...call, title, isSkipped: skipped.some((block) => block.from < from && from < block.to) };
  });
}

/** With brackets, or up to the end of the statement. */
function readArguments(code: string, from: number): { readonly args: readonly Span[]; readonly to: number } {
  const bracket = /^\s*\(/.exec(code.slice(from, from + 80));
  if (bracket === null) return endOfArguments(code, from, from + assertionCharsMax);
  const inside = endOfArguments(code, from + bracket[0].length, from + assertionCharsMax);
  return { args: inside.args, to: inside.to + 1 };
}

const modifier = /^\s(?:if|unless|for|foreach|while|until|or|and)\b/;
/** Splits at commas that are in no bracket, up to the bracket, semicolon or modifier that ends them. */
function endOfArguments(code: string, start: number, most: number): { readonly args: readonly Span[]; readonly to: number } {
  const args: Span[] = [];
  let [depth, from, at] = [0, start, start];
  const add = (): void => {
    const inner = code.slice(from, at);
    const span = { from: from + inner.length - inner.trimStart().length, to: at - (inner.length - inner.trimEnd().length) };
    if (span.to > span.from) args.push(span);
    from = at + 1;
  };
  for (; at < Math.min(code.length, most); at += 1) {
    const letter = code[at] ?? "";
    if ("([{".includes(letter)) depth += 1;
    if (")]}".includes(letter)) depth -= 1;
    const isStatementEnd = depth === 0 && most !== code.length && (letter === ";" || modifier.test(code.slice(at, at + 10)));
    if (depth < 0 || isStatementEnd) break;
    if (letter === "," && depth === 0) add();
  }
  add();
  return { args, to: at };
}
