// build-once: makes dist/ before the tests that run it; does nothing when it is up to date. Takes the tests' shared cache away at the end.

import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export default function setup(): () => void {
  execFileSync(process.execPath, [resolve(import.meta.dirname, "../../scripts/build.mjs")], { stdio: "inherit" });
  return () => rmSync(join(tmpdir(), `autopilot-test-cache-${process.pid}`), { recursive: true, force: true });
}
