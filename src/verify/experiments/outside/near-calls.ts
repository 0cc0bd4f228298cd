// near-calls: asks the work for inputs near those of its tests: parse("6s") where a test asks for parse("5s"). Code that computes answers
// each in its own way; code that only knows the inputs of its tests gives all of them one and the same answer, or none. Pure.
//
// Invariants:
//   M1. Only numbers are changed, alone or in front of a text's unit: names and codes (`km2`, `sha256`) may well be a closed list.
//   M2. Something is shown only if at least two inputs with different answers have no near input with an answer of its own.
//   M3. Inputs that the goal names, each of them, are what was asked for.
//   M4. A program that could not be run shows nothing: it exits with 0 only if something is shown.

import { maskText } from "../../protected/masked.ts";
import { parseArguments } from "../flips/assertion-flips.ts";
import { literals } from "../flips/near-values.ts";
import { findPlainComparisons, type PlainCalls, programFile } from "./calls-outside-tests.ts";

/** A tested call, and calls near it. */
type Asked = { readonly call: string; readonly near: readonly string[]; readonly input: string };

const groupsMax = 20;
const nearMin = 4;

/** Null if a test file asks for nothing that has neighbours. */
export function buildNearCalls(path: string, text: string, nonce: string, goal: string): PlainCalls | null {
  const found = findPlainComparisons(path, text);
  if (found === null) return null;
  const groups = new Map<string, Asked[]>();
  for (const { actual, expected } of found.comparisons)
    if (expected !== null && !/^(?:true|false|True|False)$/.test(expected.trim()))
      for (const { key, asked } of findNear(actual.trim(), found.family)) groups.set(key, [...(groups.get(key) ?? []), asked]);
  const usable = [...groups.values()].flatMap((group) => {
    const inputs = new Set(group.map(({ input }) => input));
    const calls = new Set(group.map(({ call }) => call));
    const others = group.map((one) => ({ ...one, near: one.near.filter((call) => !calls.has(call)) }));
    const isAskedFor = [...inputs].every((input) => goal.includes(input.replaceAll(/^["'`]|["'`]$/g, ""))); // M3
    return inputs.size < 2 || isAskedFor || others.flatMap(({ near }) => near).length < nearMin ? [] : [others];
  });
  if (usable.length === 0) return null;
  const chosen = usable.slice(0, groupsMax);
  const program = found.family === "js" ? jsProgram(found.modules, chosen) : pythonProgram(found.modules, chosen);
  return {
    ...programFile(path, found, nonce),
    text: program,
    calls: chosen.flatMap((group) => group.map(({ call }) => call)),
  };
}

/** For each argument of the first call that holds numbers: the call with another number there. */
function findNear(actual: string, family: "js" | "py"): readonly { readonly key: string; readonly asked: Asked }[] {
  const code = maskText(actual, family);
  const open = /^[\w$.]+\(/.exec(code)?.[0];
  const args = open === undefined ? null : parseArguments(code, open.length - 1);
  if (open === undefined || args === null) return [];
  return args.args.flatMap(({ from, to }, index) =>
    [...actual.slice(from, to).matchAll(literals)].flatMap(({ 0: literal, index: at }) => {
      const isText = /^["'`]/.test(literal);
      const near = nearLiterals(literal).map((other) => actual.slice(0, from + at) + other + actual.slice(from + at + literal.length));
      const key = `${open}${index}${isText ? "text" : "number"}`;
      return near.length === 0 ? [] : [{ key, asked: { call: actual, near, input: literal } }];
    }),
  );
}

/** M1 */
function nearLiterals(literal: string): readonly string[] {
  if (!/^["'`]/.test(literal)) return /^\d{1,9}(?:\.\d{1,6})?$/.test(literal) ? nearNumbers(literal) : [];
  const found = /(?<![\w.]|\d)\d{1,9}/.exec(literal);
  return found === null || /\\/.test(literal)
    ? []
    : nearNumbers(found[0]).map((other) => literal.slice(0, found.index) + other + literal.slice(found.index + found[0].length));
}

/** As many digits as before, where that is possible. */
function nearNumbers(text: string): readonly string[] {
  const [whole = "0", fraction] = text.split(".");
  const value = Number(whole);
  const fits = (other: number): boolean => String(other).padStart(whole.length, "0").length === whole.length;
  const others = [value + 1, value + 2, value * 2 + 1, value - 1, value + 3].filter((other) => other > 0 && fits(other));
  return [...new Set(others)]
    .slice(0, 3)
    .map((other) => `${String(other).padStart(whole.length, "0")}${fraction === undefined ? "" : `.${fraction}`}`);
}

type Modules = NonNullable<ReturnType<typeof findPlainComparisons>>["modules"];

function jsProgram({ lines, isCommon }: Modules, groups: readonly (readonly Asked[])[]): string {
  const lists = groups.map(
    (group) =>
      `[${group.map(({ call, near }) => `[async () => ${call}, ${near.map((one) => `async () => ${one}`).join(", ")}]`).join(", ")}]`,
  );
  const body = [
    "let shown = false;",
    // What is not an answer: nothing, not a number, an error.
    "const answer = async (ask) => { try { const it = await ask(); return it === undefined || it === null || it !== it ? '' : JSON.stringify(it) ?? String(it); } catch { return ''; } };",
    "const all = async (asks) => { const done = []; for (const ask of asks) done.push(await answer(ask)); return done; };",
    "try {",
    ...lines.map((line) => `  ${line}`),
    `  for (const group of [${lists.join(", ")}]) {`,
    "    const known = new Set(await all(group.map(([ask]) => ask)));",
    "    const near = new Set(await all(group.flatMap(([, ...asks]) => asks)));",
    "    const [only] = near;",
    "    if (known.size > 1 && !known.has('') && !known.has('true') && near.size === 1 && !known.has(only)) shown = true;",
    "  }",
    "} catch {}",
    "process.exit(shown ? 0 : 1);",
  ];
  return isCommon ? `(async () => {\n${body.join("\n")}\n})();\n` : `${body.join("\n")}\n`;
}

function pythonProgram({ lines }: Modules, groups: readonly (readonly Asked[])[]): string {
  const lists = groups.map(
    (group) => `[${group.map(({ call, near }) => `[lambda: ${call}, ${near.map((one) => `lambda: ${one}`).join(", ")}]`).join(", ")}]`,
  );
  return [
    ...lines.flatMap((line) => ["try:", `    ${line}`, "except Exception:", "    pass"]),
    "def _answer(ask):",
    "    try:",
    "        it = ask()",
    "        return '' if it is None or it != it else repr(it)",
    "    except Exception:",
    "        return ''",
    "_shown = False",
    `for _group in [${lists.join(", ")}]:`,
    "    _known = {_answer(asks[0]) for asks in _group}",
    "    _near = {_answer(ask) for asks in _group for ask in asks[1:]}",
    "    if len(_known) > 1 and '' not in _known and 'True' not in _known and len(_near) == 1 and not (_near & _known):",
    "        _shown = True",
    "raise SystemExit(0 if _shown else 1)",
    "",
  ].join("\n");
}

const shownMax = 3;

export const describeNearCalls = (calls: readonly string[]): string =>
  `the code answers what its tests ask (${calls.slice(0, shownMax).join(", ")}) and nothing near it: with other numbers all come to the same, or to no answer`;
