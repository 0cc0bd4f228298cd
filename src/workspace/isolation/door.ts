// door: the one way out of a box, put beside the command: a forwarder on the box's loopback that leads to a socket bound into it.
//
// Invariants:
//   D1. The command starts at once and is what it would be without the door: same process, streams, exit code and signals. The forwarder
//       is no child of it, and ends with the box.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { invariant } from "../../kit/invariant.ts";
import type { Egress } from "./confinement.ts";

/** Where the forwarder and its socket lie inside the box. */
const inside = { program: "/run/autopilot/door.cjs", socket: "/run/autopilot/door.sock" } as const;

/** What must be given to the box, as pairs: where it lies outside, where inside. */
export const doorGifts = (door: Egress, program: string): readonly (readonly [string, string])[] => [
  [program, inside.program],
  [door.socket, inside.socket],
];

// Started from a shell that ends at once, so that the forwarder becomes the box's own child and not the command's.
const script = `
("$1" "$2" "$3" "$4" </dev/null >/dev/null 2>&1 &)
shift 4
exec "$@"`;

export function besideDoor(argv: readonly string[], door: Egress): readonly string[] {
  return ["/bin/sh", "-c", script, "autopilot-door", process.execPath, inside.program, String(door.port), inside.socket, ...argv]; // D1
}

/** The forwarder's program: beside this one once bundled, in dist when run from source. */
export function doorProgram(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const found = [join(here, "door.cjs"), join(here, "..", "..", "..", "dist", "door.cjs")].find((path) => existsSync(path));
  invariant(found !== undefined, "the door's forwarder is shipped with the product (npm run build makes it)");
  return found;
}
