// redact: removes secrets from a text before it is written.
//
// Invariants:
//   R1. Nothing is left of a known secret, however it is written: plain, encoded, escaped, wrapped,
//       backwards, or with colours, backspaces and characters of no width in it.
//   R2. The replacement says at most the secret's name, never its value or its length.
//   R3. A text without a secret is returned unchanged, and redacting twice changes nothing more.
//   R4. At the end of a text that goes on, what may be the beginning of a secret is replaced too.

import { type Matcher, type Needle, openMatcher } from "./redact-matcher.ts";
import { listNeedles, type Secret } from "./redact-needles.ts";
import { findBeginning, findPatterns, mayHoldPattern } from "./redact-patterns.ts";
import {
  hasOtherViews,
  joinLines,
  createJoinedView,
  createPlainView,
  createTerminalView,
  listUnescapedViews,
  type View,
} from "./redact-views.ts";

/** A part of a text that is to be replaced; `name` is null if it was recognised by its form. */
export type Span = { readonly start: number; readonly end: number; readonly name: string | null };

export type Redactor = {
  readonly text: (text: string) => string;
  /**
   * The same for a text that may be cut out of a longer one: a part of a secret at either end is
   * replaced too.
   */
  readonly excerpt: (text: string) => string;
  /**
   * The same for a text that continues another: a secret that began in the text before is replaced
   * too. Returns only the new text.
   */
  readonly next: (before: string, text: string) => string;
  readonly spansIn: (text: string) => readonly Span[];
  /** How many characters one secret can take at most, escaped. */
  readonly charsMax: () => number;
  /**
   * Adds a secret. False if it is too short to be distinguished from ordinary text, or if there are
   * too many.
   */
  readonly learn: (secret: Secret) => boolean;
};

/** More than any user has; a machine's whole environment is smaller. */
export const secretsMax = 5_000;
/**
 * Of a secret that is cut off: a shorter rest of a plain one gives nothing away; a shorter rest of an
 * encoded one could be part of any hash.
 */
const restCharsMin = { plain: 8, base64: 12, hex: 12 } as const;
/** By so many of their first or last characters needles are looked up. */
const edgeChars = 8;
/** `\\u0041` for one character. */
const escapedCharsMax = 7;

/** What texts are searched with, built from all secrets that are known. */
type Index = { readonly matcher: Matcher | null; readonly edges: NeedleEdges };

export function openRedactor(secrets: readonly Secret[]): Redactor {
  const known = new Map<string, Secret>();
  let index: Index | null = null;

  const learn = (secret: Secret): boolean => {
    if (known.has(secret.value)) return true;
    if (known.size >= secretsMax || !isLongEnough(secret)) return false;
    known.set(secret.value, secret);
    index = null;
    return true;
  };

  /** Built when it is first needed, and again after something was learnt. */
  const getIndex = (): Index => {
    index ??= buildIndex([...known.values()]);
    return index;
  };

  const findSpans = (text: string): readonly Span[] =>
    text.length < edgeChars ? noSpans : findTextSpans(text, getIndex().matcher);

  const findExcerptSpans = (text: string): readonly Span[] => {
    const { edges } = getIndex();
    const terminalView = createTerminalView(createPlainView(text));
    const terminalSpans =
      terminalView === null
        ? noSpans
        : findCutSecrets(terminalView.text, edges).map((span) => toOriginal(terminalView, span));
    return mergeSpans([...findSpans(text), ...findCutSecrets(text, edges), ...terminalSpans]);
  };

  for (const secret of secrets) learn(secret);

  return {
    learn,
    spansIn: findSpans,
    text: (text) => replaceSpans(text, findSpans(text)),
    excerpt: (text) => replaceSpans(text, findExcerptSpans(text)),
    next: (before, text) => {
      const spans = findExcerptSpans(before + text);
      return replaceSpans(text, shiftSpans(spans, before.length));
    },
    charsMax: () => (getIndex().matcher?.charsMax ?? 0) * escapedCharsMax,
  };
}

const noSpans: readonly Span[] = [];

const isLongEnough = (secret: Secret): boolean =>
  listNeedles(secret).some(({ text }) => text.length >= edgeChars);

function buildIndex(secrets: readonly Secret[]): Index {
  const matcher = openMatcher(secrets.flatMap(listNeedles));
  return { matcher, edges: indexEdges(matcher?.needles ?? []) };
}

/** The spans behind the first characters of a text, as spans of the rest. */
function shiftSpans(spans: readonly Span[], firstChars: number): readonly Span[] {
  const remaining = spans.filter(({ end }) => end > firstChars);
  return remaining.map(({ start, end, name }) => ({
    start: Math.max(0, start - firstChars),
    end: end - firstChars,
    name,
  }));
}

