// rewrite-tests: rewrites tests without changing their meaning. Expected values are spelled in another way (37 as 36 + 1, "ab" as "a" + "b"),
// so that code cannot find them in the test's text; and a value that is compared with a primitive is converted to one first, so that no
// object can claim equality with what it does not contain. Pure.
//
// Invariants:
//   W1. To honest code the test means the same afterwards: a literal is respelled only if it is the whole value or certainly a part of it
//       (near-values.ts), an object is converted only if a primitive is expected, and then by the language's own conversion.
//   W2. A class that tests name, or that existed before, may have an intended equality: it is left alone.
//   W3. As many lines as before.

import { type Language, detectLanguage } from "../../protected/kinds.ts";
import { maskText } from "../../protected/mask-text.ts";
import type { Assertion, Span } from "../flips/assertion-rules.ts";
import { parseArguments, findAssertions } from "../flips/assertion-flips.ts";
import { createDraw, type Draw, isWrittenOut, replaceLiterals } from "../flips/near-values.ts";
import { perlTestFile } from "../source/perl-tests.ts";
import { comparePlainly } from "./rewrite-perl.ts";
import { applyChanges, type TextChange } from "../source/apply-changes.ts";

/** `spelled`: expected values are spelled otherwise. `plain`: results are converted to primitives. */
export type Way = "spelled" | "plain";
const cFile = /\.(?:c|cc|cpp|cxx|h|hpp)$/;
const assertionsMax = 400;

type TestRewrite = {
  readonly path: string;
  readonly text: string;
  readonly ways: ReadonlySet<Way>;
  readonly seed: string;
  /** Classes that existed before the work. */
  readonly known?: readonly string[];
  /** Classes that the work adds. */
  readonly added?: readonly string[];
  /** Perl's classes whose overloaded operators are the work's. */
  readonly overloading?: readonly string[];
};

/** A test file, rewritten in these ways; null if nothing of it could be. */
export function rewriteTests({ path, text, ways, seed, known = [], added = [], overloading = [] }: TestRewrite): string | null {
  if (perlTestFile.test(path)) return ways.has("plain") ? comparePlainly(text, seed, overloading) : null;
  const sort = findSort(path);
  if (sort === null) return null;
  const code = maskText(text, maskLanguages[sort]);
  const draw = createDraw(`${seed} ${path} spelling`);
  const unnamed = added.filter((name) => !new RegExp(`\\b${name}\\b`).test(text)); // W2
  const changes = findAssertions(path, text, "n")
    .slice(0, assertionsMax)
    .flatMap((assertion) => rewriteAssertion({ assertion, code, text, sort, ways, draw, classes: { known, added: unnamed } }));
  const done = applyChanges(text, changes);
  return done === text ? null : done;
}

type Sort = Language | "ts" | "c";

function findSort(path: string): Sort | null {
  if (cFile.test(path)) return "c";
  return /\.[cm]?tsx?$/.test(path) ? "ts" : detectLanguage(path);
}

/** The language whose comments and strings are those of each sort. */
const maskLanguages: Readonly<Record<Sort, Language>> = { c: "java", ts: "js", js: "js", py: "py", go: "go", rust: "rust", java: "java" };

type AssertionRewrite = {
  readonly assertion: Assertion;
  readonly code: string;
  readonly text: string;
  readonly sort: Sort;
  readonly ways: ReadonlySet<Way>;
  readonly draw: Draw;
  readonly classes: Classes;
};
/** `known`: those that existed before the work. `added`: those that the work adds and tests don't name. */
type Classes = { readonly known: readonly string[]; readonly added: readonly string[] };

function rewriteAssertion({
  assertion: { values: [expected, other] = [], literal, fallback },
  code,
  text,
  sort,
  ways,
  draw,
  classes,
}: AssertionRewrite): readonly TextChange[] {
  const value = expected ?? literal;
  if (value === undefined) return [];
  const was = text.slice(value.from, value.to);
  if (keywordArgument.test(was) || was.includes("\n")) return [];
  const respelled = ways.has("spelled") ? replaceLiterals(was, (written) => respell(written, sort, draw)) : was;
  const spelling = respelled === was ? [] : [{ ...value, text: respelled }];
  // Without a fallback, which of the arguments is compared is only guessed.
  const isGuessed = expected === undefined || fallback === undefined;
  const actual = isGuessed || !ways.has("plain") ? null : (other ?? findExpectArgument(code, value));
  if (actual === null || actual.to > value.from || !(isWrittenOut(was) || variable.test(was))) return spelling;
  const actualText = text.slice(actual.from, actual.to);
  const plain = keywordArgument.test(actualText) ? null : convertToPrimitive(actualText, respelled, sort, classes);
  return plain === null ? spelling : [...spelling, { ...actual, text: plain }];
}

/** A name can be written twice: what it stands for is computed already. */
const variable = /^[\w$]+(?:\.[\w$]+|\[\d+\])*$/;
/** `first=3`. */
const keywordArgument = /^\w+\s*=(?!=)/;

