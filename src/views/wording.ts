// wording: formats numbers, durations, cursors and other people's text for a person. It uses no
// locale: a run reads the same everywhere.

import { gradeLevel } from "../contracts/isolation-levels.ts";
import { type ReasonCode, reasons } from "../contracts/reason.ts";
import { visible } from "../kit/visible.ts";

/** 1234567 → `1,234,567`; fractions keep two digits at most. */
export function formatNumber(value: number): string {
  const [whole = "0", part] = String(Math.round(value * 100) / 100).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return part === undefined ? grouped : `${grouped}.${part}`;
}

/** `940`, `12.9k`, `180k`, `1.2M`: close enough for a glance. */
export function formatCompactNumber(value: number): string {
  const scaled = (unit: number): string => formatNumber(Math.round((value / unit) * 10) / 10);
  if (value >= 999_950) return `${scaled(1_000_000)}M`; // 999,950 would be rounded to 1000k
  return value >= 1000 ? `${scaled(1000)}k` : scaled(1);
}

export const formatMoney = (usd: number): string =>
  usd > 0 && usd < 0.005 ? "under $0.01" : `$${usd.toFixed(2)}`;
export const formatPercent = (ratio: number): string => `${Math.floor(ratio * 100)} %`;
export const plural = (count: number, singular: string, many = `${singular}s`): string =>
  `${formatNumber(count)} ${count === 1 ? singular : many}`;

/** The placeholder of an answer in a command to copy. */
export const answerPlaceholder = "…";
/**
 * The answer in a command to copy: the recommended one, or the first; a placeholder if any text
 * will do. A shell takes either.
 */
export const answerArgument = (
  options: Readonly<Record<string, string>>,
  recommend: string | null = null,
): string => {
  const key = recommend ?? Object.keys(options)[0];
  const isShellWord = key !== undefined && /^[\w.-]+$/.test(key);
  return isShellWord ? key : `"${answerPlaceholder}"`;
};

/** An amount of one dimension: `12,300 tokens`, `3.5 min`, `$0.42`. */
export function formatAmount(dimension: string, value: number): string {
  if (dimension === "usd") return formatMoney(value);
  if (dimension === "minutes") return `${formatNumber(value)} min`;
  return `${formatNumber(Math.round(value))} ${dimension}`;
}

/** A part of an amount: `300 of 1,000 tokens`, `$0.30 of $1.20`. */
export const formatPartOfAmount = (dimension: string, part: number, whole: number): string =>
  dimension === "usd"
    ? `${formatMoney(part)} of ${formatMoney(whole)}`
    : `${formatNumber(Math.round(part))} of ${formatAmount(dimension, whole)}`;

export function formatDuration(ms: number): string {
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);

  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A limit of 0 counts as used up. */
export const computeUsedShare = (used: number, limit: number): number =>
  limit === 0 ? 1 : used / limit;

type Amounts = {
  readonly tokens: number;
  readonly minutes: number;
  readonly calls: number;
  readonly usd: number;
};

/** `12.9k of 180k tokens (7 %), 1.4 of 30 min, 2 of 180 calls, $0.14`. */
export function describeBudget(
  { tokens, minutes, calls, usd }: Amounts,
  limits: Partial<Amounts>,
): string {
  const limitText = (limit: number | undefined, format: (value: number) => string): string =>
    limit === undefined ? "" : ` of ${format(limit)}`;
  const part =
    limits.tokens === undefined
      ? ""
      : ` (${formatPercent(computeUsedShare(tokens, limits.tokens))})`;

  const price =
    usd === 0 && limits.usd === undefined
      ? []
      : [`${formatMoney(usd)}${limitText(limits.usd, formatMoney)}`];

  return [
    `${formatCompactNumber(tokens)}${limitText(limits.tokens, formatCompactNumber)} tokens${part}`,
    `${formatNumber(Math.round(minutes * 10) / 10)}${limitText(limits.minutes, formatNumber)} min`,
    `${formatNumber(calls)}${limitText(limits.calls, formatNumber)} calls`,
    ...price,
  ].join(", ");
}

/** `0.3s`, `41s`, `2m 05s`, `1h 12m`: for a glance. */
export function formatCompactDuration(ms: number): string {
  if (ms < 9950) return `${Math.round(ms / 100) / 10}s`;
  const seconds = Math.round(ms / 1000);
  const two = (value: number): string => String(value).padStart(2, "0");
  if (seconds < 60) return `${seconds}s`;

  return seconds < 3600
    ? `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`
    : `${Math.floor(seconds / 3600)}h ${two(Math.floor((seconds % 3600) / 60))}m`;
}

