// version: finds a version number in a program's output and compares two versions.

/** The first version in a text, `1.2.3` or `1.2.3-beta.1`; null if there is none. */
export function findVersion(text: string): string | null {
  return /\d{1,9}\.\d{1,9}\.\d{1,9}(?:-(?:alpha|beta|rc|next|preview|nightly|dev|canary)[\w.]*)?/.exec(text)?.[0] ?? null;
}

/** Compares the three numbers; what comes behind them does not make one older. */
export function isOlder(version: string, than: string): boolean {
  const [own, other] = [versionNumbers(version), versionNumbers(than)];
  const firstDifference = [0, 1, 2].find((index) => own[index] !== other[index]);
  return firstDifference !== undefined && (own[firstDifference] ?? 0) < (other[firstDifference] ?? 0);
}

const versionNumbers = (version: string): readonly number[] => (version.split("-")[0] ?? "").split(".").map(Number);
