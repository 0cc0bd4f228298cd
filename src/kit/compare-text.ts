// compare-text: orders texts by their code units, the same on every machine. `localeCompare` depends on the user's language.

export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
