// format-numbers: how pages write numbers, shares, durations and times of day (in UTC). Re-exports
// the amounts of wording.ts, so that a page imports them all from one place.

import { parseIsoTime } from "../../kit/iso-time.ts";
export { formatAmount, formatNumber, formatMoney, plural } from "../wording.ts";

/** `2026-01-01T09:24:13.000Z` → `09:24`; the time must be in UTC, as all of the journal's are. */
export const formatShortTime = (iso: string): string => iso.slice(11, 16);

/** 940, 12.9 k, 1.25 M */
export function shortNumber(value: number): string {
  if (value < 999.5) return String(Math.round(value));
  return value < 999_950
    ? `${(value / 1_000).toFixed(1)} k`
    : `${(value / 1_000_000).toFixed(2)} M`;
}

/** 42 s, 12 min, 3 h 24 min, 2 days */
export function shortDuration(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return `${Math.max(0, Math.floor(ms / 1_000))} s`;
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;

  return `${Math.floor(minutes / 1_440)} days`;
}

/** How long ago `iso` was at the time `now`: `12 min`. Empty if either isn't a time. */
export function formatElapsed(iso: string | null, now: string): string {
  const [from, to] = [parseIsoTime(iso ?? ""), parseIsoTime(now)];
  return from === null || to === null ? "" : shortDuration(Math.max(0, to - from));
}

/** 0.4 %, 42 %: one decimal below a tenth, where a whole number would say little. */
export const formatShare = (ratio: number): string =>
  `${(ratio * 100).toFixed(ratio < 0.1 && ratio > 0 ? 1 : 0)} %`;
