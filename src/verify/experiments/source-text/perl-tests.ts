// perl-tests: finds the assertions of a Perl test, each of which is reported as a test by its name
// or its line. Pure; there is no parser.

import { maskText } from "../../protected/mask-text.ts";
import type { Span } from "./brackets.ts";

export const perlTestFile = /\.t$/;

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
/** An assertion at the beginning of a statement. */
const heads = new RegExp(
  `(?<=(?:^|[;{}])\\s*)(?:${[...comparedArguments.keys()].join("|")})\\b(?!\\s*[=,;)]|\\s*=>)`,
  "g",
);
const assertionsMax = 2_000;
const assertionCharsMax = 4_000;

export function findPerlAssertions(text: string): readonly PerlAssertion[] {
  const program = text.replace(/^__(?:END|DATA)__$[^]*/m, "");
  const code = maskText(program.replaceAll("$#", "$ "), "py"); // Perl has Python's comments; `$#list` begins none
  const skipped = [...code.matchAll(/\b(?:TO[D]O|SKIP)\s*:\s*\{/g)].map(({ 0: open, index }) => ({
    from: index,
    to: splitArguments(code, index + open.length, code.length).to,
  }));

  return [...code.matchAll(heads)].slice(0, assertionsMax).map(({ 0: name, index: from }) => {
    const call = readArguments(code, from + name.length);
    const title = call.args[comparedArguments.get(name) ?? 2] ?? null;
    return {
      name,
      from,
      ...call,
      title,
      isSkipped: skipped.some((block) => block.from < from && from < block.to),
    };
  });
}

/** The arguments of a call, in brackets or up to the end of the statement. */
function readArguments(
  code: string,
  from: number,
): { readonly args: readonly Span[]; readonly to: number } {
  const bracket = /^\s*\(/.exec(code.slice(from, from + 80));
  if (bracket === null) return splitArguments(code, from, from + assertionCharsMax);
  const inside = splitArguments(code, from + bracket[0].length, from + assertionCharsMax);

  return { args: inside.args, to: inside.to + 1 };
}

/** A statement modifier: `is $a, $b if $c;`. */
const modifier = /^\s(?:if|unless|for|foreach|while|until|or|and)\b/;
/**
 * Splits at commas that are in no bracket, up to the bracket, semicolon or modifier that ends the
 * arguments. With `end` at the end of the code, it finds the end of a block, in which statements
 * may end.
 */
function splitArguments(
  code: string,
  start: number,
  end: number,
): { readonly args: readonly Span[]; readonly to: number } {
  const args: Span[] = [];
  let [depth, argumentStart, position] = [0, start, start];

  const addArgument = (): void => {
    const inner = code.slice(argumentStart, position);
    const from = argumentStart + inner.length - inner.trimStart().length;
    const to = position - (inner.length - inner.trimEnd().length);
    if (to > from) args.push({ from, to });
    argumentStart = position + 1;
  };

  for (; position < Math.min(code.length, end); position += 1) {
    const letter = code[position] ?? "";
    if ("([{".includes(letter)) depth += 1;
    if (")]}".includes(letter)) depth -= 1;
    const isStatementEnd =
      depth === 0 &&
      end !== code.length &&
      (letter === ";" || modifier.test(code.slice(position, position + 10)));
    if (depth < 0 || isStatementEnd) break;
    if (letter === "," && depth === 0) addArgument();
  }

  addArgument();
  return { args, to: position };
}
