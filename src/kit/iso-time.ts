// iso-time: calendar arithmetic on ISO 8601 times in UTC, without a clock: the same text gives the
// same answer everywhere.

/** `2026-05-15T14:32:01.250Z` */
const isoTimePattern = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?Z$/;
const dayMs = 86_400_000;

/**
 * Milliseconds since 1970, or null if the text isn't an ISO 8601 time in UTC. A 31st that a month
 * lacks is a day of the next month.
 */
export function parseIsoTime(iso: string): number | null {
  const match = isoTimePattern.exec(iso);
  if (match === null) return null;

  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60) {
    return null;
  }

  const ms = Number((match[7] ?? "").slice(0, 3).padEnd(3, "0"));
  return (
    countDaysSince1970(year, month, day) * dayMs + ((hour * 60 + minute) * 60 + second) * 1000 + ms
  );
}

/**
 * Milliseconds between two times; 0 if `now` is earlier. A text that isn't a time counts as 1970.
 */
export const ageMs = (since: string, now: string): number =>
  Math.max(0, (parseIsoTime(now) ?? 0) - (parseIsoTime(since) ?? 0));

/** The time so many minutes later, to the millisecond; the text itself if it isn't a time. */
export function plusMinutes(iso: string, minutes: number): string {
  const ms = parseIsoTime(iso);
  return ms === null ? iso : formatIsoTime(ms + Math.round(minutes * 60_000));
}

/** To the millisecond: `2026-05-15T14:32:01.250Z`. */
export function formatIsoTime(ms: number): string {
  const days = Math.floor(ms / dayMs);
  const msOfDay = ms - days * dayMs;
  const { year, month, day } = dateFromDays(days);
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  const time = `${two(msOfDay / 3_600_000)}:${two((msOfDay / 60_000) % 60)}:${two((msOfDay / 1000) % 60)}`;

  return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}T${time}.${String(msOfDay % 1000).padStart(3, "0")}Z`;
}

/**
 * Days since 1970. Years are counted from March, so that the leap day is a year's last. An era of
 * 400 years always has 146,097 days, and 719,468 days are between 1 March of year 0 and 1970.
 */
function countDaysSince1970(year: number, month: number, day: number): number {
  const marchYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;

  return (
    era * 146_097 +
    yearOfEra * 365 +
    Math.floor(yearOfEra / 4) -
    Math.floor(yearOfEra / 100) +
    dayOfYear -
    719_468
  );
}

/** The reverse of `countDaysSince1970`. */
function dateFromDays(days: number): { year: number; month: number; day: number } {
  const daysSinceYear0 = days + 719_468;
  const era = Math.floor(daysSinceYear0 / 146_097);
  const dayOfEra = daysSinceYear0 - era * 146_097;
  const leapDays =
    Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;

  return {
    year: era * 400 + yearOfEra + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1,
  };
}