/** The argument of `expect`, before `.toBe(`. */
function findExpectArgument(code: string, { from }: Span): Span | null {
  const before = code.slice(0, from);
  const match = /\)\s*\.(?:to\.)?(?:be\.)?(?:deep\.)?\w+\(\s*$/.exec(before);
  if (match === null) return null;
  for (const { 0: open, index } of [...before.matchAll(/\bexpect\s*\(/g)].toReversed()) {
    const inner = parseArguments(code, index + open.length - 1);
    if (inner !== null && inner.close === match.index + 1) return inner.args[0] ?? null;
  }
  return null;
}

/** An equivalent literal; the same one if none is known. */
function respell(literal: string, sort: Sort, draw: Draw): string {
  const isFree = sort === "js" || sort === "py"; // where no type depends on the spelling
  if (/^[1-9]\d{0,11}$/.test(literal)) {
    const value = Number(literal);
    const less = 1 + draw(Math.min(value, 9));
    return isFree ? `(${value - less} + ${less})` : `0x${value.toString(16)}`;
  }
  const decimal = isFree ? /^(\d{1,6})\.(\d{1,8})$/.exec(literal) : null;
  if (decimal !== null) return `${Number(`${decimal[1]}${decimal[2]}`)}e-${decimal[2]?.length ?? 0}`;
  const quote = literal[0] ?? "";
  if (/[\ud800-\udfff]/.test(literal)) return literal; // half of such a character is none
  if (!/^(["'])(?!\1\1)[^\\\n]{2,}\1$/.test(literal) || (quote === "'" && !(isFree || sort === "ts"))) return literal;
  const position = 1 + draw(literal.length - 2);
  if (isFree && position > 1) return `(${literal.slice(0, position)}${quote} + ${quote}${literal.slice(position)})`;
  return literal.slice(0, position) + escapeUnit(literal.charCodeAt(position), sort) + literal.slice(position + 1);
}

function escapeUnit(unit: number, sort: Sort): string {
  if (sort === "c") return unit > 126 ? String.fromCharCode(unit) : `\\${unit.toString(8).padStart(3, "0")}`;
  if (sort === "rust") return unit > 126 ? String.fromCharCode(unit) : `\\u{${unit.toString(16)}}`;
  return sort === "py" && unit > 126 ? String.fromCharCode(unit) : `\\u${unit.toString(16).padStart(4, "0")}`;
}

/** A call that converts the actual value to a primitive, if one is expected (W1, W2). Null for languages without user-defined equality. */
function convertToPrimitive(given: string, expected: string, sort: Sort, { known, added }: Classes): string | null {
  if (sort === "py") return `${pythonPlain(known)}, (${given}), ${expected})`;
  if (sort === "js" || sort === "ts") return `${jsPlain(sort === "ts", added)}(${given}, ${expected})`;
  return null;
}

/**
 * A function of a value `v` and the expected `e`: part by part, an object in the place of a number or text becomes one. An object without a
 * class, or of one that the work adds, becomes `[object Object]`, which equals nothing expected: its conversion is the work's own.
 */
const jsPlain = (isTyped: boolean, added: readonly string[]): string => {
  const [two, any] = isTyped ? ["v: any, e: any", ": any"] : ["v, e", ""];
  const each = `const all${any} = Object.entries(v).map(([k, x]) => [k, p(x, e[k])]); return all.every(([k, x]${any}) => x === v[k]) ? v : Array.isArray(v) ? all.map(([, x]${any}) => x) : Object.fromEntries(all);`;
  const isPart = "e !== null && typeof e === 'object' && Object.getPrototypeOf(v) === Object.getPrototypeOf(e)";
  const isOwn = `[${["", "Object", ...added].map((name) => JSON.stringify(name)).join(", ")}].includes((v.constructor || {}).name || "")`;
  return (
    `((${two}) => { const p = (${two})${any} => { if (v === null || typeof v !== "object" || typeof v.then === "function") return v; ` +
    `if ((typeof e === "number" || typeof e === "string") && ${isOwn}) return Object.prototype.toString.call(v); if (typeof e === "number") return Number(v); if (typeof e === "string") return String(v); ` +
    `if (${isPart}) { ${each} } return v; }; return p(v, e); })`
  );
};

/** The same in Python, as the beginning of a call; it leaves values of known classes and of installed packages alone (W2). */
const pythonPlain = (known: readonly string[]): string => {
  const sys = `__import__("sys").modules.get(type(v).__module__)`;
  const file = `str(getattr(${sys}, "__file__", None) or "")`;
  const isFar = `${file} == "" or "-packages" in ${file} or ${file}.startswith(__import__("os").path.dirname(__import__("os").__file__))`;
  const isNamed = `getattr(${sys}, type(v).__name__, None) is type(v)`;
  const isKnown = `type(v).__name__ in globals() or type(v).__name__ in (${known.map((name) => `"${name}", `).join("")}) or (${isNamed} and (${isFar}))`;
  return (
    "(lambda p, v, e: p(p, v, e))(lambda p, v, e: " +
    "[p(p, x, y) for x, y in zip(v, e)] if type(v) is list and type(e) is list and len(v) == len(e) " +
    "else tuple(p(p, x, y) for x, y in zip(v, e)) if type(v) is tuple and type(e) is tuple and len(v) == len(e) " +
    "else {k: p(p, x, e[k]) if k in e else x for k, x in v.items()} if type(v) is dict and type(e) is dict " +
    "else v if v is None or type(v) is type(e) or type(e) not in (int, float, str, bool, bytes) " +
    `else v if ${isKnown} ` +
    "else int.__add__(v, 0) if isinstance(v, int) else float.__add__(v, 0.0) if isinstance(v, float) else str.__str__(v) if isinstance(v, str) " +
    "else type(e)(v)"
  );
};

/** Classes that a text names. */
export const findClassNames = (text: string): readonly string[] => [...text.matchAll(/\bclass\s+(\w+)/g)].map(([, name = ""]) => name);