function findTextSpans(text: string, matcher: Matcher | null): readonly Span[] {
  // Nearly every text is done here, so this is all that an append to the journal costs: some four
  // microseconds for 600 bytes.
  if (!hasOtherViews(text) && !mayHoldPattern(text) && matcher?.hasMatch(text) !== true) {
    return noSpans;
  }

  let spans: Span[] | null = null;
  const scanView = (view: View, isForPatterns: boolean): void => {
    const add = (start: number, end: number, name: string | null): void => {
      const [from, until] = view.spanOf(start, end);
      (spans ??= []).push({ start: from, end: until, name });
    };

    matcher?.scan(view.text, (start, needle) => {
      const [from, until] = widenSpan(view.text, start, needle);
      add(from, until, needle.name);
    });

    if (isForPatterns) findPatterns(view.text, (start, end) => add(start, end, null));
  };

  const plain = createPlainView(text);
  scanView(plain, true);
  const views = listUnescapedViews(text);
  for (const view of views) scanView(view, true); // R1
  if (matcher !== null) {
    for (const view of [plain, ...views]) {
      const joined = joinLines(view);
      if (joined !== null && matcher.hasMatch(joined)) scanView(createJoinedView(view), false);
    }
  }

  return spans === null ? noSpans : mergeSpans(spans);
}

/**
 * A match with the neighbours that hold bits of the secret: at most one character on either side,
 * and the padding.
 */
function widenSpan(
  text: string,
  start: number,
  { text: needle, form }: Needle,
): readonly [number, number] {
  const end = start + needle.length;
  if (form !== "base64") return [start, end];
  const isDigit = (position: number): boolean => /[A-Za-z0-9+/_-]/.test(text.charAt(position));
  const from = start > 0 && isDigit(start - 1) ? start - 1 : start;
  let until = isDigit(end) ? end + 1 : end;
  while (until < end + 3 && text[until] === "=") until++;

  return [from, until];
}

/** In order, and with overlapping spans merged. */
function mergeSpans(spans: readonly Span[]): readonly Span[] {
  if (spans.length < 2) return spans;
  const kept: Span[] = [];

  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = kept.at(-1);
    if (last === undefined || span.start >= last.end) {
      kept.push(span);
    } else {
      kept[kept.length - 1] = {
        start: last.start,
        end: Math.max(last.end, span.end),
        name: last.name ?? span.name,
      };
    }
  }

  return kept;
}

function replaceSpans(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text; // R3
  const parts: string[] = [];
  let position = 0;

  for (const { start, end, name } of spans) {
    parts.push(text.slice(position, start), redactionMark(name));
    position = end;
  }

  return parts.join("") + text.slice(position);
}

/** What replaces a secret (R2). */
export const redactionMark = (name: string | null): string =>
  name === null ? "[redacted]" : `[redacted:${name}]`;

/** Needles by their first and by their last characters. */
type NeedleEdges = {
  readonly byBeginning: ReadonlyMap<string, readonly Needle[]>;
  readonly byEnd: ReadonlyMap<string, readonly Needle[]>;
  /** How long the longest needle is. */
  readonly charsMax: number;
};

function indexEdges(needles: readonly Needle[]): NeedleEdges {
  const byBeginning = new Map<string, Needle[]>();
  const byEnd = new Map<string, Needle[]>();
  let charsMax = 0;

  for (const needle of needles) {
    const beginning = needle.text.slice(0, edgeChars);
    const end = needle.text.slice(-edgeChars);
    byBeginning.set(beginning, [...(byBeginning.get(beginning) ?? []), needle]);
    byEnd.set(end, [...(byEnd.get(end) ?? []), needle]);
    charsMax = Math.max(charsMax, needle.text.length);
  }

  return { byBeginning, byEnd, charsMax };
}

const toOriginal = (view: View, { start, end, name }: Span): Span => {
  const [from, until] = view.spanOf(start, end);
  return { start: from, end: until, name };
};

/**
 * Secrets that either end of a text cuts off, and at the end what looks like the beginning of an
 * unknown one (R4).
 */
function findCutSecrets(excerpt: string, edges: NeedleEdges): readonly Span[] {
  const text = excerpt.endsWith("…") ? excerpt.slice(0, -1) : excerpt; // a caller that cuts a text says so with this
  const known = [...findCutAtEnd(text, edges), ...findCutAtStart(text, edges)];

  const unknownStart = findBeginning(text);
  if (unknownStart === null) return known;
  return [...known, { start: unknownStart, end: text.length, name: null }];
}

/** Needles whose beginning is the end of the text. */
function findCutAtEnd(text: string, { byBeginning, charsMax }: NeedleEdges): readonly Span[] {
  const spans: Span[] = [];
  const firstStart = Math.max(0, text.length - charsMax);

  for (let start = firstStart; start + edgeChars <= text.length; start++) {
    for (const needle of byBeginning.get(text.slice(start, start + edgeChars)) ?? []) {
      const isLong = text.length - start >= restCharsMin[needle.form];
      if (!isLong || !needle.text.startsWith(text.slice(start))) continue;
      spans.push({ start, end: text.length, name: needle.name });
    }
  }

  return spans;
}

/** Needles whose end is the beginning of the text. */
function findCutAtStart(text: string, { byEnd, charsMax }: NeedleEdges): readonly Span[] {
  const spans: Span[] = [];

  for (let end = Math.min(text.length, charsMax); end >= edgeChars; end--) {
    for (const needle of byEnd.get(text.slice(end - edgeChars, end)) ?? []) {
      const isLong = end >= restCharsMin[needle.form];
      if (!isLong || !needle.text.endsWith(text.slice(0, end))) continue;
      spans.push({ start: 0, end, name: needle.name });
    }
  }

  return spans;
}
