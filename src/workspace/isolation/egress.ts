// egress: the only network exit of a sandbox: a forwarder on the sandbox's loopback, started beside
// the command, that leads to a socket mounted into it.
//
// Invariants:
//   D1. The command starts at once and is what it would be without the egress: same process,
//       streams, exit code and signals. The forwarder isn't a child of it, and ends with the
//       sandbox.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { invariant } from "../../kit/invariant.ts";
import type { Egress } from "./confinement.ts";

/** Where the forwarder and its socket are inside the sandbox. */
const pathsInside = {
  program: "/run/autopilot/egress.cjs",
  socket: "/run/autopilot/egress.sock",
} as const;

/** The files that the sandbox needs for its egress, as pairs: path outside, path inside. */
export const listEgressMounts = (
  egress: Egress,
  program: string,
): readonly (readonly [string, string])[] => [
  [program, pathsInside.program],
  [egress.socket, pathsInside.socket],
];

// Started from a shell that ends at once, so that the forwarder becomes the sandbox's own child and
// not the command's.
const script = `
("$1" "$2" "$3" "$4" </dev/null >/dev/null 2>&1 &)
shift 4
exec "$@"`;

/** The command line that starts the forwarder and then becomes the command. */
export function withEgress(argv: readonly string[], egress: Egress): readonly string[] {
  return [
    "/bin/sh",
    "-c",
    script,
    "autopilot-egress",
    process.execPath,
    pathsInside.program,
    String(egress.port),
    pathsInside.socket,
    ...argv,
  ]; // D1
}

/** The forwarder's program: beside this one once bundled, in dist when run from source. */
export function findEgressProgram(): string {
  const folder = dirname(fileURLToPath(import.meta.url));
  const program = [
    join(folder, "egress.cjs"),
    join(folder, "..", "..", "..", "dist", "egress.cjs"),
  ].find((path) => existsSync(path));
  invariant(
    program !== undefined,
    "the egress's forwarder is shipped with the product (npm run build makes it)",
  );

  return program;
}
