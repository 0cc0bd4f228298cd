// canonical-json: writes JSON with exactly one spelling per value, so that equal values hash the
// same.

import { compareText } from "./compare-text.ts";

/** Keys are sorted by code unit, there are no spaces, and undefined members are left out. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map((item) => canonicalJson(item === undefined ? null : item)).join(",")}]`;
  }

  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([leftKey], [rightKey]) => compareText(leftKey, rightKey))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);

  return `{${members.join(",")}}`;
}
