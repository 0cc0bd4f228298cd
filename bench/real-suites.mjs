// Bundles real-suites.ts and runs it: npm run bench:suites -- [NAME …]
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";

const root = resolve(import.meta.dirname, "..");
const file = join(root, "node_modules/.cache/bench/real-suites.mjs");
const bundle = await rolldown({
  input: join(root, "bench/real-suites.ts"),
  platform: "node",
  logLevel: "silent",
  external: [/^fs-native/],
});
await bundle.write({ file, format: "esm" });
process.exitCode =
  spawnSync(process.execPath, [file, ...process.argv.slice(2)], { stdio: "inherit" }).status ?? 1;
