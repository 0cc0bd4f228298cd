// utc-time: tests quickly whether a text is a UTC timestamp, for logs with millions of lines.

/**
 * Whether a text is a time in UTC as logs write it: `2026-05-15T14:32:01Z`, to the second or finer.
 * Called for every line of logs with a million lines, so it reads each character once and allocates
 * nothing.
 */
export function isUtcTime(text: string): boolean {
  const length = text.length;
  if (
    length < 20 ||
    length > 30 ||
    text.charCodeAt(length - 1) !== letterZ ||
    text.charCodeAt(10) !== letterT
  ) {
    return false;
  }

  if (text.charCodeAt(4) !== dash || text.charCodeAt(7) !== dash) return false;
  if (text.charCodeAt(13) !== colon || text.charCodeAt(16) !== colon) return false;
  const year = twoAt(text, 0) * 100 + twoAt(text, 2);
  const month = twoAt(text, 5);
  const day = twoAt(text, 8);
  if (
    year < 0 ||
    month < 1 ||
    month > 12 ||
    day < 1 ||
    (day > 28 && day > countDays(year, month))
  ) {
    return false;
  }

  const hour = twoAt(text, 11);
  const minute = twoAt(text, 14);
  const second = twoAt(text, 17);
  // A leap second is a second too.
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return false;

  return length === 20 || isFraction(text);
}

const [dash, dot, colon, zero, letterT, letterZ] = [45, 46, 58, 48, 84, 90];
/** Far enough below zero that no second digit makes up for it. */
const noDigit = -1000;

function digitAt(text: string, position: number): number {
  const digit = text.charCodeAt(position) - zero;
  return digit < 0 || digit > 9 ? noDigit : digit;
}

const twoAt = (text: string, position: number): number =>
  digitAt(text, position) * 10 + digitAt(text, position + 1);

function isFraction(text: string): boolean {
  if (text.length < 22 || text.charCodeAt(19) !== dot) return false;
  for (let index = 20; index < text.length - 1; index++) if (digitAt(text, index) < 0) return false;
  return true;
}

function countDays(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
