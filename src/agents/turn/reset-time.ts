// reset-time: finds in a text of the provider or the agent when a limit is lifted. Null if that is
// uncertain.
//
// Invariants:
//   R1. Only a time shortly after a word of waiting counts: an answer may contain other times.
//   R2. A time that is past by more than a minute, or further away than any limit lasts, isn't an
//       answer.

const textCharsMax = 8000;
const cueReachChars = 90;
const cuesMax = 50;
const aheadMsMax = 32 * 86_400_000;
const pastMsMax = 60_000;

/** Words of waiting: `resets 3pm`, `try again in 12m`. */
const cuePattern =
  /\b(?:reset(?:s|ting|_at|s_at)?|retry|try again|again|available|renew(?:s|al)?|until|lifted|wait|limit reached)\b/gi;

/**
 * The time at which to try again, as ISO 8601 in UTC; null if none is found. A time of day without
 * a zone is in the machine's zone, as agents print it.
 */
export function findReset(text: string, nowMs: number): string | null {
  const cues = [...text.slice(0, textCharsMax).matchAll(cuePattern)].slice(0, cuesMax);
  for (const { index, 0: word } of cues) {
    const ms = findTime(
      text.slice(index + word.length, index + word.length + cueReachChars),
      nowMs,
    ); // R1
    if (ms !== null && ms > nowMs - pastMsMax && ms < nowMs + aheadMsMax) {
      return new Date(ms).toISOString();
    } // R2
  }

  return null;
}

function findTime(text: string, nowMs: number): number | null {
  return (
    findIso(text) ??
    findEpoch(text) ??
    findDate(text, nowMs) ??
    findDuration(text, nowMs) ??
    findClock(text, nowMs)
  );
}

/** `2026-10-09T15:04:00Z`, `2026-10-09 15:04 UTC`. */
function findIso(text: string): number | null {
  const isoText =
    /\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2}| ?UTC)/.exec(
      text,
    )?.[0];
  if (isoText === undefined) return null;
  const ms = Date.parse(isoText.replace(" UTC", "Z").replace("UTC", "Z").replace(" ", "T"));

  return Number.isNaN(ms) ? null : ms;
}

/** Seconds or milliseconds since 1970. */
function findEpoch(text: string): number | null {
  const epochText = /(?<![\d.])(1\d{9}|1\d{12})(?![\d.])/.exec(text)?.[1];
  if (epochText === undefined) return null;
  return epochText.length === 10 ? Number(epochText) * 1000 : Number(epochText);
}

const units: readonly (readonly [RegExp, number])[] = [
  [/^(?:ms|millis\w*)$/i, 1],
  [/^(?:s|secs?|seconds?)$/i, 1000],
  [/^(?:m|mins?|minutes?)$/i, 60_000],
  [/^(?:h|hrs?|hours?)$/i, 3_600_000],
  [/^(?:d|days?)$/i, 86_400_000],
];

/** `in 12m`, `after 20.5s`, `in 2 days 3 hours`, `6m0s`: the first run of such parts. */
function findDuration(text: string, nowMs: number): number | null {
  const part =
    "(?:\\d{1,6}(?:\\.\\d{1,6})?)\\s?(?:ms|millis\\w*|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)";
  const duration = new RegExp(
    `(?<![\\w.:])${part}(?:(?:\\s|,|and){0,3}${part}){0,4}(?![\\w:])`,
    "i",
  ).exec(text)?.[0];
  if (duration === undefined) return null;
  const parts = [...duration.matchAll(/(\d+(?:\.\d+)?)\s?([a-z]+)/gi)];
  const toMs = (name: string): number => units.find(([pattern]) => pattern.test(name))?.[1] ?? 0;

  return parts.reduce(
    (sum, [, amount = "0", name = ""]) => sum + Number(amount) * toMs(name),
    nowMs,
  );
}

