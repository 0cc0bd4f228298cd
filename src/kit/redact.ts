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
 * A shorter part of a plain secret gives nothing away; a shorter part of an encoded one could be
 * part of any hash.
 */
const halfCharsMin = { plain: 8, base64: 12, hex: 12 } as const;
const halfKeyChars = 8;
/** `\\u0041` for one character. */
const escapedCharsMax = 7;

export function openRedactor(secrets: readonly Secret[]): Redactor {
  const known = new Map<string, Secret>();
  const learn = (secret: Secret): boolean => {
    if (known.has(secret.value)) return true;
    if (
      known.size >= secretsMax ||
      !listNeedles(secret).some(({ text }) => text.length >= halfKeyChars)
    ) {
      return false;
    }

    known.set(secret.value, secret);
    matching = null;
    return true;
  };

  let matching: { readonly matcher: Matcher | null; readonly halves: Halves } | null = null;
  /** Built when it is first needed, and again after something was learnt. */
  const getMatcher = (): { readonly matcher: Matcher | null; readonly halves: Halves } => {
    if (matching !== null) return matching;
    const matcher = openMatcher([...known.values()].flatMap(listNeedles));
    return (matching = { matcher, halves: indexHalves(matcher?.needles ?? []) });
  };

  for (const secret of secrets) learn(secret);
  const findSpans = (text: string): readonly Span[] =>
    text.length < halfKeyChars ? none : findTextSpans(text, getMatcher().matcher);

  const findSpansAndHalves = (text: string): readonly Span[] => {
    const seen = createTerminalView(createPlainView(text));
    const halfSpans =
      seen === null
        ? []
        : findHalves(seen.text, getMatcher().halves).map((span) => toOriginal(seen, span));
    return mergeSpans([...findSpans(text), ...findHalves(text, getMatcher().halves), ...halfSpans]);
  };

  return {
    learn,
    spansIn: findSpans,
    text: (text) => replaceSpans(text, findSpans(text)),
    excerpt: (text) => replaceSpans(text, findSpansAndHalves(text)),
    next: (before, text) => {
      const newSpans = findSpansAndHalves(before + text).flatMap(({ start, end, name }) =>
        end <= before.length
          ? []
          : [{ start: Math.max(0, start - before.length), end: end - before.length, name }],
      );
      return replaceSpans(text, newSpans);
    },
    charsMax: () => (getMatcher().matcher?.charsMax ?? 0) * escapedCharsMax,
  };
}

const none: readonly Span[] = [];

function findTextSpans(text: string, matcher: Matcher | null): readonly Span[] {
  // Nearly every text is done here, so this is all that an append to the journal costs: some four
  // microseconds for 600 bytes.
  if (!hasOtherViews(text) && !mayHoldPattern(text) && matcher?.hasMatch(text) !== true) {
    return none;
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

  return spans === null ? none : mergeSpans(spans);
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
type Halves = {
  readonly begin: ReadonlyMap<string, readonly Needle[]>;
  readonly end: ReadonlyMap<string, readonly Needle[]>;
  readonly charsMax: number;
};

function indexHalves(needles: readonly Needle[]): Halves {
  const begin = new Map<string, Needle[]>();
  const end = new Map<string, Needle[]>();

  for (const needle of needles) {
    const [first, last] = [needle.text.slice(0, halfKeyChars), needle.text.slice(-halfKeyChars)];
    begin.set(first, [...(begin.get(first) ?? []), needle]);
    end.set(last, [...(end.get(last) ?? []), needle]);
  }

  return {
    begin,
    end,
    charsMax: needles.reduce((most, { text }) => Math.max(most, text.length), 0),
  };
}

const toOriginal = (view: View, { start, end, name }: Span): Span => {
  const [from, until] = view.spanOf(start, end);
  return { start: from, end: until, name };
};

/**
 * Parts of known secrets at either end, and at the end what looks like the beginning of an unknown
 * one (R4).
 */
function findHalves(cut: string, halves: Halves): readonly Span[] {
  const text = cut.endsWith("…") ? cut.slice(0, -1) : cut; // a caller that cuts a text says so with this
  const beginning = findBeginning(text);
  return beginning === null
    ? findCutSpans(text, halves)
    : [...findCutSpans(text, halves), { start: beginning, end: text.length, name: null }];
}

function findCutSpans(text: string, { begin, end, charsMax }: Halves): readonly Span[] {
  const spans: Span[] = [];
  for (
    let index = Math.max(0, text.length - charsMax);
    index + halfKeyChars <= text.length;
    index++
  ) {
    for (const needle of begin.get(text.slice(index, index + halfKeyChars)) ?? []) {
      const length = text.length - index;
      if (length >= halfCharsMin[needle.form] && needle.text.startsWith(text.slice(index))) {
        spans.push({ start: index, end: text.length, name: needle.name });
      }
    }
  }

  for (let index = Math.min(text.length, charsMax); index >= halfKeyChars; index--) {
    for (const needle of end.get(text.slice(index - halfKeyChars, index)) ?? []) {
      if (index >= halfCharsMin[needle.form] && needle.text.endsWith(text.slice(0, index))) {
        spans.push({ start: 0, end: index, name: needle.name });
      }
    }
  }

  return spans;
}
