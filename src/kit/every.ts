// every: parses an interval, how often something is to be done: `30s`, `15m`, `2h`.

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
/** Well below the limit of Node's timers: one of more than 24 days would end at once. */
const intervalMsMax = 7 * 86_400_000;

/** Milliseconds, or what is wrong with the text. */
export function parseInterval(text: string, msMin: number): number | string {
  const [, count = "", unit = ""] = /^(\d{1,9})(s|m|h|d)$/.exec(text.trim()) ?? [];
  const ms = Number(count) * (unitMs[unit] ?? 0);
  if (count === "") return `${JSON.stringify(text)} is no time; expected 30s, 15m or 2h`;
  if (ms < msMin) return `${text} is too often; at least ${msMin / 1_000}s`;

  return ms > intervalMsMax ? `${text} is too seldom; at most 7d` : ms;
}
