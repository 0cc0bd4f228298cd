// near-values: replaces an expected value by another of the same kind and shape: 56 becomes 57, or
// 19 if the comparison may be lenient, "hello-world" becomes "hellq-world", `new Vec(4, 6)` becomes
// `new Vec(5, 6)`. An object that claims to be equal to everything of its type is equal to that
// too. Pure.
//
// Invariants:
//   V1. A change must certainly mean something else: of a literal, or of one inside a list, an
//       object or a constructor's first argument. The result of a function is changed at run time,
//       by its type.
//   V2. It looks like what it replaces: quotes, signs, digits and letters stay where they were, and
//       a number gets no more digits.
//   V3. If a test compares exactly, it is the nearest value (another last digit, a capital): a
//       lenient comparison would accept that one too. If it has a tolerance, or may have one, the
//       value differs by more than that.
//   V4. If a text is derived from another one beside it ("hello-world" from "Hello World"), a
//       letter is changed that differs between them: only that reveals code that returns its input
//       unchanged.

import { createHash } from "node:crypto";

/** Draws a number from 0 up to, and without, `most`. */
export type Draw = (most: number) => number;

/** Pseudo-random numbers below `most`, the same for the same seed. */
export function createDraw(seed: string): Draw {
  let count = 0;
  return (most) =>
    createHash("sha256").update(`${seed} ${count++}`).digest().readUInt32BE(0) % Math.max(1, most);
}

const number =
  /0[xX][\da-fA-F]+|\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?(?:n|[iuf](?:8|16|32|64|128|size)|[uU]?[lL]{1,2}|[fFuU])?(?![\w.])/;
