// Isolation: what is said to be enforced is, and what cannot be had is refused, never passed over.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Isolation } from "../../src/workspace/isolation/confinement.ts";
import { chooseIsolation, inspectIsolations } from "../../src/workspace/isolation/isolation.ts";
import { baseEnvironment } from "./base-environment.ts";
import { attempt, openBench, type Bench } from "./bench-repository.ts";

const hasBwrap = (() => {
  try {
    execFileSync("bwrap", ["--ro-bind", "/", "/", "--unshare-pid", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

const placeOf = ({ root, runDir }: Bench): { hidden: string[]; runDir: string } => ({
  hidden: [root],
  runDir,
});

function run(isolation: Isolation, layer: string, script: string): string {
  const { argv, env, cwd } = isolation.wrap({
    argv: ["/bin/sh", "-c", script],
    cwd: layer,
    env: { ...baseEnvironment(process.env), GIT_DIR: "/evil" },
    writable: [layer],
    network: "off",
    writes: "directly",
  });
  const [program = "", ...args] = argv;
  return execFileSync(program, args, {
    env,
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
}

test.skipIf(!hasBwrap)(
  "inside bubblewrap only the layer can be written, and the checkout, the journal and the network are not there (needs bubblewrap)",
  async () => {
    const bench = await openBench();
    const layer = await bench.workspace.openLayer(attempt, []);
    writeFileSync(join(bench.runDir, "journal.jsonl"), "journal");
    const choice = await chooseIsolation("bwrap", placeOf(bench));
    if ("failure" in choice) throw new Error(choice.failure.detail);

    const said = run(
      choice.isolation,
      layer,
      `echo changed > src/a.ts && echo wrote
     cat '${bench.root}/README.md' && echo read-checkout
     cat '${bench.runDir}/journal.jsonl' && echo read-journal
     echo x > '${bench.root}/x' && echo wrote-checkout
     echo x > '${bench.runDir}/journal.jsonl' && echo wrote-journal
     echo x > /usr/autopilot-test && echo wrote-usr
     echo x > "$HOME/x" && echo wrote-home
     git log -1 --format=%s && git -C .. status && echo escaped
     ls /proc | grep -c '^[0-9]'; exit 0`,
    );
    expect(said.trim().split("\n").slice(0, 3)).toEqual(["wrote", "wrote-home", "start"]);
    expect(said).not.toMatch(/read-|wrote-(checkout|journal|usr)|escaped/);
    expect(readFileSync(join(layer, "src/a.ts"), "utf8")).toBe("changed\n");
    expect(readFileSync(join(bench.runDir, "journal.jsonl"), "utf8")).toBe("journal");
    expect(existsSync(join(bench.runDir, "home/x"))).toBe(true);
  },
);

test("without isolation the same writes do get out: the lists say so", async () => {
  const bench = await openBench();
  const layer = await bench.workspace.openLayer(attempt, []);

  for (const level of ["clone", "none"] as const) {
    const choice = await chooseIsolation(level, placeOf(bench));
    if ("failure" in choice) throw new Error(choice.failure.detail);
    run(choice.isolation, layer, `echo x > '${bench.root}/out-${level}'`);
    expect(existsSync(join(bench.root, `out-${level}`))).toBe(true);
    expect(choice.isolation.not_enforced.join()).toContain("writes outside the layer");
  }
});

test("a git in a check's folder never finds the user's repository above it", async () => {
  const bench = await openBench();
  const folder = await bench.workspace.checkout((await bench.workspace.tip()).commit, "check");
  const choice = await chooseIsolation("clone", placeOf(bench));
  if ("failure" in choice) throw new Error(choice.failure.detail);
  expect(run(choice.isolation, folder, "git rev-parse --show-toplevel").trim()).toBe(folder);
  const without = "rm -rf .git && { git rev-parse --show-toplevel || echo none; }";
  expect(run(choice.isolation, folder, without).trim()).toBe("none");
});

test("what cannot be had is refused with the reason; auto never falls back to clone", async () => {
  const bench = await openBench();
  const path = process.env["PATH"];
  const empty = join(bench.runDir, "empty");
  mkdirSync(empty);
  process.env["PATH"] = empty;

  try {
    for (const level of ["overlay", "bwrap"] as const) {
      expect(await chooseIsolation(level, placeOf(bench))).toMatchObject({
        failure: {
          reason: "isolation_unavailable",
          detail: expect.stringContaining("not installed") as string,
        },
      });
    }

    const choice = await chooseIsolation("auto", placeOf(bench));
    expect("isolation" in choice ? choice.isolation.level : "refused").not.toMatch(/clone|none/);
  } finally {
    process.env["PATH"] = path;
  }
});

test.skipIf(!hasBwrap)(
  "auto takes the strongest that holds here, and doctor is told of every level (needs bubblewrap)",
  async () => {
    const bench = await openBench();
    const choice = await chooseIsolation("auto", placeOf(bench));
    const found = await inspectIsolations(bench.runDir);
    expect(found.map(({ level }) => level).slice(0, 2)).toEqual(["overlay", "bwrap"]);
    expect("isolation" in choice && choice.isolation.level).toBe(
      found.find(({ isUsable }) => isUsable)?.level,
    );

    for (const { isUsable, fix } of found) expect(fix === "").toBe(isUsable);
  },
);

test("a bubblewrap that holds nothing fails its self-test", async () => {
  const bench = await openBench();
  const path = process.env["PATH"];
  const fake = join(bench.runDir, "fake");
  mkdirSync(fake);
  writeFileSync(
    join(fake, "bwrap"),
    '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n',
    { mode: 0o755 },
  );

  process.env["PATH"] = `${fake}:${path ?? ""}`;
  try {
    for (const level of ["overlay", "bwrap"] as const) {
      const choice = await chooseIsolation(level, placeOf(bench));
      expect(choice).toMatchObject({ failure: { reason: "isolation_unavailable" } });
      expect("failure" in choice && choice.failure.detail).toMatch(
        /forbidden write succeeded; a hidden file could be read/,
      );
    }
  } finally {
    process.env["PATH"] = path;
  }
});
