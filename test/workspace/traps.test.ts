// Git traps: an agent arranges its repository so that a git that trusts it runs a program. The
// runner's git never does; plain git does, which proves that the trap is live.

import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git, attempt, makeRoom, openBench, write, mergePasses } from "./bench-repository.ts";
import { until } from "../support/autopilot.ts";
import { aFew } from "../support/sampled.ts";

type Trap = {
  readonly name: string;
  readonly set: (layer: string, program: string) => void;
  readonly spring: (layer: string) => void;
};

const nested = (layer: string): string => {
  const folder = join(layer, "src/lib");
  mkdirSync(folder);
  git(folder, "init", "-q");
  write(folder, "x", "x");
  git(folder, "add", "-A");
  git(folder, "commit", "-q", "-m", "x");

  return folder;
};
/** Takes away the layer's own attributes, which would turn filters off. */
const disarmed = (layer: string): void => rmSync(join(layer, ".git/info/attributes"));
const status = (layer: string): void => void git(layer, "status");
const add = (layer: string): void => void git(layer, "add", "-A");

const traps: readonly Trap[] = [
  {
    name: "a file monitor",
    set: (layer, program) => void git(layer, "config", "core.fsmonitor", program),
    spring: status,
  },
  {
    name: "a clean filter",
    set: (layer, program) => (
      disarmed(layer),
      write(layer, ".gitattributes", "* filter=evil\n"),
      git(layer, "config", "filter.evil.clean", program),
      git(layer, "config", "filter.evil.smudge", program)
    ),
    spring: add,
  },
  {
    name: "a long-running filter",
    set: (layer, program) => (
      disarmed(layer),
      write(layer, ".gitattributes", "* filter=evil\n"),
      git(layer, "config", "filter.evil.process", program),
      git(layer, "config", "filter.evil.required", "true")
    ),
    spring: add,
  },
  {
    name: "a diff driver",
    set: (layer, program) => (
      write(layer, ".gitattributes", "* diff=evil\n"),
      git(layer, "config", "diff.evil.command", program)
    ),
    spring: (layer) => void git(layer, "diff"),
  },
  {
    name: "a commit hook",
    set: (layer, program) => {
      mkdirSync(join(layer, ".git/hooks"), { recursive: true });
      for (const hook of [
        "pre-commit",
        "reference-transaction",
        "post-checkout",
        "post-merge",
        "post-index-change",
      ]) {
        write(layer, `.git/hooks/${hook}`, `#!/bin/sh\n${program}\n`, 0o755);
      }
    },
    spring: (layer) => void git(layer, "commit", "-qam", "x"),
  },
  {
    name: "a nested repository with a file monitor",
    set: (layer, program) => void git(nested(layer), "config", "core.fsmonitor", program),
    spring: (layer) => (
      git(layer, "-c", "advice.addEmbeddedRepo=false", "add", "-A"),
      status(layer)
    ),
  },
  {
    name: "a .git pointer to a repository elsewhere",
    set: (layer, program) => {
      const other = join(layer, "..", "other");
      git(join(layer, ".."), "init", "-q", other);
      git(other, "config", "core.fsmonitor", program);
      rmSync(join(layer, ".git"), { recursive: true });
      writeFileSync(join(layer, ".git"), `gitdir: ${other}/.git\n`);
    },
    spring: status,
  },
  {
    name: "a work tree set elsewhere",
    set: (layer, program) => (
      git(layer, "config", "core.worktree", layer),
      git(layer, "config", "core.fsmonitor", program)
    ),
    spring: status,
  },
  {
    name: "an included config file",
    set: (layer, program) => (
      write(layer, "src/config", `[core]\n\tfsmonitor = ${program}\n`),
      git(layer, "config", "include.path", "../src/config")
    ),
    spring: status,
  },
];

aFew(3).each(traps)(
  "$name springs for plain git and never for the runner",
  async ({ set, spring }) => {
    const { root, workspace, runDir } = await openBench();
    const canary = join(makeRoom(), "canary");
    const program = join(makeRoom(), "program");
    writeFileSync(program, `#!/bin/sh\ntouch '${canary}'\ncat 2>/dev/null\n`);
    chmodSync(program, 0o755);
    const layer = await workspace.openLayer(attempt, []);
    set(layer, program);
    write(layer, "src/a.ts", "changed\n");

    await workspace.changesOf(attempt);
    await workspace.apply(attempt, "x").catch(() => undefined);
    await workspace.inspect(attempt, null);
    const { commit } = await workspace.tip();
    await workspace.treeOf(await workspace.checkout(commit, "check"));
    await workspace.summary();
    await workspace.land("x", mergePasses);
    await workspace.openLayer("1@1/execute#2", []);
    await workspace.openLayer(attempt, []);
    expect(existsSync(canary)).toBe(false);

    // The trap is set again, since the layer was made again, and sprung by plain git: it was live.
    set(layer, program);
    write(layer, "src/b.ts", "changed\n");

    try {
      spring(layer);
    } catch {
      // Some traps break the git that springs them.
    }

    expect(existsSync(canary)).toBe(true);
    rmSync(canary);
    await workspace.quarantine(attempt);
    expect(existsSync(canary)).toBe(false);
    expect([root, runDir].every((path) => existsSync(path))).toBe(true);
  },
);

test("a folder swapped for a link, over and over, never leaks what lies outside", async () => {
  const { root, workspace } = await openBench();
  const layer = await workspace.openLayer(attempt, []);
  const outside = makeRoom();
  for (const name of ["a.ts", "b.ts", "c.ts"]) writeFileSync(join(outside, name), "SECRET");

  const program = `
    const fs = require("node:fs");
    const [layer, outside, count] = process.argv.slice(1);
    let swaps = 0;
    process.on("SIGTERM", () => { fs.writeFileSync(count, String(swaps)); process.exit(0); });
    const swap = () => {
      for (let i = 0; i < 200; i++) {
        try { fs.renameSync(layer + "/src", layer + "/.git/real"); fs.symlinkSync(outside, layer + "/src"); swaps++; } catch {}
        try { fs.unlinkSync(layer + "/src"); } catch {}
        try { fs.renameSync(layer + "/.git/real", layer + "/src"); } catch {}
      }
      setImmediate(swap);
    };
    swap();
    fs.writeFileSync(count, String(swaps));`;

  const count = join(outside, "count");
  const swapper = spawn(process.execPath, ["-e", program, layer, outside, count], {
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => swapper.on("exit", resolve));
  await until("the first swaps", () => existsSync(count));
  const ordinals = { looks: 0, refused: 0, applied: 0 };

  for (let ordinal = 1; ordinal <= 40; ordinal += 1) {
    await workspace.changesOf(attempt).then(
      () => (ordinals.looks += 1),
      () => (ordinals.refused += 1),
    );

    const applied =
      ordinal % 4 === 0 ? await workspace.apply(attempt, "x").catch(() => null) : null;
    if (applied !== null) ordinals.applied += 1;
  }

  swapper.kill("SIGTERM");
  await ended;
  expect(Number(readFileSync(count, "utf8"))).toBeGreaterThan(0);
  const objects = git(root, "rev-list", "--all", "--objects")
    .split("\n")
    .filter((line) => line.includes(" "))
    .map((line) => line.split(" ")[0] ?? "");
  for (const object of objects) {
    if (git(root, "cat-file", "-t", object) === "blob") {
      expect(git(root, "cat-file", "-p", object)).not.toContain("SECRET");
    }
  }

  expect(ordinals.looks).toBeGreaterThan(0);
});
