// version: finds a version number in a program's output and compares two versions.

/** The first version in a text, `1.2.3` or `1.2.3-beta.1`; null if there is none. */
export function findVersion(text: string): string | null {
  return (
    /\d{1,9}\.\d{1,9}\.\d{1,9}(?:-(?:alpha|beta|rc|next|preview|nightly|dev|canary)[\w.]*)?/.exec(
      text,
    )?.[0] ?? null
  );
}

/**
 * Whether a version is older than another, by its three numbers; a suffix such as `-beta.1` does
 * not make a version older.
 */
export function isOlder(version: string, than: string): boolean {
  const [numbers, otherNumbers] = [parseNumbers(version), parseNumbers(than)];
  const firstDifference = [0, 1, 2].find((index) => numbers[index] !== otherNumbers[index]);
  return (
    firstDifference !== undefined &&
    (numbers[firstDifference] ?? 0) < (otherNumbers[firstDifference] ?? 0)
  );
}

const parseNumbers = (version: string): readonly number[] =>
  (version.split("-")[0] ?? "").split(".").map(Number);
