// Checkouts: folders that are views of a base. What they show, what is found in them, and that
// nothing written in one reaches the base.

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { openStore, type Store } from "../../src/workspace/bases/store.ts";
import { chooseCheckoutKind } from "../../src/workspace/checkouts/checkout-kind.ts";
import { readBorrowedObjects } from "../../src/workspace/layers/folder-records.ts";
import {
  attempt,
  type Bench,
  git,
  makeRepository,
  makeRoom,
  openBench,
  write,
} from "./bench-repository.ts";
import { hasBoxes, openLevel, run } from "./boxed.ts";
import { aFew } from "../support/sampled.ts";

const files = {
  "README.md": "hello\n",
  "src/a.ts": "a\n",
  "src/b.ts": "b\n",
  "src/deep/c.ts": "c\n",
  "docs/guide.md": "guide\n",
  "docs/more/one.md": "one\n",
  "docs/more/two.md": "two\n",
  "tools/run.sh": "#!/bin/sh\n",
  ".gitignore": "node_modules/\n*.log\n",
};

/** A run's workspace at a level, as the product opens it. */
async function openAt(level: "overlay" | "bwrap"): Promise<Bench & { readonly store: Store }> {
  const room = makeRoom();
  const kept = openStore(join(room, "store"));
  const root = makeRepository(join(room, "repo"), files);
  const checkouts = level === "overlay" ? "overlay" : "copy";

  return {
    ...(await openBench({ root, checkouts, sharesHistory: true, store: kept })),
    store: kept,
  };
}

const baseFiles = ({ folder }: Store): string => {
  const [base = ""] = readdirSync(join(folder, "bases"));
  return join(folder, "bases", base, "tree");
};
const allBytes = (folder: string): string =>
  execFileSync(
    "/bin/sh",
    [
      "-c",
      'find . -printf "%P %y %m %l\\n" | LC_ALL=C sort; find . -type f | LC_ALL=C sort | xargs -d "\\n" sha1sum',
    ],
    {
      cwd: folder,
      encoding: "utf8",
    },
  );

const vandal = [
  "echo bad >> README.md",
  ": > src/a.ts",
  "rm -rf docs",
  "chmod 777 src src/b.ts",
  "ln src/b.ts src/second && echo bad >> src/second",
  "mv src/deep src/other",
  "touch -d 2001-01-01 tools/run.sh",
  "mkdir -p new/dir && echo x > new/dir/x",
  "ln -sf /etc/passwd tools/link",
  "echo bad > src/deep/c.ts",
].join("; ");

/** What agents do to folders, each by itself; each must be found alike in a view and in a copy. */
const actions: Readonly<Record<string, string>> = {
  nothing: "true",
  "only reads and touches":
    "cat src/a.ts > /dev/null; touch src/a.ts; chmod 600 src/b.ts; chmod 644 src/b.ts",
  "edits, makes and deletes files":
    "echo x >> src/a.ts; rm src/b.ts; echo n > src/new.ts; mkdir -p p/q && echo n > p/q/r",
  "makes a file executable": "chmod +x src/a.ts",
  "deletes a folder": "rm -r docs",
  "makes a folder anew with one of its files":
    "rm -r docs && mkdir docs && echo guide > docs/guide.md",
  "makes a folder anew deep down":
    "rm -r docs/more && mkdir docs/more && echo three > docs/more/three.md",
  "puts a file in a folder's place": "rm -r docs && echo now > docs",
  "puts a folder in a file's place": "rm src/a.ts && mkdir src/a.ts && echo in > src/a.ts/in",
  "moves a file and a folder":
    "mv src/a.ts src/z.ts; mv src/deep src/moved || { cp -r src/deep src/moved && rm -r src/deep; }",
  "writes what is ignored":
    "mkdir -p node_modules/x && echo 1 > node_modules/x/1; echo l > a.log; mkdir -p src/node_modules && echo 2 > src/node_modules/2",
  "leaves a link, a second name and a pipe":
    "ln -s /etc/passwd src/link; ln src/a.ts src/name; mkfifo src/pipe",
  "makes a repository inside": "git init -q src/inner",
  "writes a name that differs in case alone":
    "echo x > SRC; echo y > src/A.ts; mkdir -p Docs && echo z > Docs/new.md",
  "writes a name that is no text": "printf x > src/$(printf '\\377')",
  "shuts folders":
    "mkdir shut && echo x > shut/x && chmod 0 shut; echo y > src/deep/y && chmod 0 src/deep",
  "goes to and fro":
    "rm src/a.ts; printf 'a\\n' > src/a.ts; echo t > src/t; rm src/t; mkdir d && rmdir d",
  "commits in its own repository":
    "echo c > src/c2.ts; git add -A; git commit -qm mine; git status --porcelain > src/status.txt; git log --oneline | wc -l > src/log.txt",
};

