// code-spans: finds the inline code of a Markdown text, and blanks it out without moving other characters.

/** A piece of inline code: `start` at its first backtick, `end` behind its last, `code` what is between them. */
export type CodeSpan = { readonly start: number; readonly end: number; readonly code: string };

/** The inline code of one text, as Markdown pairs backticks: a run of them closes at the next run of the same length. One pass. */
export function listCodeSpans(text: string): readonly CodeSpan[] {
  if (!text.includes("`")) return [];
  const runs = [...text.matchAll(/`+/g)].map((match) => ({ at: match.index, length: match[0].length }));
  const later = new Map<number, number[]>();
  for (let n = runs.length - 1; n >= 0; n -= 1) {
    const { length } = runs[n] ?? { length: 0 };
    const same = later.get(length);
    if (same === undefined) later.set(length, [n]);
    else same.push(n);
  }
  const spans: CodeSpan[] = [];
  for (let n = 0; n < runs.length; n += 1) {
    const run = runs[n];
    if (run === undefined) break;
    const same = later.get(run.length) ?? [];
    while ((same.at(-1) ?? Number.POSITIVE_INFINITY) <= n) same.pop();
    const closing = same.at(-1);
    const close = closing === undefined ? undefined : runs[closing];
    if (closing === undefined || close === undefined) continue;
    const inner = text.slice(run.at + run.length, close.at);
    // One space on both sides lets code begin or end with a backtick.
    const code = inner.startsWith(" ") && inner.endsWith(" ") && inner.trim() !== "" ? inner.slice(1, -1) : inner;
    spans.push({ start: run.at, end: close.at + close.length, code });
    n = closing;
  }
  return spans;
}

/** The text with its inline code blanked out, every other character at its old place. */
export function withoutCode(text: string, spans: readonly CodeSpan[] = listCodeSpans(text)): string {
  if (spans.length === 0) return text;
  const parts: string[] = [];
  let position = 0;
  for (const { start, end } of spans) {
    parts.push(text.slice(position, start), " ".repeat(end - start));
    position = end;
  }
  return parts.join("") + text.slice(position);
}
