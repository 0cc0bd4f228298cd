// The overlay: what an agent writes is kept apart from its layer; collecting brings exactly that
// in, whatever moment it is interrupted at.

import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findProgramOnPath } from "../../src/workspace/isolation/program-paths.ts";
import type { Isolation } from "../../src/workspace/isolation/confinement.ts";
import { mergeOverlay } from "../../src/workspace/isolation/overlay-collect.ts";
import {
  findOverlayFolder,
  overlaysFolder,
} from "../../src/workspace/isolation/overlay-folders.ts";
import { sampled } from "../support/sampled.ts";
import { attempt, makeRoom, openBench, type Bench } from "./bench-repository.ts";
import { commandOf, hasBoxes, openLevel, run } from "./boxed.ts";

const programs = {
  unshare: findProgramOnPath("unshare") ?? "unshare",
  mount: findProgramOnPath("mount") ?? "mount",
};

type Opened = { readonly bench: Bench; readonly layer: string; readonly isolation: Isolation };
async function open(): Promise<Opened> {
  const bench = await openBench();
  return {
    bench,
    layer: await bench.workspace.openLayer(attempt, []),
    isolation: await openLevel("overlay", bench),
  };
}

/** Every path of a tree with what is there, names byte by byte; a link is named, never followed. */
function treeOf(root: string): readonly string[] {
  const found: string[] = [];
  const at = (path: string): Buffer =>
    Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, "latin1")]);

  const visit = (folder: string): void => {
    const names = readdirSync(at(folder), { encoding: "buffer" }).map((name) =>
      name.toString("latin1"),
    );
    for (const name of names.filter((one) => one !== ".git")) {
      const path = join(folder, name);
      const stat = lstatSync(at(path));
      if (stat.isDirectory()) {
        found.push(`${path}/`);
      } else if (stat.isSymbolicLink()) {
        found.push(`${path} -> ${readlinkSync(at(path))}`);
      } else if (!stat.isFile()) {
        found.push(`${path} special`);
      } else {
        found.push(
          `${path} ${stat.nlink} ${(stat.mode & 0o777).toString(8)} ${readFileSync(at(path), "latin1")}`,
        );
      }

      if (stat.isDirectory()) visit(path);
    }
  };
  visit("");
  return found.sort();
}

/** All that can be done to a folder: each kind of change over each kind of thing. */
const actions = `
  echo changed > src/a.ts; rm src/b.ts; echo new > src/c.ts; chmod 755 src/c.ts
  mkdir -p deep/er/still; echo deep > deep/er/still/file
  rm -r docs; mkdir docs; echo other > docs/other.md
  rm README.md; mkdir README.md; echo now > README.md/folder
  rm -r folder; echo file > folder
  mv link-to-be was; ln -s /etc/passwd link-to-be
  rm -r old; mkdir -p old/sub; echo again > old/sub/new
  ln src/c.ts second-name; mkfifo pipe
  printf x > "$(printf 'odd\\377name')"; printf x > 'name with, comma:and colon'
  mkdir shut; echo kept > shut/inside; chmod 000 shut
  rm gone-link; echo real > gone-link`;

const whatTheyMake = [
  ".gitignore 1 644 node_modules/\n*.log\nbuild/\n",
  "README.md/",
  "README.md/folder 1 644 now\n",
  "deep/",
  "deep/er/",
  "deep/er/still/",
  "deep/er/still/file 1 644 deep\n",
  "docs/",
  "docs/other.md 1 644 other\n",
  "folder 1 644 file\n",
  "gone-link 1 644 real\n",
  "link-to-be -> /etc/passwd",
  "name with, comma:and colon 1 644 x",
  "odd\u00ffname 1 644 x",
  "old/",
  "old/sub/",
  "old/sub/new 1 644 again\n",
  "pipe special",
  "second-name 2 755 new\n",
  "shut/",
  "shut/inside 1 644 kept\n",
  "src/",
  "src/a.ts 1 644 changed\n",
  "src/c.ts 2 755 new\n",
  "was 1 644 plain\n",
].sort();

