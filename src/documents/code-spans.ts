// code-spans: finds the inline code of a Markdown text, and blanks it out without moving other
// characters.

/**
 * A piece of inline code: from `start`, its first backtick, to `end`, after its last one. `code` is
 * the text between them.
 */
export type CodeSpan = { readonly start: number; readonly end: number; readonly code: string };

/** Pairs backticks as Markdown does: a run of them is closed by the next run of the same length. */
export function listCodeSpans(text: string): readonly CodeSpan[] {
  if (!text.includes("`")) return [];
  const runs = [...text.matchAll(/`+/g)].map((match) => ({
    start: match.index,
    length: match[0].length,
  }));

  /**
   * The indexes of runs by their length, the first run last, so that those that were passed are
   * popped.
   */
  const runsByLength = new Map<number, number[]>();
  for (let index = runs.length - 1; index >= 0; index -= 1) {
    const { length } = runs[index] ?? { length: 0 };
    const sameLength = runsByLength.get(length);
    if (sameLength === undefined) runsByLength.set(length, [index]);
    else sameLength.push(index);
  }

  const spans: CodeSpan[] = [];
  for (let index = 0; index < runs.length; index += 1) {
    const run = runs[index];
    if (run === undefined) break;
    const sameLength = runsByLength.get(run.length) ?? [];
    while ((sameLength.at(-1) ?? Number.POSITIVE_INFINITY) <= index) sameLength.pop();
    const closingIndex = sameLength.at(-1);
    const closingRun = closingIndex === undefined ? undefined : runs[closingIndex];
    if (closingIndex === undefined || closingRun === undefined) continue;
    const inner = text.slice(run.start + run.length, closingRun.start);
    // One space on both sides lets code begin or end with a backtick.
    const code =
      inner.startsWith(" ") && inner.endsWith(" ") && inner.trim() !== ""
        ? inner.slice(1, -1)
        : inner;

    spans.push({ start: run.start, end: closingRun.start + closingRun.length, code });
    index = closingIndex;
  }

  return spans;
}

/** The text with its inline code blanked out, every other character at its old place. */
export function withoutCode(
  text: string,
  spans: readonly CodeSpan[] = listCodeSpans(text),
): string {
  if (spans.length === 0) return text;
  const parts: string[] = [];
  let position = 0;

  for (const { start, end } of spans) {
    parts.push(text.slice(position, start), " ".repeat(end - start));
    position = end;
  }

  return parts.join("") + text.slice(position);
}
