// load-script: reads the script that the run stored for the embedded agent. It is JSON, whatever the
// user wrote: this program starts with every turn, and a parser of YAML would be most of it.

import { readFile } from "node:fs/promises";
import * as v from "valibot";
import { Script } from "../../contracts/script.ts";

export type LoadedScript = { readonly script: Script } | { readonly problem: string };

export async function loadScript(file: string): Promise<LoadedScript> {
  try {
    const { success, output, issues } = v.safeParse(
      Script,
      JSON.parse(await readFile(file, "utf8")),
    );
    return success ? { script: output } : { problem: `${file}: ${issues[0].message}` };
  } catch (error) {
    return { problem: `${file}: ${error instanceof Error ? error.message : String(error)}` };
  }
}
