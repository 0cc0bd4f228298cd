// manifest-settings: makes a package.json with the base's settings and the work's dependencies: its
// settings (`imports`, `exports`, `type`) affect what a check reads. Pure, except for the question.

import { isRecord } from "../../detect/manifest.ts";
import { type QuestionContext, type RaisedQuestion, passesAsBefore } from "./question-context.ts";
import { describeNonCodeFiles } from "./non-code-files.ts";

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

const manifestPath = "package.json";

/** The manifest's other settings as they were, if the work changed them. */
export async function askManifestSettings({
  differences,
  lab: { textAt },
}: QuestionContext): Promise<RaisedQuestion | null> {
  if (!differences.some(({ path, kind }) => path === manifestPath && kind === "changed")) {
    return null;
  }

  const text = restoreManifestSettings(
    await textAt("base", manifestPath),
    await textAt("work", manifestPath),
  );

  const gap = describeNonCodeFiles({ paths: [manifestPath], without: [] });
  return text === null
    ? null
    : {
        whether: passesAsBefore([manifestPath]),
        change: { edits: [{ path: manifestPath, text }] },
        gap,
      };
}
