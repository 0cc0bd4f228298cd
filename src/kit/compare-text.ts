// compare-text: orders texts by their code units, the same on every machine. `localeCompare`
// depends on the user's language.

export function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
