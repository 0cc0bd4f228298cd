// is-subsequence: tells whether all items of a list are in another, in the same order.

export function isSubsequence(items: readonly string[], others: readonly string[]): boolean {
  let position = 0;
  for (const item of items) {
    position = others.indexOf(item, position) + 1;
    if (position === 0) return false;
  }

  return true;
}
