// shipped-programs: finds the helper programs shipped with this one: the embedded agent and the
// tool server.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { invariant } from "../kit/invariant.ts";

/** The embedded agent's program. */
export const findScriptedAgent = (): string => findShipped("scripted.cjs");
/** The program that offers the runner's own tools to an agent. */
export const findToolServer = (): string => findShipped("returns.cjs");

/** The path of autopilot itself. */
export const findAutopilot = (): string => findShipped("autopilot.cjs");

/** Finds a program shipped with this one: beside it once bundled, in dist when run from source. */
function findShipped(name: string): string {
  const folder = dirname(fileURLToPath(import.meta.url));
  const path = [join(folder, name), join(folder, "..", "..", "dist", name)].find((path) =>
    existsSync(path),
  );
  invariant(path !== undefined, `${name} is shipped with the product (npm run build makes it)`);

  return path;
}
