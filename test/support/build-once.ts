// build-once: makes dist/ before the tests that run it; does nothing when it is up to date.

import { execFileSync } from "node:child_process";
import { resolve } from "node:path";

export default function setup(): void {
  execFileSync(process.execPath, [resolve(import.meta.dirname, "../../scripts/build.mjs")], { stdio: "inherit" });
}
