// near-conditions: changes a value in a condition that must be true (`a === 6`, `abs(a - 3.14) <
// e`, `list.includes(7)`) to another of the same kind. Pure; the caller negates other forms.

import { type Draw, toFarValue, toNearValue, toOtherLiteral } from "./near-values.ts";
import { moveBeyondTolerance } from "./tolerances.ts";

type Form = (text: string, draw: Draw) => string | null;

/** Null if it has none of the known forms. */
export function toNearCondition(text: string, draw: Draw): string | null {
  const otherText = stringComparison(text, draw);
  if (otherText !== null) return otherText;
  if (/^\s*(?:!|not\b)/.test(text)) return null;
  for (const form of [range, tolerance, equality, membership, membershipIn]) {
    const changed = form(text, draw);
    if (changed !== null) return changed;
  }

  return null;
}

const joinsConditions = /&&|\|\||\b(?:and|or|if|for|is)\b/;

/** `A === 6`, `6 == A`: one comparison and nothing else. */
const equality: Form = (text, draw) => {
  const sides = text.split(/===?(?!=)/);
  const [left = "", right = ""] = sides;
  if (
    sides.length !== 2 ||
    joinsConditions.test(text) ||
    /[!<>=]$/.test(left) ||
    /[<>]/.test(text)
  ) {
    return null;
  }

  const near = toNearValue(right.trim(), draw, true, text);
  if (near !== null) {
    return (
      text.slice(0, text.length - right.trimStart().length) + near + (/\s*$/.exec(right)?.[0] ?? "")
    );
  }

  const nearLeft = toNearValue(left.trim(), draw, true, text);
  return nearLeft === null ? null : nearLeft + text.slice(left.trimEnd().length);
};

/** `strcmp(A, "x") == 0`, `!strcmp(A, "x")`: the arguments, not the result. */
const stringComparison: Form = (text, draw) => {
  const match =
    /^(\s*!?\s*\w*cmp\w*\([^]*,\s*)("(?:[^"\\]|\\.)*")((?:\s*,[^"]*)?\)\s*(?:==\s*0\s*)?)$/.exec(
      text,
    );
  const [, head = "", value = "", tail = ""] = match ?? [];
  // Equality is either `!strcmp(…)` or `strcmp(…) == 0`.
  const isEquality = head.trimStart().startsWith("!") !== tail.includes("==");

  return match === null || joinsConditions.test(text) || !isEquality
    ? null
    : head + toOtherLiteral(value, draw, true, text) + tail;
};

const decimal = String.raw`-?\d+(?:\.\d+)?`;
const countDecimals = (text: string): number => text.split(".")[1]?.length ?? 0;

/** `Math.abs(A - 3.14) < 0.01`; just beyond the tolerance, if that is a literal. */
const tolerance: Form = (text, draw) => {
  const match = new RegExp(
    String.raw`^(.*\b(?:f|m)?abs\(.*\s-\s)(${decimal})(\)\s*<=?\s*)(\d[\d.]*(?:e-?\d+)?|[\w.]+)\s*$`,
    "is",
  ).exec(text);
  const [, head = "", value = "", sign = "", bound = ""] = match ?? [];
  if (match === null || joinsConditions.test(text)) return null;
  const boundValue = Number(bound);
  const moved = boundValue > 0 ? moveBeyondTolerance(value, { abs: boundValue, rel: 0 }) : null;
  if (moved !== null) return `${head}${moved}${sign}${bound}`;

  const far =
    7 +
    draw(5) +
    Math.abs(Number(value)) +
    (Number.isFinite(Number(bound)) ? 4 * Number(bound) : 0);

  return `${head}${(Number(value) + far).toFixed(countDecimals(value))}${sign}${bound}`;
};

/** `A > 1.25 && A < 1.27`, `1.25 < A < 1.27`: both bounds move by more than their distance. */
const range: Form = (condition, draw) => {
  const bounds = [
    ...condition.matchAll(
      new RegExp(
        String.raw`(?<=[<>]=?\s*)${decimal}(?![\w.])|(?<![\w.])${decimal}(?=\s*[<>])`,
        "g",
      ),
    ),
  ];

  const operators = [...condition.matchAll(/[<>]=?/g)];
  const [low, high] = bounds.map(({ 0: bound }) => Number(bound));
  const isRange =
    bounds.length === 2 && operators.length === 2 && !/\|\||\b(?:or|if|abs)\b|=>/.test(condition);
  if (!isRange || low === undefined || high === undefined) return null;
  const distance = (2 + draw(5)) * Math.abs(high - low) + 7;

  return bounds.reduceRight((changed, { 0: bound, index }) => {
    const moved = (Number(bound) + distance).toFixed(countDecimals(bound));
    return changed.slice(0, index) + moved + changed.slice(index + bound.length);
  }, condition);
};

/** `list.includes(7)`, `a.equals(new Vec(4, 6))`. */
const membership: Form = (text, draw) => {
  const match =
    /^([^]*\.(includes|contains|has|startsWith|endsWith|startswith|endswith|equals?|isEqual|eq)\()([^]*)\)\s*$/.exec(
      text,
    );
  const [, head = "", name = "", argument = ""] = match ?? [];
  if (
    match === null ||
    joinsConditions.test(text) ||
    argument.includes(")") !== argument.includes("(")
  ) {
    return null;
  }

  const changed = /^(?:equals?|isEqual|eq)$/.test(name)
    ? toNearValue(argument, draw, true)
    : toFarValue(argument, draw);
  return changed === null ? null : `${head}${changed})`;
};

/** `"a" in text`. */
const membershipIn: Form = (text, draw) => {
  const match = /^(\S+)(\s+in\s+[^]+)$/.exec(text.trim());
  const near =
    match === null || joinsConditions.test(text) ? null : toFarValue(match[1] ?? "", draw);
  return near === null ? null : `${near}${match?.[2] ?? ""}`;
};
