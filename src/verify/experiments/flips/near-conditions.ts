// near-conditions: changes a boolean assertion (`a === 6`, `abs(a - 3.14) < e`, `list.includes(7)`) to another value of the same kind. Pure;
// the caller negates other forms.

import { type Draw, farValue, nearValue, otherLiteral } from "./near-values.ts";
import { beyondTolerance } from "./tolerances.ts";

type Form = (text: string, draw: Draw) => string | null;

/** Null if it has none of the known forms. */
export function nearCondition(text: string, draw: Draw): string | null {
  const compared = stringComparison(text, draw);
  if (compared !== null) return compared;
  if (/^\s*(?:!|not\b)/.test(text)) return null;
  for (const form of [range, tolerance, equality, membership, membershipIn]) {
    const found = form(text, draw);
    if (found !== null) return found;
  }
  return null;
}

const joinsConditions = /&&|\|\||\b(?:and|or|if|for|is)\b/;

/** `A === 6`, `6 == A`: one comparison and nothing else. */
const equality: Form = (text, draw) => {
  const sides = text.split(/===?(?!=)/);
  const [left = "", right = ""] = sides;
  if (sides.length !== 2 || joinsConditions.test(text) || /[!<>=]$/.test(left) || /[<>]/.test(text)) return null;
  const near = nearValue(right.trim(), draw, true, text);
  if (near !== null) return text.slice(0, text.length - right.trimStart().length) + near + (/\s*$/.exec(right)?.[0] ?? "");
  const first = nearValue(left.trim(), draw, true, text);
  return first === null ? null : first + text.slice(left.trimEnd().length);
};

/** `strcmp(A, "x") == 0`, `!strcmp(A, "x")`: the arguments, not the result. */
const stringComparison: Form = (text, draw) => {
  const match = /^(\s*!?\s*\w*cmp\w*\([^]*,\s*)("(?:[^"\\]|\\.)*")((?:\s*,[^"]*)?\)\s*(?:==\s*0\s*)?)$/.exec(text);
  const [, head = "", value = "", rest = ""] = match ?? [];
  return match === null || joinsConditions.test(text) || head.trimStart().startsWith("!") === rest.includes("==")
    ? null
    : head + otherLiteral(value, draw, true, text) + rest;
};

const decimal = String.raw`-?\d+(?:\.\d+)?`;
const countDecimals = (text: string): number => text.split(".")[1]?.length ?? 0;

/** `Math.abs(A - 3.14) < 0.01`; just beyond the tolerance, if that is a literal. */
const tolerance: Form = (text, draw) => {
  const match = new RegExp(String.raw`^(.*\b(?:f|m)?abs\(.*\s-\s)(${decimal})(\)\s*<=?\s*)(\d[\d.]*(?:e-?\d+)?|[\w.]+)\s*$`, "is").exec(
    text,
  );
  const [, head = "", value = "", sign = "", bound = ""] = match ?? [];
  if (match === null || joinsConditions.test(text)) return null;
  const boundValue = Number(bound);
  const moved = boundValue > 0 ? beyondTolerance(value, { abs: boundValue, rel: 0 }) : null;
  if (moved !== null) return `${head}${moved}${sign}${bound}`;
  const far = 7 + draw(5) + Math.abs(Number(value)) + (Number.isFinite(Number(bound)) ? 4 * Number(bound) : 0);
  return `${head}${(Number(value) + far).toFixed(countDecimals(value))}${sign}${bound}`;
};

/** `A > 1.25 && A < 1.27`, `1.25 < A < 1.27`: both bounds move by more than their distance. */
const range: Form = (said, draw) => {
  const ends = [...said.matchAll(new RegExp(String.raw`(?<=[<>]=?\s*)${decimal}(?![\w.])|(?<![\w.])${decimal}(?=\s*[<>])`, "g"))];
  const signs = [...said.matchAll(/[<>]=?/g)];
  const [low, high] = ends.map(({ 0: text }) => Number(text));
  if (ends.length !== 2 || signs.length !== 2 || low === undefined || high === undefined || /\|\||\b(?:or|if|abs)\b|=>/.test(said))
    return null;
  const far = (2 + draw(5)) * Math.abs(high - low) + 7;
  return ends.reduceRight((done, { 0: text, index }) => {
    const moved = (Number(text) + far).toFixed(countDecimals(text));
    return done.slice(0, index) + moved + done.slice(index + text.length);
  }, said);
};

/** `list.includes(7)`, `a.equals(new Vec(4, 6))`. */
const membership: Form = (text, draw) => {
  const match = /^([^]*\.(includes|contains|has|startsWith|endsWith|startswith|endswith|equals?|isEqual|eq)\()([^]*)\)\s*$/.exec(text);
  const [, head = "", name = "", given = ""] = match ?? [];
  if (match === null || joinsConditions.test(text) || given.includes(")") !== given.includes("(")) return null;
  const near = /^(?:equals?|isEqual|eq)$/.test(name) ? nearValue(given, draw, true) : farValue(given, draw);
  return near === null ? null : `${head}${near})`;
};

/** `"a" in text`. */
const membershipIn: Form = (text, draw) => {
  const match = /^(\S+)(\s+in\s+[^]+)$/.exec(text.trim());
  const near = match === null || joinsConditions.test(text) ? null : farValue(match[1] ?? "", draw);
  return near === null ? null : `${near}${match?.[2] ?? ""}`;
};
