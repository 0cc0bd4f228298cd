// The boxes need no privileges: they hold the same for root and for an ordinary user.

import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, copyFileSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import { makeRoom } from "./bench-repository.ts";
import { hasBoxes } from "./boxed.ts";

const repository = resolve(import.meta.dirname, "../..");
const nobody = 65_534;
const asNobody = [
  "setpriv",
  "--reuid",
  String(nobody),
  "--regid",
  String(nobody),
  "--clear-groups",
  "--",
];
const maySwitch =
  process.getuid?.() === 0 && spawnSync("setpriv", [...asNobody.slice(1), "true"]).status === 0;

/** The report's program as one file, with the egress's forwarder beside it. */
async function bundled(room: string): Promise<string> {
  const build = await rolldown({
    cwd: repository,
    input: { report: "test/workspace/isolation-report.ts" },
    platform: "node",
    logLevel: "silent",
  });
  await build.write({
    dir: room,
    format: "esm",
    entryFileNames: "[name].mjs",
    codeSplitting: false,
  });

  await build.close();
  copyFileSync(join(repository, "dist", "egress.cjs"), join(room, "egress.cjs"));
  return join(room, "report.mjs");
}

async function report(uid: number, before: readonly string[]): Promise<unknown> {
  const room = makeRoom();
  chmodSync(room, 0o755);
  const program = await bundled(room);
  const folder = join(room, "runs");
  mkdirSync(folder);
  if (before.length > 0) chownSync(folder, uid, uid);
  const [command, ...args] = [...before, process.execPath, program, folder];
  const env = { PATH: "/usr/bin:/bin:/usr/sbin:/sbin", HOME: folder };

  return JSON.parse(
    execFileSync(command ?? "", args, {
      env,
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }),
  );
}

const expected = (uid: number): object[] =>
  ["overlay", "bwrap"].map((level) => ({
    level,
    failures: [],
    code: 3,
    out: `${uid}\n`,
    before: level === "overlay" ? "old\n" : "new\n",
    after: ["new\n", "made\n", "journal\n"],
  }));

test.skipIf(!hasBoxes)(
  "both boxes hold for whoever runs these tests (needs bubblewrap and namespaces)",
  async () => {
    const uid = process.getuid?.() ?? 0;
    expect(await report(uid, [])).toEqual(expected(uid));
  },
);

test.skipIf(!hasBoxes || !maySwitch)(
  "both boxes hold for an ordinary user (needs root, to become one)",
  async () => {
    expect(await report(nobody, asNobody)).toEqual(expected(nobody));
  },
);