const text =
  /"""(?:[^\\]|\\[^])*?"""|'''(?:[^\\]|\\[^])*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\$]|\\.)*`/;
const word = /\b(?:true|false|True|False)\b/;
export const literalPattern = new RegExp(
  `${text.source}|${word.source}|(?<![\\w.$#])${number.source}`,
  "g",
);
/** Suffixes that don't change a value's meaning. */
const meaninglessSuffix = /^(?:\s*as const|\.(?:to_string|to_owned|into|to_vec)\(\))?$/;
/** What is before the bracket of a constructor: `new Vec`, `Money.of`, `vec!`. */
const constructor =
  /(?:\bnew\s+[\w$.]+|(?:[\w$]+(?:\.|::))*[A-Z][\w$]*(?:(?:\.|::)(?:new|of|from))?|\b(?:vec!|Some|Ok|Err|approx|String::from)|\bexpect\.\w+)\s*$/;
/** What makes the value of an expression depend on more than its literals. */
const branches =
  /=>|\bfunction\b|\blambda\b|\?|\|\||&&|\b(?:if|or|and|for|else|in)\b|[<>=!]=|\.\.\./;

type Literal = { readonly position: number; readonly text: string };

/**
 * The expression with another value; null if none could be changed with certainty (V1). `isExact`:
 * by the least possible (V3).
 */
export function toNearValue(
  expression: string,
  draw: Draw,
  isExact = false,
  beside = "",
): string | null {
  const candidates = findChangeableLiterals(expression);
  const chosen = candidates[draw(candidates.length)];
  if (chosen === undefined) return null;
  const replacement = toOtherLiteral(chosen.text, draw, isExact, beside);

  return replacement === chosen.text
    ? null
    : expression.slice(0, chosen.position) +
        replacement +
        expression.slice(chosen.position + chosen.text.length);
}

/** The expression with every literal that could be changed (V1) replaced by a callback's result. */
export function replaceLiterals(expression: string, change: (literal: string) => string): string {
  return replaceAll(expression, findChangeableLiterals(expression), change);
}

/** From the last to the first, so that positions stay right. */
function replaceAll(
  expression: string,
  replaced: readonly Literal[],
  change: (literal: string) => string,
): string {
  return replaced.reduceRight(
    (done, { position, text: literal }) =>
      done.slice(0, position) + change(literal) + done.slice(position + literal.length),
    expression,
  );
}

/** Names with the same meaning everywhere. */
const builtInName =
  /^(?:new|await|typeof|null|undefined|true|false|Math|Array|Object|Number|String|Boolean|JSON|Set|Map|BigInt|None|True|False|not|and|or|in|is|len|abs|list|sorted|set|dict|tuple|str|int|float|round|sum|min|max|all|any|type|isinstance)$/;

/** Whether an expression uses nothing but these names, at least one of them, and literals. */
export function isClosedOver(expression: string, names: ReadonlySet<string>): boolean {
  const bare = expression.replaceAll(literalPattern, "0");
  if (/["'`]|=>|\b(?:function|lambda|for|this|self)\b/.test(bare)) return false;
  const used = [...bare.matchAll(/(?<![.\w$])[A-Za-z_$][\w$]*(?!\s*(?::|=(?!=))|[\w$])/g)].map(
    ([name]) => name,
  );

  return (
    used.some((name) => names.has(name)) &&
    used.every((name) => names.has(name) || builtInName.test(name))
  );
}
/** Whether an expression is nothing but literals, lists and objects of them. */
export const isWrittenOut = (expression: string): boolean =>
  isClosedOver(`written(${expression})`, new Set(["written"])) &&
  !/\w\s*\(/.test(expression.replaceAll(literalPattern, "0"));

function findChangeableLiterals(expression: string): readonly Literal[] {
  const all = [...expression.matchAll(literalPattern)].map(({ 0: literal, index }) => ({
    position: index,
    text: literal,
  }));
  const bare = replaceAll(expression, all, (literal) => "§".repeat(literal.length)); // the same positions, without any content of literals
  const [only] = all;

  const isLiteral =
    only !== undefined &&
    all.length === 1 &&
    /^\s*[-+]?[bru]?$/.test(bare.slice(0, only.position)) &&
    meaninglessSuffix.test(bare.slice(only.position + only.text.length));
  if (isLiteral) return all;
  if (branches.test(bare)) return [];
  const close = findOnlyBracketEnd(bare);
  if (close === null || !meaninglessSuffix.test(bare.slice(close + 1))) return [];

  return all.filter(({ position, text: literal }) =>
    isChangeable(bare, position, position + literal.length),
  );
}

/** The end of the one bracket that the expression consists of. */
function findOnlyBracketEnd(bare: string): number | null {
  const open = bare.search(/[[({]/);
  const head = bare.slice(0, open).trim();
  if (
    open === -1 ||
    !(head === "" || head === "&" || constructor.test(head) || /^[A-Z]\w*$/.test(head))
  ) {
    return null;
  }

  let depth = 0;
  for (let index = open; index < bare.length; index += 1) {
    if ("[({".includes(bare[index] ?? "")) depth += 1;
    else if ("])}".includes(bare[index] ?? "")) depth -= 1;

    if (depth === 0) return index;
  }

  return null;
}

/**
 * Whether changing the literal between two positions certainly changes the value: not a key, an
 * operand, an index or a later argument.
 */
function isChangeable(bare: string, from: number, to: number): boolean {
  if (
    /^\s*:/.test(bare.slice(to)) &&
    !/[[(]\s*[^{]*$/.test(bare.slice(0, from).split("{").at(-1) ?? "")
  ) {
    return false;
  } // a key

  if (/[\w)\]§]\s*[-+*/%]\s*$/.test(bare.slice(0, from)) || /^\s*[-+*/%.[(]/.test(bare.slice(to))) {
    return false;
  }

  let depth = 0;
  for (let index = from - 1; index >= 0; index -= 1) {
    const letter = bare[index] ?? "";
    if ("])}".includes(letter)) depth += 1;
    if (!"[({".includes(letter)) continue;
    if (depth > 0) {
      depth -= 1;
      continue;
    }

    const before = bare.slice(0, index);
    if (letter === "[" && /[\w$)\]]\s*$/.test(before) && !/\bvec!\s*$/.test(before)) return false;
    if (letter !== "(" || !/[\w$!]\s*$/.test(before)) continue;
    if (
      !constructor.test(before) ||
      /[,=§]/.test(bare.slice(index + 1, from).replaceAll(/[[({][^\])}]*$/g, ""))
    ) {
      return false;
    } // its first argument
  }

  return true;
}

/** The other boolean, in the same spelling; null if it isn't one. */
export function negateBoolean(text: string): string | null {
  if (!/^(?:true|false)$/i.test(text)) return null;
  const flip = /^true$/i.test(text) ? "false" : "true";
  return /^[TF]/.test(text) ? flip[0]?.toUpperCase() + flip.slice(1) : flip;
}

/**
 * Another literal that looks like it (V2). `beside`: the text around it, which may contain what the
 * value was derived from (V4).
 */
export function toOtherLiteral(was: string, draw: Draw, isExact = false, beside = ""): string {
  const flipped = negateBoolean(was);
  if (flipped !== null) return flipped;
  const quote = /^(?:"""|'''|["'`])/.exec(was)?.[0];
  if (quote === undefined) return isExact ? toNextNumber(was, draw) : changeNumber(was, draw);

  return (
    quote + changeText(was.slice(quote.length, -quote.length), quote, draw, isExact, beside) + quote
  );
}

function changeText(
  inner: string,
  quote: string,
  draw: Draw,
  isExact: boolean,
  beside: string,
): string {
  const all = [...inner.matchAll(/[A-Za-z0-9]/g)]
    .map(({ index }) => index)
    .filter((position) => !/\\.{0,5}$/.test(inner.slice(Math.max(0, position - 6), position)));
  const derived = isExact ? all.filter((position) => isDerived(inner, position, beside)) : [];
  const positions = derived.length > 0 ? derived : all;
  if (positions.length === 0) {
    return inner === "" || quote !== "'" ? `${inner}x` : `x${inner.slice(1)}`;
  } // 'a' may be one character and not a string

  const chosen = !isExact && draw(2) === 0 ? positions : [positions[draw(positions.length)] ?? 0];
  const letters = inner.split("");
  const swapsCase = isExact && (derived.length > 0 || draw(2) === 0); // a case-insensitive comparison would notice nothing

  for (const position of chosen) {
    const letter = letters[position] ?? "";
    letters[position] =
      swapsCase && !/\d/.test(letter) ? swapCase(letter) : changeLetter(letter, draw);
  }

  return letters.join("");
}