describe.skipIf(!hasBoxes)("a checkout that is a view (needs bubblewrap and namespaces)", () => {
  test("installed packages are copied once, shown to agents and checks, and fresh for each check", async () => {
    const room = makeRoom();
    const store = openStore(join(room, "store"));

    const root = makeRepository(join(room, "repo"), {
      ...files,
      "package-lock.json": "{}\n",
      "pkg/one/a.txt": "a\n",
    });

    for (const [path, text] of Object.entries({
      "node_modules/x/i.js": "x\n",
      "pkg/one/node_modules/y/i.js": "y\n",
    })) {
      write(root, path, text);
    }

    const bench = await openBench({ root, checkouts: "overlay", sharesHistory: true, store });
    const isolation = await openLevel("overlay", bench);
    const { commit } = await bench.workspace.tip();
    const shared = (): readonly string[] =>
      readdirSync(join(store.folder, "bases")).filter((name) => name.startsWith("packages-"));
    const show = "cat node_modules/x/i.js pkg/one/node_modules/y/i.js; ls node_modules";

    const layer = await bench.workspace.openLayer(attempt, []);
    const spoil =
      "echo bad > node_modules/x/i.js; mkdir node_modules/mine; rm -rf pkg/one/node_modules";
    expect(run(isolation, layer, `${show}; ${spoil}`)).toMatchObject({ code: 0, out: "x\ny\nx\n" });
    expect((await bench.workspace.changesOf(attempt)).paths).toEqual([]);

    for (let times = 0; times < 2; times += 1) {
      const folder = await bench.workspace.checkout(commit, "check");
      expect(
        run(isolation, folder, `${show}; echo bad > node_modules/x/i.js`, { writes: "directly" })
          .out,
      ).toBe("x\ny\nx\n");

      expect(await bench.workspace.dependenciesIn(folder)).not.toBeNull();
    }

    expect(shared()).toHaveLength(1);
    expect(readFileSync(join(root, "node_modules/x/i.js"), "utf8")).toBe("x\n");

    write(root, "node_modules/z/i.js", "z\n"); // another install
    const folder = await bench.workspace.checkout(commit, "check");
    expect(run(isolation, folder, "ls node_modules", { writes: "directly" }).out).toBe("x\nz\n");
    expect(shared()).toHaveLength(2);
  });

  test("packages that were patched in place are shown as they are to the next run", async () => {
    const room = makeRoom();
    const store = openStore(join(room, "store"));
    const root = makeRepository(join(room, "repo"), files);
    const deep = "node_modules/@scope/x/lib/deep/i.js";
    write(root, deep, "one\n");

    const shown = async (): Promise<string> => {
      const bench = await openBench({ root, checkouts: "overlay", sharesHistory: true, store });
      const folder = await bench.workspace.checkout((await bench.workspace.tip()).commit, "check");
      return run(await openLevel("overlay", bench), folder, `cat ${deep}`, { writes: "directly" })
        .out;
    };
    expect([await shown(), await shown()]).toEqual(["one\n", "one\n"]);
    const { atime, mtime } = statSync(join(root, deep));
    writeFileSync(join(root, deep), "two\n");
    utimesSync(join(root, deep), atime, mtime);
    expect(await shown()).toBe("two\n");
    const made = (): readonly number[] =>
      readdirSync(join(store.folder, "bases")).map(
        (name) => statSync(join(store.folder, "bases", name)).ino,
      );
    const before = made();
    expect([await shown(), made()]).toEqual(["two\n", before]);
  });

  test.each(["overlay", "copy"] as const)(
    "a package that is a folder of the project is there for checks: %s",
    async (checkouts) => {
      const room = makeRoom();
      const entry = (resolved: string) => ({ resolved, link: true });

      const packages = {
        "node_modules/units": entry("tools/units"),
        "node_modules/@own/x": entry("tools/x"),
        "node_modules/out": entry("../elsewhere"),
        "node_modules/../evil": entry("tools/x"),
        "node_modules/gone": entry("tools/gone"),
      };

      const root = makeRepository(join(room, "repo"), {
        ...files,
        "package-lock.json": JSON.stringify({ lockfileVersion: 3, packages }),
        "tools/units/i.js": "units\n",
        "tools/x/i.js": "x\n",
      });

      const store = checkouts === "overlay" ? { store: openStore(join(room, "store")) } : {};
      const bench = await openBench({ root, checkouts, ...store });
      const isolation = await openLevel(checkouts === "overlay" ? "overlay" : "bwrap", bench);
      const { commit } = await bench.workspace.tip();
      const folder = await bench.workspace.checkout(commit, "check");
      const tree = git(root, "rev-parse", `${commit}^{tree}`).trim();
      expect(await bench.workspace.treeOf(folder)).toBe(tree);
      const show =
        "cat node_modules/units/i.js node_modules/@own/x/i.js; find node_modules -type l | sort; ls";
      expect(run(isolation, folder, show, { writes: "directly" }).out).toBe(
        `units\nx\nnode_modules/@own/x\nnode_modules/units\n${run(isolation, folder, "ls", { writes: "directly" }).out}`,
      );

      expect(existsSync(join(root, "node_modules"))).toBe(false);

      write(root, "node_modules/far/i.js", "far\n"); // now something is installed, and a link that leads nowhere
      symlinkSync("../nowhere", join(root, "node_modules/units"));

      for (let times = 0; times < 2; times += 1) {
        const other = await (
          await openBench({ root, checkouts, ...store })
        ).workspace.checkout(commit, "check");
        expect(
          run(
            isolation,
            other,
            "cat node_modules/far/i.js node_modules/@own/x/i.js; ls node_modules",
          ).out,
        ).toContain("far\nx\n");
      }
    },
  );

  const damages: Readonly<Record<string, (base: string) => void>> = {
    "flips a byte and puts the time back": (base) => {
      const { atime, mtime } = statSync(join(base, "src/a.ts"));
      writeFileSync(join(base, "src/a.ts"), "b\n");
      utimesSync(join(base, "src/a.ts"), atime, mtime);
    },
    "removes a file": (base) => rmSync(join(base, "src/b.ts")),
    "adds a file": (base) => writeFileSync(join(base, "src/extra.ts"), "extra\n"),
    "adds an empty folder": (base) => mkdirSync(join(base, "src/empty")),
    "makes a file executable": (base) => chmodSync(join(base, "src/a.ts"), 0o755),
  };
  aFew(2).each(Object.entries(damages))(
    "what %s in a base is nobody's change, and proves nothing",
    async (_, damage) => {
      const bench = await openAt("overlay");
      const isolation = await openLevel("overlay", bench);
      const layer = await bench.workspace.openLayer(attempt, []);
      await bench.workspace.requireIntact();
      damage(baseFiles(bench.store));
      run(isolation, layer, "find src -exec touch {} +; echo n > src/new.ts");
      const { violations } = await bench.workspace.changesOf(attempt);
      expect(violations).toContainEqual(expect.objectContaining({ kind: "damaged_base" }));
      await expect(bench.workspace.apply(attempt, "work")).rejects.toThrow("damaged_base");

      const second = "1@1/execute#2"; // what was damaged is made anew, and the same work lands without the damage
      run(
        isolation,
        await bench.workspace.openLayer(second, []),
        "find src -exec touch {} +; echo n > src/new.ts",
      );

      expect(await bench.workspace.apply(second, "work")).toMatchObject({ paths: ["src/new.ts"] });
      const { commit } = await bench.workspace.tip();
      await bench.workspace.checkout(commit, "check");
      await bench.workspace.requireIntact();
      damage(baseFiles(bench.store));
      await expect(bench.workspace.requireIntact()).rejects.toThrow("changed files");
      await bench.workspace.checkout(commit, "check");
      await bench.workspace.requireIntact();
    },
  );

  test("another base in the place of a base is nobody's change, and proves nothing", async () => {
    const bench = await openAt("overlay");
    const isolation = await openLevel("overlay", bench);
    const layer = await bench.workspace.openLayer(attempt, []);
    await bench.workspace.requireIntact();

    const replace = (): void => {
      const base = dirname(baseFiles(bench.store)); // a copy that keeps modification times, as a restored backup would
      execFileSync("cp", ["-a", base, join(bench.store.folder, "copy")]);
      rmSync(base, { recursive: true });
      renameSync(join(bench.store.folder, "copy"), base);
    };
    replace();
    run(isolation, layer, "echo n > src/new.ts");
    const { violations } = await bench.workspace.changesOf(attempt);
    expect(violations).toContainEqual(expect.objectContaining({ kind: "damaged_base" }));

    const { commit } = await bench.workspace.tip();
    await bench.workspace.checkout(commit, "check");
    replace();
    await bench.workspace.checkout(commit, "check"); // it is opened anew, and what was checked before still doesn't count
    await expect(bench.workspace.requireIntact()).rejects.toThrow("changed files");
    await bench.workspace.checkout(commit, "check");
    await bench.workspace.requireIntact();
  });

  test("what is gone below an agent's work is made anew, and its work read back", async () => {
    const room = makeRoom();
    const store = openStore(join(room, "store"));
    const root = makeRepository(join(room, "repo"), files);
    write(root, "node_modules/x/i.js", "x\n");
    const bench = await openBench({ root, checkouts: "overlay", sharesHistory: true, store });
    const isolation = await openLevel("overlay", bench);
    const layer = await bench.workspace.openLayer(attempt, []);
    run(
      isolation,
      layer,
      "echo n > src/new.ts; echo more >> src/a.ts; rm -rf docs; mkdir docs; echo d > docs/d.md",
    );

    for (const kind of ["bases", "history"]) rmSync(join(store.folder, kind), { recursive: true });
    openStore(store.folder);
    const { paths, violations } = await bench.workspace.changesOf(attempt);
    expect([violations, paths.toSorted()]).toEqual([
      [],
      [
        "docs/d.md",
        "docs/guide.md",
        "docs/more/one.md",
        "docs/more/two.md",
        "src/a.ts",
        "src/new.ts",
      ],
    ]);

    const applied = await bench.workspace.apply(attempt, "work");
    expect(
      git(
        root,
        "show",
        `${applied !== null && "commit" in applied ? applied.commit : ""}:src/a.ts`,
      ),
    ).toContain("more");

    const folder = await bench.workspace.checkout((await bench.workspace.tip()).commit, "check");
    expect(
      run(isolation, folder, "cat src/b.ts node_modules/x/i.js", { writes: "directly" }).out,
    ).toBe("b\nx\n");

    await bench.workspace.requireIntact();
    await bench.workspace.openLayer("1@1/execute#2", []);
    expect(
      readBorrowedObjects(bench.runDir, "1@1/execute#2").every((path) => existsSync(path)),
    ).toBe(true);
  });

  test("work that lies over something that can't be made anew is discarded, and nothing is stuck", async () => {
    const bench = await openAt("overlay");
    const isolation = await openLevel("overlay", bench);
    run(isolation, await bench.workspace.openLayer(attempt, []), "echo n > src/new.ts");
    rmSync(join(bench.runDir, "worlds"), { recursive: true });
    const { violations } = await bench.workspace.changesOf(attempt);
    expect(violations).toEqual([
      expect.objectContaining({
        kind: "damaged_base",
        detail: expect.stringContaining("removed") as unknown,
      }),
    ]);

    await bench.workspace.quarantine(attempt);
    run(isolation, await bench.workspace.openLayer(attempt, []), "echo n > src/new.ts");
    expect((await bench.workspace.changesOf(attempt)).paths).toEqual(["src/new.ts"]);
  });

  test("what a check shows of a damaged base is still found when its result is to count", async () => {
    const bench = await openAt("overlay");
    const isolation = await openLevel("overlay", bench);
    const { commit } = await bench.workspace.tip();
    const folder = await bench.workspace.checkout(commit, "check");
    writeFileSync(join(baseFiles(bench.store), "src/a.ts"), "b\n");
    run(isolation, folder, "touch src/a.ts", { writes: "directly" });
    await bench.workspace.rewrittenIn(folder);
    await expect(bench.workspace.requireIntact()).rejects.toThrow("changed files");
  });

  test("shared packages and a shared history that something else changed are made anew", async () => {
    const room = makeRoom();
    const store = openStore(join(room, "store"));
    const root = makeRepository(join(room, "repo"), files);
    write(root, "node_modules/x/i.js", "x\n");
    const bench = await openBench({ root, checkouts: "overlay", sharesHistory: true, store });
    const isolation = await openLevel("overlay", bench);
    const { commit } = await bench.workspace.tip();
    await bench.workspace.checkout(commit, "check");
    const [shared = ""] = readdirSync(join(store.folder, "bases")).filter((name) =>
      name.startsWith("packages-"),
    );
    writeFileSync(join(store.folder, "bases", shared, "tree/node_modules/x/i.js"), "y\n");
    await expect(bench.workspace.requireIntact()).rejects.toThrow("changed files");
    const folder = await bench.workspace.checkout(commit, "check");
    expect(run(isolation, folder, "cat node_modules/x/i.js", { writes: "directly" }).out).toBe(
      "x\n",
    );

    await bench.workspace.openLayer(attempt, []);
    const packs = join(readBorrowedObjects(bench.runDir, attempt)[0] ?? "", "pack");
    for (const name of readdirSync(packs).filter((file) => file.endsWith(".pack"))) {
      chmodSync(join(packs, name), 0o644);
      writeFileSync(join(packs, name), "not a pack");
    }

    const later = await openBench({ root, checkouts: "overlay", sharesHistory: true, store });
    const layer = await later.workspace.openLayer(attempt, []);
    const readable = readBorrowedObjects(later.runDir, attempt);
    expect(
      run(await openLevel("overlay", later), layer, "git cat-file -p HEAD:README.md", { readable })
        .out,
    ).toBe("hello\n");
  });

  test("a copy that shares blocks with the base is written to without reaching it (needs a file system with reflinks)", async ({
    skip,
  }) => {
    const room = makeRoom();
    const store = openStore(join(room, "store"));
    if (chooseCheckoutKind("bwrap", room, store) !== "reflink") {
      return skip("this file system has no reflinks");
    }

    const root = makeRepository(join(room, "repo"), files);
    const bench = await openBench({ root, checkouts: "reflink", sharesHistory: true, store });
    const layer = await bench.workspace.openLayer(attempt, []);
    const before = allBytes(baseFiles(store));
    run(await openLevel("bwrap", bench), layer, vandal);
    expect((await bench.workspace.changesOf(attempt)).paths.length).toBeGreaterThan(5);
    expect(allBytes(baseFiles(store))).toBe(before);
  });

  test("at the level of copies nothing is shared: no file of a folder has a second name", async () => {
    const bench = await openAt("bwrap");
    const layer = await bench.workspace.openLayer(attempt, []);

    const names = execFileSync(
      "find",
      [layer, "-path", "*/.git", "-prune", "-o", "-type", "f", "-links", "+1", "-print"],
      {
        encoding: "utf8",
      },
    );
    expect(names).toBe("");
  });

  test("nothing that is written in it reaches the base, and the same actions change a folder that is none", async () => {
    const bench = await openAt("overlay");
    const layer = await bench.workspace.openLayer(attempt, []);
    const before = allBytes(baseFiles(bench.store));
    const isolation = await openLevel("overlay", bench);
    for (let times = 0; times < 2; times += 1) run(isolation, layer, vandal);
    expect((await bench.workspace.changesOf(attempt)).paths.length).toBeGreaterThan(5);
    expect(allBytes(baseFiles(bench.store))).toBe(before);
    const plain = execFileSync("mktemp", ["-d"], { encoding: "utf8" }).trim();
    execFileSync("cp", ["-a", `${baseFiles(bench.store)}/.`, plain]);
    execFileSync("/bin/sh", ["-c", `cd "$0" && { ${vandal}; } 2>/dev/null; true`, plain]);
    expect(allBytes(plain)).not.toBe(before);
    execFileSync("rm", ["-rf", plain]);
  });

  test("what a check writes does not reach the base either, and its world is gone when it is dropped", async () => {
    const bench = await openAt("overlay");
    const { commit } = await bench.workspace.tip();
    const folder = await bench.workspace.checkout(commit, "check");
    const before = allBytes(baseFiles(bench.store));
    const tree = await bench.workspace.treeOf(folder);
    expect(tree).toBe(git(bench.root, "rev-parse", "HEAD^{tree}"));
    run(await openLevel("overlay", bench), folder, vandal, { writes: "directly" });
    expect(await bench.workspace.treeOf(folder)).not.toBe(tree);
    expect(await bench.workspace.rewrittenIn(folder)).toContain("README.md");
    expect(allBytes(baseFiles(bench.store))).toBe(before);
    await bench.workspace.dropCheckout(folder);
    expect(readdirSync(join(bench.runDir, "checks"))).toEqual([]);
    expect(readdirSync(join(bench.runDir, "worlds"))).toEqual([]);
  });

  aFew(4).each(Object.entries(actions))(
    "an agent that %s is found to have done the same as in a copy",
    async (_, action) => {
      const looks = [];
      for (const level of ["overlay", "bwrap"] as const) {
        const bench = await openAt(level);
        const layer = await bench.workspace.openLayer(attempt, []);
        const isolation = await openLevel(level, bench);

        const env = {
          PATH: process.env["PATH"] ?? "",
          GIT_AUTHOR_DATE: "1700000000 +0000",
          GIT_COMMITTER_DATE: "1700000000 +0000",
        };

        run(isolation, layer, action, {
          readable: readBorrowedObjects(bench.runDir, attempt),
          env,
        });

        const { paths, violations, ignored, tree } = await bench.workspace.changesOf(attempt);
        const kinds = violations.map(({ path, kind }) => `${kind} ${path}`);
        looks.push({ paths, kinds, ignored, tree });
      }

      expect(looks[0]).toEqual(looks[1]);
    },
  );

  test("the next checkout shows what was committed, and what was deleted is not there", async () => {
    const bench = await openAt("overlay");
    const isolation = await openLevel("overlay", bench);
    const first = await bench.workspace.openLayer(attempt, []);
    run(
      isolation,
      first,
      "echo two > src/a.ts; rm -r docs; rm src/b.ts; mkdir src/b.ts; echo in > src/b.ts/in; rm -r tools; echo file > tools",
    );

    const applied = await bench.workspace.apply(attempt, "one");
    expect(applied !== null && "commit" in applied).toBe(true);
    const second = await bench.workspace.openLayer("1@1/execute#2", []);
    const borrowed = { readable: readBorrowedObjects(bench.runDir, "1@1/execute#2") };

    const reported = run(
      isolation,
      second,
      "cat src/a.ts src/b.ts/in tools; ls -A; git status --porcelain; git log --oneline | wc -l; git diff HEAD~1 --stat | tail -1",
      borrowed,
    );
    expect(reported.out.split("\n")).toEqual([
      "two",
      "in",
      "file",
      ".git",
      ".gitignore",
      "README.md",
      "src",
      "tools",
      "2",
      " 8 files changed, 3 insertions(+), 6 deletions(-)",
      "",
    ]);

    expect((await bench.workspace.changesOf("1@1/execute#2")).paths).toEqual([]);
  });

  test("a masked path is in neither the files nor the objects an agent can read", async () => {
    const bench = await openAt("overlay");
    const layer = await bench.workspace.openLayer(attempt, ["docs/**"]);
    const sha = git(bench.root, "rev-parse", "HEAD:docs/guide.md");
    const borrowed = { readable: readBorrowedObjects(bench.runDir, attempt) };
    const isolation = await openLevel("overlay", bench);
    const tried = `ls; git cat-file -e ${sha} && echo leaked; git cat-file -e $(git rev-parse HEAD:README.md) && echo readable; git log --oneline | wc -l`;
    expect(run(isolation, layer, tried, borrowed).out.split("\n")).toEqual([
      "README.md",
      "src",
      "tools",
      "readable",
      "1",
      "",
    ]);

    expect((await bench.workspace.changesOf(attempt)).violations).toEqual([]);
  });

  test.each(["overlay", "bwrap"] as const)(
    "what a check writes to and puts back is known at %s",
    async (level) => {
      const bench = await openAt(level);
      const folder = await bench.workspace.checkout((await bench.workspace.tip()).commit, "check");
      const tree = await bench.workspace.treeOf(folder);
      const swap =
        "cat src/a.ts > /dev/null; cp README.md /tmp/kept && echo other > README.md && cat /tmp/kept > README.md";
      run(await openLevel(level, bench), folder, swap, { writes: "directly" });
      expect(await bench.workspace.treeOf(folder)).toBe(tree);
      expect(await bench.workspace.touchedIn(folder)).toEqual(["README.md"]);
    },
  );

  test("a check sees the files it was given from another commit, new ones and none of those left out", async () => {
    const bench = await openAt("overlay");
    const { commit } = await bench.workspace.tip();

    const taken = {
      from: commit,
      paths: ["src/a.ts"],
      without: ["src/b.ts", "docs"],
      written: [{ path: "new/x.txt", text: "x\n" }],
    };
    const folder = await bench.workspace.checkout(commit, "check", taken);
    const reported = run(await openLevel("overlay", bench), folder, "ls; ls src; cat new/x.txt", {
      writes: "directly",
    });
    expect(reported.out).toBe("README.md\nnew\nsrc\ntools\na.ts\ndeep\nx\n");
    expect(await bench.workspace.rewrittenIn(folder)).toEqual([]);
  });

  test("history is copied: no path of the user's repository is in a layer or in what it borrows", async () => {
    const bench = await openAt("overlay");
    const layer = await bench.workspace.openLayer(attempt, []);
    const borrowed = readBorrowedObjects(bench.runDir, attempt);
    expect(borrowed.length).toBeGreaterThan(0);

    for (const place of [join(layer, ".git"), ...borrowed]) {
      const found = execFileSync(
        "/bin/sh",
        ["-c", 'grep -rlF "$0" . || true', join(bench.root, ".git")],
        { cwd: place, encoding: "utf8" },
      );
      expect(found).toBe("");
    }

    const tried = `for d in ${borrowed.join(" ")}; do echo bad > $d/pack/bad; done; ls ${borrowed[0] ?? ""}/pack | wc -l; git cat-file -e HEAD && echo there`;
    const reported = run(await openLevel("overlay", bench), layer, tried, { readable: borrowed });
    expect(reported.out.trim().split("\n")).toEqual(["2", "there"]);
    expect(readFileSync(join(layer, ".git", "objects", "info", "alternates"), "utf8")).toBe(
      borrowed.map((one) => `${one}\n`).join(""),
    );
  });

  test.each(["overlay", "bwrap"] as const)(
    "folders of a small tree can be renamed by git and by rename() at %s",
    async (level) => {
      const bench = await openAt(level);
      const layer = await bench.workspace.openLayer(attempt, []);
      const isolation = await openLevel(level, bench);
      expect((await bench.workspace.changesOf(attempt)).paths).toEqual([]);
      const moves =
        'git status --short && git mv src lib && perl -e \'rename("docs", "pages") or die $!\'';
      const readable = readBorrowedObjects(bench.runDir, attempt);
      const reported = run(isolation, layer, moves, { readable });
      expect(reported).toMatchObject({ code: 0, out: "" });
      await isolation.collect?.(layer);

      const { paths, violations } = await bench.workspace.changesOf(attempt);
      expect(violations).toEqual([]);
      const before = git(bench.root, "ls-files", "src", "docs").split("\n");
      const after = before.map((path) => path.replace(/^src/, "lib").replace(/^docs/, "pages"));
      expect([...paths].toSorted()).toEqual([...before, ...after].toSorted());
    },
  );

  test("making folders movable runs no program of the repository, wherever the PATH leads", async () => {
    const root = makeRepository(join(makeRoom(), "repo"));
    const mark = join(makeRoom(), "was-run");
    const programs = ["find", "head", "wc", "du", "cut", "mktemp", "cp", "rm", "mv", "rmdir"];
    for (const name of programs) {
      write(root, name, `#!/bin/sh\ntouch ${mark}\nexit 1\n`);
      chmodSync(join(root, name), 0o755);
    }
    git(root, "add", "-A");
    git(root, "commit", "-qm", "programs");
    const store = openStore(join(makeRoom(), "store"));
    const bench = await openBench({ root, checkouts: "overlay", sharesHistory: true, store });
    vi.stubEnv("PATH", `.:::bin:${process.env["PATH"]}`);
    try {
      const layer = await bench.workspace.openLayer(attempt, []);
      expect(existsSync(mark)).toBe(false);
      const moved = run(
        await openLevel("overlay", bench),
        layer,
        'perl -e \'rename("src", "lib") or die $!\'',
      );
      expect(moved.code).toBe(0); // so the script did its work
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
