// load-script: reads a script for the embedded agent, YAML or JSON, and reports mistakes with file
// and line.

import { readFile } from "node:fs/promises";
import * as v from "valibot";
import { Script } from "../../contracts/script.ts";
import type { Finding } from "../../kit/finding.ts";

export type LoadedScript = { readonly script: Script } | { readonly findings: readonly Finding[] };

export async function loadScript(file: string): Promise<LoadedScript> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(file);
  } catch (error) {
    return {
      findings: [
        {
          file,
          line: 1,
          column: 1,
          path: "",
          rule: "unreadable",
          message: error instanceof Error ? error.message : String(error),
          severity: "error",
        },
      ],
    };
  }

  return parseScript(file, bytes);
}

/** Parses a script that was already read. */
export async function parseScript(file: string, text: string | Uint8Array): Promise<LoadedScript> {
  const script = parsePlainJson(
    typeof text === "string" ? text : Buffer.from(text).toString("utf8"),
  );
  if (script !== null) return { script };
  const { isRefused, readLocated } = await import("../../kit/located.ts");
  const located = readLocated(file, text, Script);

  return isRefused(located) ? located : { script: located.value };
}

/**
 * Parses a valid script in compact JSON, as a program writes it, without the parser that keeps
 * positions, which is slow to load. Null for anything else, such as JSON with a duplicate key.
 */
function parsePlainJson(text: string): Script | null {
  try {
    const value: unknown = JSON.parse(text);
    const parsed = JSON.stringify(value) === text ? v.safeParse(Script, value) : null;
    return parsed?.success === true ? parsed.output : null;
  } catch {
    return null;
  }
}
