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
  const isOtherComparison = /[!<>=]$/.test(left) || /[<>]/.test(text);
  if (sides.length !== 2 || isOtherComparison || joinsConditions.test(text)) return null;

  const near = toNearValue(right.trim(), draw, true, text);
  if (near !== null) {
    const head = text.slice(0, text.length - right.trimStart().length);
    const spaceBehind = right.slice(right.trimEnd().length);
    return head + near + spaceBehind;
  }

  const nearLeft = toNearValue(left.trim(), draw, true, text);
  return nearLeft === null ? null : nearLeft + text.slice(left.trimEnd().length);
};

/** `strcmp(A, "x") == 0`, `!strcmp(A, "x")`: the arguments, not the result. */
const stringComparison: Form = (text, draw) => {
  const match = stringComparisonCall.exec(text);
  if (match === null || joinsConditions.test(text)) return null;

  const [, head = "", value = "", tail = ""] = match;
  // Equality is either `!strcmp(…)` or `strcmp(…) == 0`.
  const isEquality = head.trimStart().startsWith("!") !== tail.includes("==");
  return isEquality ? head + toOtherLiteral(value, draw, true, text) + tail : null;
};

const stringComparisonCall =
  /^(\s*!?\s*\w*cmp\w*\([^]*,\s*)("(?:[^"\\]|\\.)*")((?:\s*,[^"]*)?\)\s*(?:==\s*0\s*)?)$/;

const decimal = String.raw`-?\d+(?:\.\d+)?`;
const countDecimals = (text: string): number => text.split(".")[1]?.length ?? 0;

/** `Math.abs(A - 3.14) < 0.01`; just beyond the tolerance, if that is a literal. */
const tolerance: Form = (text, draw) => {
  const match = distanceBelowBound.exec(text);
  if (match === null || joinsConditions.test(text)) return null;

  const [, head = "", value = "", sign = "", bound = ""] = match;
  const boundValue = Number(bound);
  const moved = boundValue > 0 ? moveBeyondTolerance(value, { abs: boundValue, rel: 0 }) : null;
  if (moved !== null) return `${head}${moved}${sign}${bound}`;

  const beyondBound = Number.isFinite(boundValue) ? 4 * boundValue : 0;
  const far = 7 + draw(5) + Math.abs(Number(value)) + beyondBound;
  const farValue = (Number(value) + far).toFixed(countDecimals(value));
  return `${head}${farValue}${sign}${bound}`;
};

const distanceBelowBound = new RegExp(
  String.raw`^(.*\b(?:f|m)?abs\(.*\s-\s)(${decimal})(\)\s*<=?\s*)(\d[\d.]*(?:e-?\d+)?|[\w.]+)\s*$`,
  "is",
);

/** `A > 1.25 && A < 1.27`, `1.25 < A < 1.27`: both bounds move by more than their distance. */
const range: Form = (condition, draw) => {
  const bounds = condition.match(rangeBound) ?? [];
  const operators = condition.match(/[<>]=?/g) ?? [];
  if (bounds.length !== 2 || operators.length !== 2) return null;
  if (/\|\||\b(?:or|if|abs)\b|=>/.test(condition)) return null;

  const [low = 0, high = 0] = bounds.map(Number);
  const distance = (2 + draw(5)) * Math.abs(high - low) + 7;
  return condition.replaceAll(rangeBound, (bound) =>
    (Number(bound) + distance).toFixed(countDecimals(bound)),
  );
};

/** A number behind or before `<` or `>`. */
const rangeBound = new RegExp(
  String.raw`(?<=[<>]=?\s*)${decimal}(?![\w.])|(?<![\w.])${decimal}(?=\s*[<>])`,
  "g",
);

/** `list.includes(7)`, `a.equals(new Vec(4, 6))`. */
const membership: Form = (text, draw) => {
  const match = membershipCall.exec(text);
  if (match === null || joinsConditions.test(text)) return null;

  const [, head = "", name = "", argument = ""] = match;
  if (argument.includes(")") !== argument.includes("(")) return null;

  const changed = /^(?:equals?|isEqual|eq)$/.test(name)
    ? toNearValue(argument, draw, true)
    : toFarValue(argument, draw);
  return changed === null ? null : `${head}${changed})`;
};

const membershipCall =
  /^([^]*\.(includes|contains|has|startsWith|endsWith|startswith|endswith|equals?|isEqual|eq)\()([^]*)\)\s*$/;

/** `"a" in text`. */
const membershipIn: Form = (text, draw) => {
  const match = /^(\S+)(\s+in\s+[^]+)$/.exec(text.trim());
  if (match === null || joinsConditions.test(text)) return null;

  const [, value = "", tail = ""] = match;
  const far = toFarValue(value, draw);
  return far === null ? null : far + tail;
};
