// untrusted-json: reads untrusted JSON of an agent. A missing or wrong value reads as null, or as
// an empty object or array.

export type JsonObject = Readonly<Record<string, unknown>>;

export function asRecord(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : {};
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

export function asString(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** A finite number that is not below zero. */
export function asNonNegativeNumber(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}
