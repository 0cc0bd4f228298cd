// Installs the durable engines that a test and a bench hold ours against, each at the version that was tried, into a cache folder:
//   node scripts/engines.mjs [NAME...]       into $AUTOPILOT_ENGINES, or ~/.cache/autopilot/engines
// Prints a line for each. No script of a package is run, and nothing of it is part of the product.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const root = process.env.AUTOPILOT_ENGINES ?? join(homedir(), ".cache/autopilot/engines");
const engines = {
  "graphile-worker": ["graphile-worker@0.17.3"],
  dbos: ["@dbos-inc/dbos-sdk@5.3.0"],
  // The server is one program; the SDK wants a newer Node, which comes as a package too.
  restate: [
    `@restatedev/restate-server-${process.platform}-${process.arch}@1.7.12`,
    "@restatedev/restate-sdk@1.17.2",
    `node-${process.platform}-${process.arch}@24.21.0`,
  ],
};

const asked = process.argv.slice(2);
for (const [name, packages] of Object.entries(engines)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const folder = join(root, name);
  const done = join(folder, `${packages.join("+").replaceAll("/", "_")}.done`);
  if (existsSync(done)) {
    process.stdout.write(`${name}: already there\n`);
    continue;
  }
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const { status, stderr } = spawnSync(
    "npm",
    ["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", ...packages],
    {
      cwd: folder,
      encoding: "utf8",
      timeout: 300_000,
    },
  );
  if (status === 0) writeFileSync(done, "");
  process.stdout.write(
    status === 0
      ? `${name}: installed\n`
      : `${name}: not to be had: ${(stderr ?? "").trim().split("\n")[0]}\n`,
  );
}
