// load-script: reads a script for the embedded agent, YAML or JSON, and says with file and line what is wrong with it.

import { readFile } from "node:fs/promises";
import * as v from "valibot";
import { Script } from "../../contracts/script.ts";
import type { Finding } from "../../kit/finding.ts";

export type Loaded = { readonly script: Script } | { readonly findings: readonly Finding[] };

export async function loadScript(file: string): Promise<Loaded> {
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

/** The same for a script already read. */
export async function parseScript(file: string, text: string | Uint8Array): Promise<Loaded> {
  const script = parsePlainJson(typeof text === "string" ? text : Buffer.from(text).toString("utf8"));
  if (script !== null) return { script };
  const { isRefused, readLocated } = await import("../../kit/located.ts");
  const located = readLocated(file, text, Script);
  return isRefused(located) ? located : { script: located.value };
}

/**
 * A valid script in JSON as a program writes it, without a position-keeping parser, which is slow to load. A duplicate key is not plain.
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
