// manifest-settings: a package.json with the base's settings and the work's dependencies: its other settings (`imports`, `exports`, `type`)
// also affect what a check reads. Pure.

import { isRecord } from "../../detect/manifest.ts";

const dependencyKey =
  /^(?:(?:dev|peer|optional|bundled?)?[dD]ependenc(?:ies|y)(?:Meta)?|overrides|resolutions|packageManager|name|version|description|scripts|workspaces)$/;

/** The text to try a check with; null if the work changed no other setting, or one of the two isn't a JSON object. */
export function manifestAsBefore(before: string | null, now: string | null): string | null {
  const [was, is] = [parseObject(before), parseObject(now)];
  if (was === null || is === null) return null;
  const settings = (all: Readonly<Record<string, unknown>>): string =>
    JSON.stringify(
      Object.entries(all)
        .filter(([key]) => !dependencyKey.test(key))
        .toSorted(([a], [b]) => (a < b ? -1 : 1)),
    );
  if (settings(was) === settings(is)) return null;
  const kept = Object.entries(is).filter(([key]) => dependencyKey.test(key));
  const back = Object.entries(was).filter(([key]) => !dependencyKey.test(key));
  return `${JSON.stringify(Object.fromEntries([...kept, ...back]), null, 2)}\n`;
}

function parseObject(text: string | null): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}