/** V4: whether a letter differs at its position in a text of the same length beside it. */
const isDerived = (inner: string, position: number, beside: string): boolean =>
  [...beside.matchAll(/'([^'\n]*)'/g), ...beside.matchAll(/"([^"\n]*)"/g)].some(
    ([, other = ""]) =>
      other.length === inner.length && other !== inner && other[position] !== inner[position],
  );

const swapCase = (letter: string): string =>
  letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase();

/** The adjacent number: its last digit one more or one less. */
function toNextNumber(was: string, draw: Draw): string {
  const match = /^([\d_]+\.?\d*?)(\d)((?:[eE][-+]?\d+)?[a-zA-Z]\w*|(?:[eE][-+]?\d+)?)$/.exec(was);
  if (/^0[xX]/.test(was) || match === null) {
    return /^\d$/.test(was) ? String(was === "9" ? 8 : Number(was) + 1) : changeNumber(was, draw);
  }

  const [, head = "", last = "0", end = ""] = match;
  return `${head}${last === "9" || (last !== "0" && draw(2) === 0) ? Number(last) - 1 : Number(last) + 1}${end}`;
}

function changeLetter(letter: string, draw: Draw): string {
  const [first, count] = /\d/.test(letter)
    ? ["0", 10]
    : /[a-z]/.test(letter)
      ? ["a", 26]
      : ["A", 26];
  const position = letter.charCodeAt(0) - first.charCodeAt(0);
  return String.fromCharCode(first.charCodeAt(0) + ((position + 1 + draw(count - 1)) % count));
}

/**
 * A number that differs by more than a tolerance (V3): one digit moves by two or more, a longer
 * number loses half of itself or more.
 */
function changeNumber(was: string, draw: Draw): string {
  if (/^0[xX]/.test(was)) {
    return was.replace(/[\da-fA-F]$/, (last) =>
      ((Number.parseInt(last, 16) + 1 + draw(14)) % 16).toString(16),
    );
  }

  const whole = /^[\d_]+/.exec(was)?.[0] ?? "";
  return changeWhole(whole.replaceAll("_", ""), draw) + was.slice(whole.length);
}

function changeWhole(whole: string, draw: Draw): string {
  if (whole.length > 1) {
    const value = BigInt(whole);
    const part = BigInt(20 + draw(30));
    const less = (value * part) / 100n;

    return less === 0n ? "1" : String(less);
  }

  const value = Number(whole);
  const others = [1, 2, 3, 4, 5, 6, 7, 8, 9].filter((digit) => Math.abs(digit - value) >= 2);
  return String(others[draw(others.length)]);
}

/**
 * For a value that is searched inside something: text or a number that is not in there by accident;
 * null for anything else.
 */
export function toFarValue(expression: string, draw: Draw): string | null {
  const candidates = findChangeableLiterals(expression);
  const [only] = candidates;
  if (candidates.length !== 1 || only?.text !== expression) return toNearValue(expression, draw);
  const changed = toOtherLiteral(expression, draw);
  const randomLetters = Array.from({ length: 6 }, () => String.fromCharCode(97 + draw(26))).join(
    "",
  );

  if (/^["'`]/.test(expression)) {
    return `${changed.slice(0, -1)}${randomLetters}${changed.slice(-1)}`;
  }

  return /^\d+$/.test(expression) ? `${changed}${1000 + draw(8999)}` : null;
}

/**
 * An expression that computes another value of the same type at run time; a value of an unknown
 * type becomes the nonce.
 */
export function changeAtRunTime(
  expression: string,
  family: "js" | "ts" | "py",
  nonce: string,
  isExact = false,
): string {
  const inner = expression.replaceAll("\n", " ");
  if (family === "py") {
    return (
      `(lambda v: (not v) if type(v) is bool else v + ${isExact ? "(1 if type(v) is int else abs(v) / 1000 + 1e-9)" : "7 + abs(v)"} if type(v) in (int, float) and v - v == 0 ` +
      `else v[:-1] + ("x" if v[-1:] != "x" else "y") if type(v) is str else [*v, 7] if type(v) is list ` +
      `else (*v, 7) if type(v) is tuple else {**v, "x": 7} if type(v) is dict else "${nonce}")(${inner})`
    );
  }

  const v = family === "ts" ? "v: any" : "v";
  return (
    `((${v}) => typeof v === "boolean" ? !v : typeof v === "number" && Number.isFinite(v) ? v + ${isExact ? "(Number.isInteger(v) ? 1 : Math.abs(v) / 1000 + 1e-9)" : "7 + Math.abs(v)"} ` +
    `: typeof v === "string" ? v.slice(0, -1) + (v.endsWith("x") ? "y" : "x") : Array.isArray(v) ? [...v, 7] ` +
    `: v && Object.getPrototypeOf(v) === Object.prototype ? { ...v, x: 7 } : "${nonce}")(${inner})`
  );
}
