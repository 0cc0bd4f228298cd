// metric: parses the number that a benchmark prints about itself: `cost=1.25`, `minutes: 12`, or a
// line of JSON with that key. The last one counts.

export type ParsedMetric = { readonly value: number } | { readonly problem: string };

/** `1.25`, `-3`, `.5e-3` */
const decimalNumber = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/;

export function parseMetric(output: string, name: string): ParsedMetric {
  let lastText: string | null = null;
  for (const line of output.split(/\r?\n/)) {
    lastText = findPrintedValue(line.trim(), name) ?? lastText;
  }

  if (lastText === null) return { problem: `printed no line ${name}=NUMBER` };
  const digits = lastText.replaceAll("_", ""); // 1_000
  const value = Number(digits);
  if (!decimalNumber.test(digits) || !Number.isFinite(value)) {
    return { problem: `printed ${name}=${lastText.slice(0, 40)}, which is no finite number` };
  }

  return { value };
}

/** The value that a line gives for the name; null if it gives none. */
function findPrintedValue(line: string, name: string): string | null {
  if (line.startsWith("{")) {
    try {
      const tree: unknown = JSON.parse(line);
      const value =
        typeof tree === "object" && tree !== null
          ? (tree as Record<string, unknown>)[name]
          : undefined;
      if (value === undefined) return null;

      return typeof value === "number" || typeof value === "string"
        ? String(value)
        : JSON.stringify(value);
    } catch {
      return null; // a line that only looks like JSON says nothing
    }
  }

  if (!line.startsWith(name)) return null;
  const match = /^\s*[=:]\s*(\S+)$/.exec(line.slice(name.length));
  return match?.[1] ?? null;
}

/** Whether a name can stand before `=`. */
export const isMetricName = (name: string): boolean => /^[A-Za-z][\w.-]{0,63}$/.test(name);
