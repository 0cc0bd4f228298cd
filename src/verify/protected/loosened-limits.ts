// loosened-limits: finds numbers that say how strict a test or a setting is, and that became laxer.

const number = String.raw`(\d+(?:\.\d+)?(?:e[-+]?\d+)?)`;
/** `timeout: 5000`, `--max-warnings=3`: one of these names, and its number. */
const limitNamed = (names: string): RegExp =>
  new RegExp(
    String.raw`\b(${names.trim().split(/\s+/).join("|")})\b["']?\s*[:=(>]\s*["']?${number}`,
    "gi",
  );

/** Tolerances, timeouts, retries. */
const laxerWhenHigher = limitNamed(String.raw`timeout(?:_?ms|ms)? test_?timeout hook_?timeout
  tolerance epsilon eps delta rtol atol rel abs rel_tol abs_tol retry retries reruns max[_-]?warnings
  max[_-]?diff\w* max[_-]?failures max[_-]?complexity max[_-]?line[_-]?length`);
/** Coverage thresholds, precision. */
const laxerWhenLower = limitNamed(`lines branches functions statements fail[_-]?under
  cov[_-]?fail[_-]?under minimum min[_-]?coverage target threshold places num_?digits precision`);
/** `toBeCloseTo(3.14, 2)`: the number of digits. */
const closeToDigits = /\b(toBeCloseTo)\s*\([^,()\n]{0,200},\s*(\d+)/g;
/** `abs(a - b) < 0.01`: the bound. */
const absoluteDifference = /\b(abs)\s*\([^<\n;]{0,200}<=?\s*(\d+(?:\.\d+)?(?:e[-+]?\d+)?)/gi;

/** What became laxer, as text. The nth limit of a name is compared with the nth before. */
export function findLoosenedLimits(before: string, after: string): readonly string[] {
  return [
    ...compareLimits(before, after, laxerWhenHigher, (old, current) => current > old),
    ...compareLimits(before, after, absoluteDifference, (old, current) => current > old),
    ...compareLimits(before, after, laxerWhenLower, (old, current) => current < old),
    ...compareLimits(before, after, closeToDigits, (old, current) => current < old),
    ...findRemovedThresholds(before, after),
  ];
}

/** The numbers of each limit, by its name, in the order of the text. */
function parseValues(text: string, pattern: RegExp): ReadonlyMap<string, readonly number[]> {
  const values = new Map<string, number[]>();
  for (const [, name = "", value = ""] of text.matchAll(pattern)) {
    const list = values.get(name) ?? [];
    list.push(Number(value));
    values.set(name, list);
  }

  return values;
}

function compareLimits(
  before: string,
  after: string,
  pattern: RegExp,
  isLaxer: (old: number, current: number) => boolean,
): readonly string[] {
  const valuesAfter = parseValues(after, pattern);
  const loosened: string[] = [];

  for (const [name, values] of parseValues(before, pattern)) {
    for (const [index, old] of values.entries()) {
      const current = valuesAfter.get(name)?.[index];
      if (current === undefined || !isLaxer(old, current)) continue;
      loosened.push(`${name} went from ${old} to ${current}`);
    }
  }

  return loosened;
}

/** Settings that make a check fail below a number. */
const thresholdSetting =
  /\b(?:coverageThreshold|thresholds?|fail[_-]?under|cov[_-]?fail[_-]?under|check-coverage|minimum)\b/gi;

function findRemovedThresholds(before: string, after: string): readonly string[] {
  const countBefore = before.match(thresholdSetting)?.length ?? 0;
  const countAfter = after.match(thresholdSetting)?.length ?? 0;
  return countAfter < countBefore ? ["a threshold is gone"] : [];
}