const textCharsMax = 200;

/**
 * Other people's text on one line: white space collapsed, control characters escaped, cut off at
 * `charsMax`.
 */
export function oneLine(text: string, charsMax = textCharsMax): string {
  const characters = Array.from(visible(text.replace(/\s+/g, " ").trim()));
  return characters.length <= charsMax
    ? characters.join("")
    : `${characters.slice(0, charsMax - 1).join("")}…`;
}

/** Text as one word of a command to copy. */
export const quoteArgument = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${visible(text).replaceAll("'", "'\\''")}'`;

/** Other people's text as a few lines of ours. */
export function fewLines(text: string, linesMax: number): readonly string[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const shownLines = lines.slice(0, linesMax).map((line) => oneLine(line));
  return lines.length > linesMax
    ? [...shownLines, `… ${plural(lines.length - linesMax, "more line")}`]
    : shownLines;
}

/** The first few of a list and how many are left. */
export function firstFew(items: readonly string[], itemsMax = 8): string {
  const shownItems = items
    .slice(0, itemsMax)
    .map((item) => oneLine(item))
    .join(", ");

  return items.length > itemsMax
    ? `${shownItems} and ${formatNumber(items.length - itemsMax)} more`
    : shownItems;
}

/**
 * A cursor in words: `1` → phase 1; `before.survey` → survey; `1/closing` → closing of phase 1;
 * `1@1/execute#1/03-01` → 03-01 of phase 1.
 */
export function describeCursor(path: string): string {
  const parts = path.split("/");
  const root = oneLine((parts[0] ?? path).replace(/@\d+$/, ""));
  const phase =
    root.startsWith("before.") || root.startsWith("after.")
      ? root.replace(/^(before|after)\./, "")
      : `phase ${root}`;

  const lastPart = parts.at(-1);
  return parts.length === 1 || lastPart === undefined
    ? phase
    : `${oneLine(lastPart.replace(/@\d+$/, "").replace(/^wave:/, "wave "))} of ${phase}`;
}

/** An attempt in words: `1@1/execute#2` → execute #2 (phase 1). */
export function describeAttempt(attempt: string): string {
  const match = /^(.*)@(\d+)\/([^/]+)#(\d+)$/.exec(attempt);
  if (match === null) return oneLine(attempt);
  const [, walk = "", visit = "1", step = "", ordinal = ""] = match;
  const visitText = visit === "1" ? "" : `, visit ${visit}`;

  return `${step} #${ordinal} (${describeCursor(walk)}${visitText})`;
}

/** A question's answers one below the other, the recommended one marked. */
export function answerLines(
  options: Readonly<Record<string, string>>,
  recommend: string | null,
): readonly string[] {
  const keys = Object.keys(options).map((key) => oneLine(key));
  const width = Math.max(...keys.map((key) => key.length));
  return Object.entries(options).map(
    ([key, about]) =>
      `${oneLine(key).padEnd(width)}  ${oneLine(about)}${key === recommend ? " (recommended)" : ""}`,
  );
}

/** A block's answers in words: `A: execute, B: stop`. */
export const describeChoices = (options: Readonly<Record<string, string>>): string =>
  Object.entries(options)
    .map(([key, about]) => `${oneLine(key)}: ${oneLine(about)}`)
    .join(", ");

/** One word and how much it is worth; `doctor -v` says the rest. */
export function describeSandbox({ level }: { readonly level: string }): string {
  if (level === "auto") return "chosen when the run starts";
  const grade = gradeLevel(level);
  return grade === null ? level : `${level} (${grade})`;
}

/**
 * A reason's meaning as the end of a sentence: `Paused: the next turn might not fit the budget.` →
 * `the next turn might not …`.
 */
export function describeReason(code: ReasonCode): string {
  const text = reasons[code].meaning
    .replace(/^(?:Paused|Stopped|Finished)[:;,]? /, "")
    .replace(/\.$/, "");
  return /^[A-Z][a-z']*[ :]/.test(text) ? `${text.charAt(0).toLowerCase()}${text.slice(1)}` : text;
}

/**
 * Whether work was refused for files outside its scope, by the detail recorded with it: `README.md
 * (outside_scope: …)`.
 */
export const isOutsideScope = (detail: string): boolean =>
  detail === "" || /\((?:outside_scope|outside_layer|runner_owned)\b/.test(detail);
