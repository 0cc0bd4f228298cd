// manifest-settings: makes a package.json with the base's settings and the work's dependencies: its
// settings (`imports`, `exports`, `type`) affect what a check reads. Pure.

import { isRecord } from "../../detect/manifest.ts";

/** Keys that name dependencies, or that affect no check by themselves. */
const dependencyKey =
  /^(?:(?:dev|peer|optional|bundled?)?[dD]ependenc(?:ies|y)(?:Meta)?|overrides|resolutions|packageManager|name|version|description|scripts|workspaces)$/;

/**
 * The text to try a check with; null if the work changed no such setting, or one of the two isn't a
 * JSON object.
 */
export function restoreManifestSettings(before: string | null, now: string | null): string | null {
  const [was, is] = [parseObject(before), parseObject(now)];
  if (was === null || is === null) return null;
  const listSettings = (manifest: Readonly<Record<string, unknown>>) =>
    Object.entries(manifest).filter(([key]) => !dependencyKey.test(key));
  const toComparable = (manifest: Readonly<Record<string, unknown>>): string =>
    JSON.stringify(listSettings(manifest).toSorted(([left], [right]) => (left < right ? -1 : 1)));
  if (toComparable(was) === toComparable(is)) return null;
  const dependencies = Object.entries(is).filter(([key]) => dependencyKey.test(key));

  return `${JSON.stringify(Object.fromEntries([...dependencies, ...listSettings(was)]), null, 2)}\n`;
}

function parseObject(text: string | null): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}
