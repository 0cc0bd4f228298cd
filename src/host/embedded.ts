import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { invariant } from "../kit/invariant.ts";

/** The embedded agent's program: beside this one once bundled, in dist when run from source. */
export function scriptedEntry(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const found = [join(here, "scripted.cjs"), join(here, "..", "..", "dist", "scripted.cjs")].find((path) => existsSync(path));
  invariant(found !== undefined, "the embedded agent is shipped with the product (npm run build makes it)");
  return found;
}
