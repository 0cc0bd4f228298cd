// placeholder: recognises texts that stand for missing content, such as `TBD` and `<your summary>`.
// Pure.
//
// Invariants:
//   P1. Only a whole value that cannot be meant is a placeholder: a short honest answer is not.
//   P2. The time it takes is bounded: only the beginning of a long value is read.

const placeholderWords = new Set([
  ..."todo tbd fixme xxx tbc wip string text value number boolean object array foo bar foobar asdf qwerty".split(
    " ",
  ),
  ..."example sample placeholder dummy summary description content".split(" "),
]);

const valueCharsMax = 500;
const isLorem = (bare: string): boolean => bare.startsWith("lorem ipsum");

/** Whether a whole value, on one line, is a placeholder (P1). */
export function isPlaceholder(plain: string): boolean {
  if (plain.length > valueCharsMax) {
    const beginning = plain.slice(0, valueCharsMax).toLowerCase(); // P2
    return /^[.…_*?]+$/.test(plain) || isLorem(beginning.replace(/^[\W_]+/, ""));
  }

  const bare = plain.toLowerCase().replaceAll(/^[\W_]+|[\W_]+$/g, "");
  if (
    /^[.…_*?]+$/.test(plain) ||
    /^<[^<>]{1,80}>$/.test(plain) ||
    /^\{{1,2}[^{}]{1,80}\}{1,2}$/.test(plain)
  ) {
    return true;
  }

  if (
    /^\[[^[\]]{1,80}\]$/.test(plain) &&
    /\b(?:your|insert|here|text|todo|summary|description)\b/i.test(plain)
  ) {
    return true;
  }

  if (placeholderWords.has(bare) || isLorem(bare)) return true;
  if (/^(?:todo|tbd|fixme)\b[\s:,-]/i.test(bare) && bare.length < 60) return true;
  return /^(?:(?:a |the |my |your |some )?(?:test|example|sample|dummy|placeholder|fake|mock) (?:root cause|summary|description|text|value|string|result|answer|title|issue|evidence|output|data|return)s?|(?:your|insert|enter|put|add|write) .{0,60}\bhere|(?:your|the) (?:summary|answer|text|description|result)|what you (?:did|changed))$/.test(
    bare,
  );
}

/** Whether a value says that there is nothing to say. The caller knows whether that is allowed. */
export const isEmptyAnswer = (plain: string): boolean =>
  /^(?:n\/?a|none|null|nil|undefined|nothing|empty|not applicable|-+|—)$/i.test(
    plain.replace(/\.$/, ""),
  );
