// tolerances: reads the tolerance of an assertion, if it or its library states one, and makes a
// value just beyond it. Pure.
//
// Invariants:
//   L1. The value is three tolerances away. A result within the tolerance of the true value is then
//       outside that of the wrong one: a test of honest work always fails.
//   L2. An assertion whose tolerance cannot be read is left alone.

import { splitAtCommas } from "../source-text/brackets.ts";

export type Tolerance = { readonly abs: number; readonly rel: number };

/** What is written as a number; null if it is computed. */
const parseNumber = (text: string | undefined): number | null =>
  text !== undefined && /^[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(text.trim())
    ? Number(text.trim().replaceAll("_", ""))
    : null;

const beyondFactor = 3;
/** unittest's places, vitest's and jest's digits, pytest's tolerances. */
const libraryDefaults = { places: 7, digits: 2, rel: 1e-6, abs: 1e-12 };

const absoluteTolerance = (abs: number | null): Tolerance | null =>
  abs === null || !(abs > 0) ? null : { abs, rel: 0 };
const placesTolerance = (places: number | null): Tolerance | null =>
  places === null ? null : absoluteTolerance(0.5 * 10 ** -places);

/**
 * The tolerance of an assertion, by its name and the source of its arguments, the actual value
 * first; null if there is none.
 */
export function parseTolerance(name: string, args: readonly string[]): Tolerance | null {
  const keywordArgument = (key: string): string | undefined =>
    args.find((arg) => new RegExp(`^${key}\\s*=(?!=)`).test(arg))?.replace(/^\w+\s*=\s*/, "");
  const positional = args.filter((arg) => !/^\w+\s*=(?!=)/.test(arg));

  if (name === "assertAlmostEqual") {
    const [delta, places] = [
      keywordArgument("delta") ?? positional[4],
      keywordArgument("places") ?? positional[2],
    ];
    if (delta !== undefined && delta !== "None") return absoluteTolerance(parseNumber(delta));
    return placesTolerance(
      places === undefined || places === "None" ? libraryDefaults.places : parseNumber(places),
    );
  }

  if (name === "toBeCloseTo") {
    return placesTolerance(
      positional[1] === undefined ? libraryDefaults.digits : parseNumber(positional[1]),
    );
  }

  if (name === "closeTo" || name === "approximately") {
    return absoluteTolerance(parseNumber(positional.at(positional.length > 2 ? 2 : 1)));
  }

  if (name === "InDelta") return absoluteTolerance(parseNumber(positional[3]));
  if (name === "assertEquals" || /^(?:EXPECT|ASSERT)_NEAR$/.test(name)) {
    return absoluteTolerance(parseNumber(positional[2]));
  }

  return null;
}

/** `approx(3.14, rel=1e-3)`: the position of its value, and its tolerance. */
export function findApprox(
  expression: string,
): { readonly from: number; readonly to: number; readonly tolerance: Tolerance } | null {
  const open = /^(?:[\w.]*\.)?approx\(\s*/.exec(expression);
  if (open === null || !expression.endsWith(")")) return null;
  const [first = "", ...options] = splitArguments(expression.slice(open[0].length, -1));
  const keywordArgument = (key: string): string | undefined =>
    options.find((arg) => new RegExp(`^\\s*${key}\\s*=`).test(arg))?.split("=")[1];

  if (
    first.trim() === "" ||
    options.some((arg) => arg.trim() !== "" && !/^\s*(?:rel|abs|nan_ok)\s*=/.test(arg))
  ) {
    return null;
  }

  const [rel, abs] = [keywordArgument("rel"), keywordArgument("abs")];
  const defaultRelative = abs === undefined ? libraryDefaults.rel : 0; // pytest: an absolute tolerance alone turns the relative one off
  const relative = rel === undefined ? defaultRelative : parseNumber(rel);
  const absolute = abs === undefined ? libraryDefaults.abs : parseNumber(abs);
  if (relative === null || absolute === null) return null; // L2

  return {
    from: open[0].length,
    to: open[0].length + first.trimEnd().length,
    tolerance: { abs: absolute, rel: relative },
  };
}

const splitArguments = (inner: string): readonly string[] =>
  splitAtCommas(inner, 0, inner.length).map(({ from, to }) => inner.slice(from, to));

const decimalsMax = 20;

/**
 * A number literal just beyond the tolerance (L1); null if it isn't one, or too large for the
 * difference to show.
 */
export function moveBeyondTolerance(literal: string, { abs, rel }: Tolerance): string | null {
  const value = parseNumber(literal);
  if (value === null || /[eE]/.test(literal)) return null;
  const difference = beyondFactor * Math.max(abs, rel * Math.abs(value));

  const decimals = Math.max(
    literal.split(".")[1]?.length ?? 0,
    Math.ceil(-Math.log10(difference)) + 1,
    literal.includes(".") ? 1 : 0,
  );
  if (decimals > decimalsMax || value + difference === value) return null;
  return (value + difference).toFixed(decimals);
}

/** The same for a computed value, at run time; anything but a number becomes the nonce. */
export function moveBeyondToleranceAtRunTime(
  expression: string,
  family: "js" | "ts" | "py",
  { abs, rel }: Tolerance,
  nonce: string,
): string {
  const inner = expression.replaceAll("\n", " ");
  if (family === "py") {
    const moved = (v: string): string => `${v} + ${beyondFactor} * max(${abs}, ${rel} * abs(${v}))`;
    return (
      `(lambda v: ${moved("v")} if type(v) in (int, float) and v - v == 0 else type(v)(${moved("x")} for x in v) ` +
      `if type(v) in (list, tuple) and v and all(type(x) in (int, float) for x in v) else "${nonce}")(${inner})`
    );
  }

  const v = family === "ts" ? "v: any" : "v";
  return `((${v}) => typeof v === "number" && Number.isFinite(v) ? v + ${beyondFactor} * Math.max(${abs}, ${rel} * Math.abs(v)) : "${nonce}")(${inner})`;
}
