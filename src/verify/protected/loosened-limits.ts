// loosened-limits: finds numbers that say how strict a test or a setting is, and that became laxer.

/** Laxer when higher: tolerances, timeouts, retries. */
const laxerWhenHigher =
  /\b(timeout(?:_?ms|ms)?|test_?timeout|hook_?timeout|tolerance|epsilon|eps|delta|rtol|atol|rel|abs|rel_tol|abs_tol|retry|retries|reruns|max[_-]?warnings|max[_-]?diff\w*|max[_-]?failures|max[_-]?complexity|max[_-]?line[_-]?length)\b["']?\s*[:=(>]\s*["']?(\d+(?:\.\d+)?(?:e[-+]?\d+)?)/gi;
/** Laxer when lower: coverage thresholds, precision. */
const laxerWhenLower =
  /\b(lines|branches|functions|statements|fail[_-]?under|cov[_-]?fail[_-]?under|minimum|min[_-]?coverage|target|threshold|places|num_?digits|precision)\b["']?\s*[:=(>]\s*["']?(\d+(?:\.\d+)?(?:e[-+]?\d+)?)/gi;
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
  return [...parseValues(before, pattern)].flatMap(([name, values]) =>
    values.flatMap((old, index) => {
      const current = valuesAfter.get(name)?.[index];
      if (current === undefined || !isLaxer(old, current)) return [];
      return [`${name} went from ${old} to ${current}`];
    }),
  );
}

const thresholds =
  /\b(?:coverageThreshold|thresholds?|fail[_-]?under|cov[_-]?fail[_-]?under|check-coverage|minimum)\b/gi;

function findRemovedThresholds(before: string, after: string): readonly string[] {
  const countBefore = before.match(thresholds)?.length ?? 0;
  const countAfter = after.match(thresholds)?.length ?? 0;
  return countAfter < countBefore ? ["a threshold is gone"] : [];
}
