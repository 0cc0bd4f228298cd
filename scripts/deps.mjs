// Installs the pinned dependencies when they are missing or older than the lock file, so that every npm script works from a fresh clone.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";

const marker = "node_modules/.package-lock.json";
const isFresh =
  existsSync(marker) && statSync(marker).mtimeMs >= statSync("package-lock.json").mtimeMs;
if (!isFresh) {
  process.stderr.write("Installing dependencies (npm ci) …\n");
  const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], {
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  if (status !== 0) process.exit(status ?? 1);
}