function furnish(layer: string): void {
  mkdirSync(join(layer, "folder"));
  writeFileSync(join(layer, "folder", "file"), "in the folder\n");
  writeFileSync(join(layer, "link-to-be"), "plain\n");
  mkdirSync(join(layer, "old", "sub"), { recursive: true });
  writeFileSync(join(layer, "old", "sub", "hidden"), "must go\n");
  writeFileSync(join(layer, "old", "gone"), "must go\n");
  symlinkSync("/etc", join(layer, "gone-link"));
}

describe.skipIf(!hasBoxes)("overlay (needs bubblewrap, namespaces and Linux 5.11)", () => {
  test("the layer stays as it was until it is collected; then it is what the agent saw, and collecting again changes nothing", async () => {
    const { bench, layer, isolation } = await open();
    furnish(layer);
    const before = treeOf(layer);

    const seen = run(
      isolation,
      layer,
      `${actions}\n chmod 755 shut; find . -path ./.git -prune -o -print | sort; chmod 000 shut`,
    );
    expect(seen.err).toBe("");
    expect(treeOf(layer)).toEqual(before);
    await isolation.collect(layer);
    const after = treeOf(layer);
    expect(after).toEqual(whatTheyMake);
    expect(readdirSync(overlaysFolder(bench.runDir))).toEqual([]);
    await isolation.collect(layer);
    expect(treeOf(layer)).toEqual(after);
  });

  test("interrupted before any of its changes, collecting again ends with the same layer", async () => {
    const { bench, layer, isolation } = await open();
    furnish(layer);
    expect(run(isolation, layer, actions).err).toBe("");
    const apart = findOverlayFolder(bench.runDir, layer) ?? "";
    let interruptions = 0;

    for (let at = 1; ; at += 1) {
      let left = at;
      const failpoint = (): void => {
        left -= 1;
        if (left === 0) throw new Error("killed here");
      };

      const outcome = await mergeOverlay({
        runDir: bench.runDir,
        folder: layer,
        programs,
        failpoint,
      }).then(
        () => "ended",
        (error: unknown) => (error instanceof Error ? error.message : ""),
      );
      if (outcome === "ended") break;
      expect(outcome).toBe("killed here"); // the fault fired
      expect(existsSync(join(apart, "upper"))).toBe(true); // and nothing was forgotten
      interruptions += 1;
    }

    expect(interruptions).toBeGreaterThan(20);
    expect(treeOf(layer)).toEqual(whatTheyMake);
  });

  test("every interruption from a fresh start ends with the same layer too", async () => {
    for (const at of sampled(2, [1, 3, 6, 10, 15, 21, 28])) {
      const { bench, layer, isolation: fresh } = await open();
      furnish(layer);
      run(fresh, layer, actions);
      let left = at;
      const failpoint = (): void => {
        if (--left === 0) throw new Error("killed here");
      };

      await expect(
        mergeOverlay({ runDir: bench.runDir, folder: layer, programs, failpoint }),
      ).rejects.toThrow("killed here");

      await fresh.collect(layer);
      expect(treeOf(layer)).toEqual(whatTheyMake);
    }
  });

  test("what a crash left apart is still what the next command sees, and what the next collect brings in", async () => {
    const { layer, isolation } = await open();
    run(isolation, layer, "echo first > one");
    expect(run(isolation, layer, "cat one; echo second > two").out).toBe("first\n");
    await isolation.collect(layer);
    expect([
      readFileSync(join(layer, "one"), "utf8"),
      readFileSync(join(layer, "two"), "utf8"),
    ]).toEqual(["first\n", "second\n"]);
  });

  test("what was kept apart for a layer that is gone never reaches a new one of the same name", async () => {
    const { bench, layer, isolation } = await open();
    run(isolation, layer, "echo old > from-before; rm README.md");
    const again = await bench.workspace.openLayer(attempt, []);
    expect(again).toBe(layer);
    expect(run(isolation, layer, "cat from-before; cat README.md").out).toBe("hello\n");
    await isolation.collect(layer);
    expect(existsSync(join(layer, "from-before"))).toBe(false);
    expect(readdirSync(overlaysFolder(bench.runDir))).toEqual([]);
  });

  test("links in the layer and in what was written are never followed: nothing outside changes", async () => {
    const { bench, layer, isolation } = await open();
    const outside = makeRoom();
    writeFileSync(join(outside, "kept"), "kept\n");
    symlinkSync(outside, join(layer, "way-out"));
    run(
      isolation,
      layer,
      `rm way-out; mkdir way-out; echo x > way-out/kept; ln -s '${outside}' src/out; mkdir -p more; ln -s '${outside}' more/out`,
    );

    await isolation.collect(layer);
    run(isolation, layer, "rm more/out; mkdir more/out; echo x > more/out/kept");
    await isolation.collect(layer);
    expect(readdirSync(outside)).toEqual(["kept"]);
    expect(readFileSync(join(outside, "kept"), "utf8")).toBe("kept\n");
    expect(readlinkSync(join(layer, "src/out"))).toBe(outside);
    expect(readFileSync(join(layer, "more/out/kept"), "utf8")).toBe("x\n");
    const { violations } = await bench.workspace.changesOf(attempt);
    expect(violations.map(({ path, kind }) => `${kind} ${path}`)).toEqual(["symlink src/out"]);
  });

  test("the judge sees links, second names, pipes and nested repositories that were brought in, and reports them", async () => {
    const { bench, layer, isolation } = await open();
    run(
      isolation,
      layer,
      "ln -s /etc src/link; ln src/a.ts src/second; mkfifo src/pipe; git init -q src/nested; echo fine > src/fine.ts",
    );

    await isolation.collect(layer);
    const { violations, paths } = await bench.workspace.changesOf(attempt);
    expect(violations.map(({ path, kind }) => `${kind} ${path}`)).toEqual(
      expect.arrayContaining([
        "symlink src/link",
        "hard_link src/second",
        "special_file src/pipe",
        expect.stringMatching(/^nested_repository src\/nested/),
      ]),
    );

    expect(paths).toContain("src/fine.ts");
  });

  test("a file with a second name outside, made before the agent came, is not written through", async () => {
    const { layer, isolation } = await open();
    const outside = join(makeRoom(), "store");
    writeFileSync(outside, "store\n");
    linkSync(outside, join(layer, "linked"));
    run(isolation, layer, "echo poisoned > linked");
    await isolation.collect(layer);
    expect(readFileSync(outside, "utf8")).toBe("store\n");
    expect(readFileSync(join(layer, "linked"), "utf8")).toBe("poisoned\n");
    expect(statSync(join(layer, "linked")).nlink).toBe(1);
  });

  test("folders nested far too deep are brought in so far that the judge refuses them", async () => {
    const { bench, layer, isolation } = await open();
    const dig =
      "let at = 0; while (at++ < 200) { require('node:fs').mkdirSync('d'); process.chdir('d'); } require('node:fs').writeFileSync('bottom', '');";
    const { code, err } = run(isolation, layer, "", { argv: [process.execPath, "-e", dig] });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    await isolation.collect(layer);
    const { violations } = await bench.workspace.changesOf(attempt);
    expect(violations.map(({ kind, path }) => `${kind} ${path.split("/").length}`)).toEqual([
      "symlink 129",
    ]);
  });

  test("a run that is reached through a link is collected like any other", async () => {
    const { bench, layer } = await open();
    const way = join(makeRoom(), "way");
    symlinkSync(bench.root, way);
    const through = (path: string): string => path.replace(bench.root, way);
    const isolation = await openLevel("overlay", { ...bench, runDir: through(bench.runDir) });
    run(isolation, through(layer), "echo x > made; rm src/a.ts");
    expect(existsSync(join(layer, "made"))).toBe(false);
    await isolation.collect(through(layer));
    expect([
      existsSync(join(layer, "made")),
      existsSync(join(layer, "src/a.ts")),
      existsSync(join(layer, "src/b.ts")),
    ]).toEqual([true, false, true]);
  });

  test("a command that writes directly writes directly, in the same box", async () => {
    const { layer, isolation } = await open();
    expect(
      run(isolation, layer, "echo x > direct; cat /etc/shadow", { writes: "directly" }).out,
    ).toBe("");

    expect(readFileSync(join(layer, "direct"), "utf8")).toBe("x\n");
    expect(
      isolation.wrap(commandOf(layer, "", { writes: "directly" })).argv.join(" "),
    ).not.toContain("lowerdir");
  });
});
