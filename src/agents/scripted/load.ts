// load: reads a script for the embedded agent, YAML or JSON, and says with file and line what is wrong with it.

import { readFile } from "node:fs/promises";
import { Script } from "../../contracts/script.ts";
import type { Finding } from "../../kit/finding.ts";
import { isRefused, readLocated } from "../../kit/located.ts";

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
  return readScript(file, bytes);
}

/** The same for a script already read. */
export function readScript(file: string, text: string | Uint8Array): Loaded {
  const read = readLocated(file, text, Script);
  return isRefused(read) ? read : { script: read.value };
}
