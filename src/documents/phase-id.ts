// phase-id: normalises and compares phase ids such as `2.1`, and tests whether one is in a range.

const idPattern = /^\d{1,9}(?:\.\d{1,9}){0,3}$/;

/** The normal form of a phase id: `03` becomes `3`. Null if the text is not an id. */
export function parsePhaseId(text: string): string | null {
  if (!idPattern.test(text)) return null;
  return text
    .split(".")
    .map((part) => String(Number(part)))
    .join(".");
}

/** By number, part by part: 2, 2.1, 2.9, 2.10, 3. */
export function comparePhaseIds(leftId: string, rightId: string): number {
  const [leftParts, rightParts] = [leftId.split("."), rightId.split(".")];
  for (let index = 0; index < Math.max(leftParts.length, rightParts.length); index += 1) {
    const difference = Number(leftParts[index] ?? -1) - Number(rightParts[index] ?? -1); // a missing part comes before 0
    if (difference !== 0) return difference;
  }

  return 0;
}

/** Whether an id is in an inclusive range: 3-7 includes 3.1 and 6.9, but not 7.1. */
export const isWithin = (id: string, from: string, to: string): boolean =>
  comparePhaseIds(from, id) <= 0 && comparePhaseIds(id, to) <= 0;
