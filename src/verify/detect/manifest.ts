// manifest: the types that check detectors share; a broken manifest becomes a warning, not an
// error.

import type { StringSet } from "../../kit/as-set.ts";
import type { Check } from "../../contracts/evidence.ts";

/** The tree in which checks are searched: its paths, and the text of a file or null. */
export type Tree = { readonly files: StringSet; readonly read: (path: string) => string | null };

/** A manifest that could not be used: which, and why. */
export type DetectWarning = { readonly file: string; readonly reason: string };

export type DetectedChecks = {
  readonly checks: readonly Check[];
  readonly warnings: readonly DetectWarning[];
};

export const manifestCharsMax = 1024 * 1024;

/** A project check: `name` follows the tool and its action, `npm-test`. */
export function createProjectCheck(name: string, command: string, source: string): Check {
  return { id: `project:${name}`, kind: "project", title: command, command, source };
}

/**
 * Reads a manifest with a parser that may throw; a missing manifest is nothing, an unreadable one a
 * warning.
 */
export function detectFromManifest(
  tree: Tree,
  file: string,
  detect: (text: string) => DetectedChecks,
): DetectedChecks {
  const text = tree.files.has(file) ? tree.read(file) : null;
  if (text === null) return { checks: [], warnings: [] };
  if (text.length > manifestCharsMax) {
    return toWarning(file, `it is larger than ${manifestCharsMax} characters`);
  }

  try {
    return detect(text.replace(/^\ufeff/, ""));
  } catch (error) {
    // The first line says what is wrong; parsers add an excerpt of the file.
    return toWarning(
      file,
      (error instanceof Error ? error.message : String(error)).split("\n")[0] ??
        "it cannot be read",
    );
  }
}

export function toWarning(file: string, reason: string): DetectedChecks {
  return { checks: [], warnings: [{ file, reason }] };
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
