// metric: the number that a benchmark prints about itself: `cost=1.25`, `minutes: 12`, or a line of JSON with that key. The last one counts.

export type ParsedMetric = { readonly value: number } | { readonly problem: string };

const number = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/;

export function parseMetric(output: string, name: string): ParsedMetric {
  let last: string | null = null;
  for (const line of output.split(/\r?\n/)) last = printedValue(line.trim(), name) ?? last;
  if (last === null) return { problem: `printed no line ${name}=NUMBER` };
  const value = Number(last.replaceAll("_", ""));
  if (!number.test(last.replaceAll("_", "")) || !Number.isFinite(value))
    return { problem: `printed ${name}=${last.slice(0, 40)}, which is no finite number` };
  return { value };
}

function printedValue(line: string, name: string): string | null {
  if (line.startsWith("{")) {
    try {
      const tree: unknown = JSON.parse(line);
      const value = typeof tree === "object" && tree !== null ? (tree as Record<string, unknown>)[name] : undefined;
      if (value === undefined) return null;
      return typeof value === "number" || typeof value === "string" ? String(value) : JSON.stringify(value);
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