/** `3`, `3:30`, `3pm`, `15:30:00`: hours, minutes, and the first letter of am or pm. */
const clockSource = "(\\d{1,2})(?::(\\d{2}))?(?::\\d{2})?\\s?([ap])?\\.?(?:m\\b\\.?)?";
/** ` UTC`, ` (Europe/Berlin)`. */
const zoneSource = "(?:\\s*\\(?(UTC|GMT|Z|[A-Z][a-z]+/[A-Za-z_]+(?:/[A-Za-z_]+)?)\\)?)?";
const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** `Oct 9th, 2026 3:04 PM`; without a year, the next one. */
function findDate(text: string, nowMs: number): number | null {
  const pattern = new RegExp(
    `\\b(${months.join("|")})[a-z]{0,6}\\.? (\\d{1,2})(?:st|nd|rd|th)?,?(?: (\\d{4}),?)?(?: at)? ${clockSource}${zoneSource}`,
    "i",
  );
  const match = pattern.exec(text);
  if (match === null || isInOtherZone(text, match)) return null;
  const [, month = "", day = "", year, hour, minute, meridiem, zoneName] = match;
  const time = toMinutesOfDay(hour, minute, meridiem);
  if (time === null) return null;
  const thisYear = new Date(nowMs).getUTCFullYear();
  const toDateInYear = (inYear: number): number =>
    toTimeInZone(inYear, months.indexOf(month.toLowerCase()), Number(day), time, zoneName);
  if (year !== undefined) return toDateInYear(Number(year));

  return toDateInYear(thisYear) < nowMs - pastMsMax
    ? toDateInYear(thisYear + 1)
    : toDateInYear(thisYear);
}

/** `at 3pm`, `3:30 pm (Europe/Berlin)`, `15:30 UTC`: the next time the clock shows that. */
function findClock(text: string, nowMs: number): number | null {
  const match = new RegExp(`(?<![\\w.:-])${clockSource}${zoneSource}(?![\\w:-])`, "i").exec(text);
  if (match === null || isInOtherZone(text, match)) return null;
  const [, hour, minute, meridiem, zoneName] = match;
  // A bare number isn't a time of day.
  if (minute === undefined && meridiem === undefined) return null;
  const time = toMinutesOfDay(hour, minute, meridiem);
  if (time === null) return null;
  const today = new Date(nowMs);

  const days = [-1, 0, 1, 2].map((more) =>
    toTimeInZone(
      today.getUTCFullYear(),
      today.getUTCMonth(),
      today.getUTCDate() + more,
      time,
      zoneName,
    ),
  );
  return days.find((ms) => ms >= nowMs - pastMsMax) ?? null;
}

/** Whether a zone like that of `3pm PST` follows: such letters are ambiguous. */
const isInOtherZone = (text: string, { index, 0: matched }: RegExpExecArray): boolean =>
  /^\s?\(?(?!UTC|GMT)[A-Z]{2,4}T\b/.test(text.slice(index + matched.trimEnd().length));

function toMinutesOfDay(hour = "", minute = "0", meridiem: string | undefined): number | null {
  const hours = Number(hour);
  if (Number(minute) > 59 || hours > (meridiem === undefined ? 23 : 12)) return null;
  if (meridiem === undefined) return hours * 60 + Number(minute);

  return ((hours % 12) + (meridiem.toLowerCase() === "p" ? 12 : 0)) * 60 + Number(minute);
}

function toTimeInZone(
  year: number,
  month: number,
  day: number,
  minutes: number,
  zoneName: string | undefined,
): number {
  if (zoneName === undefined) return new Date(year, month, day, 0, minutes).getTime();
  const asUtc = Date.UTC(year, month, day, 0, minutes);
  return asUtc - readOffsetMs(zoneName, asUtc);
}

/** A zone's offset from UTC; NaN, so that the time is rejected, for an unknown zone. */
function readOffsetMs(zoneName: string, atMs: number): number {
  if (!zoneName.includes("/")) return 0;
  try {
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone: zoneName,
      timeZoneName: "longOffset",
    });
    const name =
      format.formatToParts(atMs).find(({ type }) => type === "timeZoneName")?.value ?? "";
    const [, sign = "+", hours = "0", minutes = "0"] = /GMT([+-])(\d{2}):(\d{2})/.exec(name) ?? [];

    return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  } catch {
    return Number.NaN;
  }
}
