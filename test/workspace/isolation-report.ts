// isolation-report: a program that tries both boxes as whoever runs it, in its own folder, and
// prints what it found. For isolation-users.test.ts, which runs it as root and as an ordinary user.

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createBwrapIsolation } from "../../src/workspace/isolation/bwrap.ts";
import { createOverlayIsolation } from "../../src/workspace/isolation/overlay.ts";

const [folder = ""] = process.argv.slice(2);
const reports: object[] = [];
for (const make of [createOverlayIsolation, createBwrapIsolation]) {
  const runDir = join(folder, make.name);
  const layer = join(runDir, "layer");
  mkdirSync(join(runDir, "home"), { recursive: true });
  mkdirSync(layer);
  writeFileSync(join(layer, "file"), "old\n");
  writeFileSync(join(runDir, "journal"), "journal\n");
  const isolation = make({ hidden: [], runDir });
  const failures = await isolation.selfTest();
  const script = `id -u; echo new > file; echo made > made; cat '${runDir}/journal'; echo x > '${runDir}/journal'; cat /etc/shadow; echo x > /etc/x; unshare -U true; touch /x; exit 3`;

  const command = {
    argv: ["/bin/sh", "-c", script],
    cwd: layer,
    env: { PATH: "/usr/bin:/bin" },
    writable: [layer],
    network: "off",
    writes: "apart",
  } as const;

  const { argv, env, cwd } = isolation.wrap(command);
  const [program = "", ...args] = argv;
  const { status, stdout } = spawnSync(program, args, { env, cwd, encoding: "utf8" });
  const before = readFileSync(join(layer, "file"), "utf8");
  await isolation.collect(layer);
  const read = (path: string): string => readFileSync(join(runDir, path), "utf8");
  reports.push({
    level: isolation.level,
    failures,
    code: status,
    out: stdout,
    before,
    after: [read("layer/file"), read("layer/made"), read("journal")],
  });
}
process.stdout.write(JSON.stringify(reports));
