// tolerances: an assertion's tolerance, if it or its library states one, and a value just beyond it. Pure.
//
// Invariants:
//   L1. A result within the tolerance of the expected value is outside that of a value three tolerances away: honest work always notices.
//   L2. An assertion whose tolerance cannot be read is left alone.

export type Within = { readonly abs: number; readonly rel: number };

/** What is written as a number; null if it is computed. */
const numberIn = (text: string | undefined): number | null =>
  text !== undefined && /^[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(text.trim())
    ? Number(text.trim().replaceAll("_", ""))
    : null;

const times = 3;
const byDefault = { places: 7, digits: 2, rel: 1e-6, abs: 1e-12 };

const absolute = (abs: number | null): Within | null => (abs === null || !(abs > 0) ? null : { abs, rel: 0 });
const ofPlaces = (places: number | null): Within | null => (places === null ? null : absolute(0.5 * 10 ** -places));

/** By the name of an assertion and the source of its arguments, the actual value first. */
export function withinOf(name: string, args: readonly string[]): Within | null {
  const named = (key: string): string | undefined =>
    args.find((one) => new RegExp(`^${key}\\s*=(?!=)`).test(one))?.replace(/^\w+\s*=\s*/, "");
  const plain = args.filter((one) => !/^\w+\s*=(?!=)/.test(one));
  if (name === "assertAlmostEqual") {
    const [delta, places] = [named("delta") ?? plain[4], named("places") ?? plain[2]];
    if (delta !== undefined && delta !== "None") return absolute(numberIn(delta));
    return ofPlaces(places === undefined || places === "None" ? byDefault.places : numberIn(places));
  }
  if (name === "toBeCloseTo") return ofPlaces(plain[1] === undefined ? byDefault.digits : numberIn(plain[1]));
  if (name === "closeTo" || name === "approximately") return absolute(numberIn(plain.at(plain.length > 2 ? 2 : 1)));
  if (name === "InDelta") return absolute(numberIn(plain[3]));
  if (name === "assertEquals" || /^(?:EXPECT|ASSERT)_NEAR$/.test(name)) return absolute(numberIn(plain[2]));
  return null;
}

/** `approx(3.14, rel=1e-3)`: the position of its value, and its tolerance. */
export function approxIn(expression: string): { readonly from: number; readonly to: number; readonly within: Within } | null {
  const open = /^(?:[\w.]*\.)?approx\(\s*/.exec(expression);
  if (open === null || !expression.endsWith(")")) return null;
  const [first = "", ...rest] = splitAt(expression.slice(open[0].length, -1));
  const keyed = (key: string): string | undefined => rest.find((one) => new RegExp(`^\\s*${key}\\s*=`).test(one))?.split("=")[1];
  if (first.trim() === "" || rest.some((one) => one.trim() !== "" && !/^\s*(?:rel|abs|nan_ok)\s*=/.test(one))) return null;
  const [rel, abs] = [keyed("rel"), keyed("abs")];
  const relative = rel === undefined ? (abs === undefined ? byDefault.rel : 0) : numberIn(rel);
  const fixed = abs === undefined ? byDefault.abs : numberIn(abs);
  if (relative === null || fixed === null) return null; // L2
  return { from: open[0].length, to: open[0].length + first.trimEnd().length, within: { abs: fixed, rel: relative } };
}

function splitAt(inner: string): readonly string[] {
  const parts = [""];
  let depth = 0;
  for (const letter of inner) {
    if ("([{".includes(letter)) depth += 1;
    if (")]}".includes(letter)) depth -= 1;
    if (letter === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += letter;
  }
  return parts;
}

const decimalsMax = 20;

/** A number literal just beyond the tolerance (L1); null if it isn't one, or too large for the difference to show. */
export function beyond(literal: string, { abs, rel }: Within): string | null {
  const value = numberIn(literal);
  if (value === null || /[eE]/.test(literal)) return null;
  const by = times * Math.max(abs, rel * Math.abs(value));
  const decimals = Math.max(literal.split(".")[1]?.length ?? 0, Math.ceil(-Math.log10(by)) + 1, literal.includes(".") ? 1 : 0);
  if (decimals > decimalsMax || value + by === value) return null;
  return (value + by).toFixed(decimals);
}

/** The same for a computed value, at run time; anything but a number becomes the nonce. */
export function beyondAtRun(expression: string, family: "js" | "ts" | "py", { abs, rel }: Within, nonce: string): string {
  const inner = expression.replaceAll("\n", " ");
  if (family === "py") {
    const moved = (v: string): string => `${v} + ${times} * max(${abs}, ${rel} * abs(${v}))`;
    return (
      `(lambda v: ${moved("v")} if type(v) in (int, float) and v - v == 0 else type(v)(${moved("x")} for x in v) ` +
      `if type(v) in (list, tuple) and v and all(type(x) in (int, float) for x in v) else "${nonce}")(${inner})`
    );
  }
  const v = family === "ts" ? "v: any" : "v";
  return `((${v}) => typeof v === "number" && Number.isFinite(v) ? v + ${times} * Math.max(${abs}, ${rel} * Math.abs(v)) : "${nonce}")(${inner})`;
}
