// built: the embedded agent's program, bundled once for all tests from the sources as they are now.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const rooms = ["src/agents", "src/contracts", "src/kit", "test/agents"];

const paths = new Map<string, Promise<string>>();

/** The path of the bundled scripted agent. */
export const builtScripted = (): Promise<string> =>
  built("scripted", "src/agents/scripted/main.ts");
/** The path of the bundled program that offers the runner's tools. */
export const builtReturns = (): Promise<string> =>
  built("returns", "src/agents/answer-tools/main.ts");
/** The path of a program that plays one turn, as a runner does, and is there to be killed. */
export const builtStandIn = (): Promise<string> =>
  built("stand-in", "test/agents/runner-stand-in.ts");
/** The path of the guardian alone, for a process that opens it and is there to be killed. */
export const builtGuardian = (): Promise<string> =>
  built("guardian", "src/agents/process/guardian.ts");

function built(name: string, source: string): Promise<string> {
  const path = paths.get(name) ?? build(name, source);
  paths.set(name, path);
  return path;
}

async function build(program: string, source: string): Promise<string> {
  const folder = join(root, "node_modules", ".cache", "autopilot-tests");
  // Named by what it was made from, so that test files running side by side share it and none gets
  // a stale one.
  const file = join(folder, `${program}-${sourceHash()}.cjs`);
  if (existsSync(file)) return file;
  mkdirSync(folder, { recursive: true });

  const bundle = await rolldown({
    input: join(root, source),
    platform: "node",
    logLevel: "silent",
  });

  const half = `${file}.${process.pid}`;
  await bundle.write({ file: half, format: "cjs", codeSplitting: false });
  await bundle.close();
  renameSync(half, file);

  return file;
}

function sourceHash(): string {
  const hash = createHash("sha256");
  for (const room of rooms) {
    for (const name of readdirSync(join(root, room), {
      recursive: true,
      encoding: "utf8",
    }).toSorted()) {
      if (!name.endsWith(".ts") || name.endsWith(".test.ts")) continue;
      hash.update(`${name}\0`).update(readFileSync(join(root, room, name)));
    }
  }

  return hash.digest("hex").slice(0, 16);
}
