// Every way of changing something the scope does not allow: nothing is applied, and nothing of the
// user's moves. Each has a twin inside the scope that does apply, where such a change may be
// applied at all.

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { WorkspaceFailed } from "../../src/workspace/failure.ts";
import { scratchFolder } from "../support/scratch-repository.ts";
import { once } from "../support/rewind.ts";
import { aFew } from "../support/sampled.ts";
import {
  attempt,
  fingerprint,
  git,
  makeRepository,
  openBench,
  pathsIn,
  runRef,
  write,
} from "./bench-repository.ts";

type Case = {
  readonly name: string;
  readonly outside: (layer: string) => void;
  readonly kinds: readonly string[];
  readonly inside?: (layer: string) => void;
};

const cases: readonly Case[] = [
  {
    name: "creates a file",
    outside: (l) => write(l, "docs/new.md", "x"),
    inside: (l) => write(l, "src/new.ts", "x"),
    kinds: ["outside_scope"],
  },
  {
    name: "edits a file",
    outside: (l) => write(l, "README.md", "x"),
    inside: (l) => write(l, "src/a.ts", "x"),
    kinds: ["outside_scope"],
  },
  {
    name: "deletes a file",
    outside: (l) => rmSync(join(l, "README.md")),
    inside: (l) => rmSync(join(l, "src/a.ts")),
    kinds: ["outside_scope"],
  },
  {
    name: "renames a file",
    outside: (l) => renameSync(join(l, "docs/guide.md"), join(l, "src/guide.md")),
    inside: (l) => renameSync(join(l, "src/a.ts"), join(l, "src/c.ts")),
    kinds: ["outside_scope"],
  },
  {
    name: "changes a mode",
    outside: (l) => chmodSync(join(l, "README.md"), 0o755),
    inside: (l) => chmodSync(join(l, "src/a.ts"), 0o755),
    kinds: ["outside_scope"],
  },
  {
    name: "commits in its own repository",
    outside: (l) => (
      write(l, "docs/c.md", "x"),
      git(l, "add", "-A"),
      git(l, "commit", "-q", "-m", "x")
    ),
    inside: (l) => (
      write(l, "src/c.ts", "x"),
      git(l, "add", "-A"),
      git(l, "commit", "-q", "-m", "x")
    ),
    kinds: ["outside_scope"],
  },
  {
    name: "turns a file into a folder",
    outside: (l) => (rmSync(join(l, "README.md")), write(l, "README.md/x", "x")),
    inside: (l) => (rmSync(join(l, "src/a.ts")), write(l, "src/a.ts/x", "x")),
    kinds: ["outside_scope", "outside_scope"],
  },
  {
    name: "rewrites the ignore rules to hide a file",
    outside: (l) => (write(l, ".gitignore", "docs/\n"), write(l, "docs/hidden.md", "x")),
    kinds: ["outside_scope", "outside_scope"],
  },
  {
    name: "links to a file outside",
    outside: (l) => symlinkSync("/etc/passwd", join(l, "src/link")),
    kinds: ["symlink"],
  },
  {
    name: "turns a file into a link",
    outside: (l) => (rmSync(join(l, "src/a.ts")), symlinkSync("b.ts", join(l, "src/a.ts"))),
    kinds: ["symlink"],
  },
  {
    name: "turns a folder into a link",
    outside: (l) => (
      renameSync(join(l, "src"), join(l, ".git/stash")),
      symlinkSync(".git/stash", join(l, "src"))
    ),
    kinds: ["outside_scope", "symlink"],
  },
  {
    name: "gives a file a second name",
    outside: (l) => (
      write(l, "src/one.ts", "x"),
      linkSync(join(l, "src/one.ts"), join(l, "src/two.ts"))
    ),
    kinds: ["hard_link", "hard_link"],
  },
  {
    name: "links an edited file to one outside the layer",
    outside: (l) => (
      rmSync(join(l, "src/a.ts")),
      writeFileSync(`${l}.outside`, "x"),
      linkSync(`${l}.outside`, join(l, "src/a.ts"))
    ),
    kinds: ["hard_link"],
  },
  {
    name: "makes a pipe",
    outside: (l) => void execFileSync("mkfifo", [join(l, "src/pipe")]),
    kinds: ["special_file"],
  },
  {
    name: "makes a repository inside",
    outside: (l) => (mkdirSync(join(l, "src/lib")), git(join(l, "src/lib"), "init", "-q")),
    kinds: ["nested_repository"],
  },
  {
    name: "points a folder at another repository",
    outside: (l) => write(l, "src/lib/.git", "gitdir: /elsewhere\n"),
    kinds: ["nested_repository"],
  },
  {
    name: "swaps its own .git for a pointer",
    outside: (l) => (
      rmSync(join(l, ".git"), { recursive: true }),
      write(l, ".git", "gitdir: /elsewhere\n")
    ),
    kinds: ["git_metadata"],
  },
  {
    name: "writes the files of a bare repository",
    outside: (l) => (
      write(l, "src/b/HEAD", "ref: refs/heads/main\n"),
      write(l, "src/b/config", "[core]\n\tfsmonitor = touch ran\n"),
      write(l, "src/b/objects/.keep", ""),
      write(l, "src/b/refs/.keep", "")
    ),
    kinds: ["nested_repository"],
  },
  {
    name: "writes a HEAD alone",
    outside: (l) => write(l, "src/b/HEAD", "ref:\trefs/x"),
    inside: (l) => write(l, "src/b/HEAD", "go ahead\n"),
    kinds: ["nested_repository"],
  },
  {
    name: "writes a long HEAD",
    outside: (l) => write(l, "src/b/HEAD", `ref: refs/x${" ".repeat(900)}`),
    kinds: ["nested_repository"],
  },
  {
    name: "writes a HEAD that is a commit's name",
    outside: (l) => write(l, "src/b/HEAD", "a".repeat(40)),
    kinds: ["nested_repository"],
  },
  {
    name: "writes a head by another case",
    outside: (l) => write(l, "src/b/Head", "ref: refs/x"),
    inside: (l) => write(l, "src/head/x", "ref: refs/x"),
    kinds: ["nested_repository"],
  },
  {
    name: "writes a HEAD with an invisible character",
    outside: (l) => write(l, "src/b/HE\u200cAD", "ref: refs/x"),
    kinds: ["nested_repository"],
  },
  {
    name: "writes a HEAD that ends in a dot",
    outside: (l) => write(l, "src/b/HEAD.", "ref: refs/x"),
    kinds: ["nested_repository"],
  },
  {
    name: "writes .git with a stream's name",
    outside: (l) => write(l, "src/.git::$INDEX_ALLOCATION/x", "x"),
    kinds: ["git_metadata"],
  },
  {
    name: "names a submodule that runs a program",
    outside: (l) =>
      write(
        l,
        ".gitmodules",
        '[submodule "x"]\n\tpath = src/x\n\turl = ext::sh -c x\n\tupdate = !x\n',
      ),
    inside: (l) => write(l, "src/.gitmodules.md", "x"),
    kinds: ["git_metadata", "outside_scope"],
  },
  {
    name: "writes .gitmodules by a short name",
    outside: (l) => write(l, "GITMOD~1", "x"),
    kinds: ["git_metadata", "outside_scope"],
  },
  {
    name: "writes .GIT",
    outside: (l) => write(l, "src/.GIT/config", "x"),
    kinds: ["git_metadata"],
  },
  {
    name: "writes git~1",
    outside: (l) => write(l, "src/git~1/config", "x"),
    kinds: ["git_metadata"],
  },
  {
    name: "writes .git with an invisible character",
    outside: (l) => write(l, "src/.g\u200cit/config", "x"),
    kinds: ["git_metadata"],
  },
  {
    name: "writes a name that differs by case",
    outside: (l) => write(l, "src/A.ts", "x"),
    kinds: ["case_collision"],
  },
  {
    name: "writes a folder that differs by case",
    outside: (l) => write(l, "src/../SRC/c.ts", "x"),
    kinds: ["case_collision", "outside_scope"],
  },
  {
    name: "writes into .autopilot, which git ignores",
    outside: (l) => write(l, ".autopilot/runs/x/journal.jsonl", "x"),
    kinds: ["runner_owned"],
  },
  {
    name: "writes a name that is no text",
    outside: (l) =>
      writeFileSync(Buffer.concat([Buffer.from(`${l}/src/`), Buffer.from([0xff, 0xfe])]), "x"),
    kinds: ["bad_path"],
  },
  {
    name: "writes a file above the limit",
    outside: (l) => write(l, "src/big.bin", "x".repeat(2000)),
    inside: (l) => write(l, "src/big.bin", "x".repeat(1000)),
    kinds: ["too_large"],
  },
];

const order = { scope: ["src/**"], ownedPaths: ["src/progress.md"], fileBytesMax: 1024 };

/** Nothing of these is applied, so that one repository does for all of them. */
const shared = once(() =>
  openBench({ ...order, root: makeRepository(join(scratchFolder(), "repo")) }),
);
let attempts = 0;

test.each(cases)(
  "an agent that $name outside what it may has nothing applied",
  async ({ outside, kinds }) => {
    const { root, workspace } = await shared();
    const attempt = `1@1/execute#${(attempts += 1)}`;
    const layer = await workspace.openLayer(attempt, []);
    write(layer, "src/innocent.ts", "x");
    outside(layer);
    const before = fingerprint(root);
    const tip = runRef(root);
    const { violations } = await workspace.changesOf(attempt);
    expect([...new Set(violations.map(({ kind }) => kind))].sort()).toEqual(
      [...new Set(kinds)].sort(),
    );

    await expect(workspace.apply(attempt, "x")).rejects.toThrow(WorkspaceFailed);
    await workspace.quarantine(attempt);
    expect(runRef(root)).toBe(tip);
    expect(fingerprint(root)).toBe(before);
  },
);

aFew(3).each(cases.filter(({ inside }) => inside !== undefined))(
  "an agent that $name inside the scope has it applied, and the checkout stays as it is",
  async ({ inside }) => {
    const { root, workspace } = await openBench(order);
    const layer = await workspace.openLayer(attempt, []);
    inside?.(layer);
    const before = fingerprint(root);
    const changes = await workspace.changesOf(attempt);
    expect(changes.violations).toEqual([]);
    const applied = await workspace.apply(attempt, "inside");
    if (applied === null || "conflict" in applied) throw new Error("expected a commit");
    expect(applied.paths).toEqual(changes.paths);
    expect(applied.tree).toBe(changes.tree);
    expect(runRef(root)).toBe(applied.commit);
    expect(fingerprint(root)).toBe(before);
  },
);

describe("a folder that is a repository only together with what was there", () => {
  const parts = {
    "src/b/HEAD": "ref: refs/heads/main\n",
    "src/b/config": "[core]\n\tbare = true\n",
    "src/b/objects/.keep": "",
    "src/b/refs/.keep": "",
  };
  const all = Object.entries(parts);

  test("is one to git: this is what is kept out", () => {
    const folder = scratchFolder("autopilot-bare-");
    for (const [path, text] of all) write(folder, path, text);
    expect(git(join(folder, "src/b"), "rev-parse", "--is-bare-repository")).toBe("true");
  });

  aFew(2).each(all.map(([last]) => last))("cannot be completed by %s", async (last) => {
    const { root } = await openBench(order);
    for (const [path, text] of all) if (path !== last) write(root, path, text);
    git(root, "add", "-A", "-f");
    git(root, "commit", "-q", "-m", "all but one");
    const { workspace } = await openBench({ ...order, root, runId: "run-2026-01-02-030406" });
    const layer = await workspace.openLayer(attempt, []);
    write(layer, last, parts[last as keyof typeof parts]);
    expect((await workspace.changesOf(attempt)).violations).toMatchObject([
      { path: last, kind: "nested_repository" },
    ]);
  });

  test("cannot be completed elsewhere, where its commondir leads", async () => {
    const { root } = await openBench(order);
    write(root, "src/b/HEAD", "ref: refs/heads/main\n");
    write(root, "src/b/commondir", "../c\n");
    git(root, "add", "-A", "-f");
    git(root, "commit", "-q", "-m", "a worktree's folder");
    const { workspace } = await openBench({ ...order, root, runId: "run-2026-01-02-030406" });
    const layer = await workspace.openLayer(attempt, []);
    for (const name of ["objects/.keep", "refs/.keep", "config"]) write(layer, `src/c/${name}`, "");
    expect(
      new Set((await workspace.changesOf(attempt)).violations.map(({ kind }) => kind)),
    ).toEqual(new Set(["nested_repository"]));
  });

  test("cannot be completed by a folder that git ignores, since no HEAD is let in", async () => {
    const { workspace } = await openBench(order);
    const layer = await workspace.openLayer(attempt, []);
    write(layer, "src/node_modules/HEAD", "ref: refs/heads/main\n");
    write(layer, "src/b/HEAD", "ref: refs/heads/main\n");
    write(layer, "src/b/node_modules/x", "");
    expect((await workspace.changesOf(attempt)).violations).toMatchObject([
      { path: "src/b/HEAD", kind: "nested_repository" },
    ]);
  });
});

test("what the base's rules ignore is neither applied nor held against the agent", async () => {
  const { root, workspace } = await openBench(order);
  const layer = await workspace.openLayer(attempt, []);
  write(layer, "src/a.ts", "changed\n");
  write(layer, "node_modules/x/index.js", "x");
  write(layer, "node_modules/y/.git", "gitdir: /elsewhere");
  write(layer, "debug.log", "x");
  write(layer, "src/:(top)odd.log", "x");
  const changes = await workspace.changesOf(attempt);
  expect(changes).toMatchObject({ paths: ["src/a.ts"], violations: [], ignored: 3 });
  const applied = await workspace.apply(attempt, "x");
  expect(applied).toMatchObject({ paths: ["src/a.ts"], notApplied: 3 });
  expect(pathsIn(root, runRef(root)).filter((path) => /modules|log$/.test(path))).toEqual([]);
});

test("a tracked file that the rules would ignore is still tracked", async () => {
  const { root, workspace } = await openBench();
  write(root, "kept.log", "1\n");
  git(root, "add", "-f", "kept.log");
  git(root, "commit", "-q", "-m", "a log");
  const again = await openBench({ root, runId: "run-2026-01-02-030406" });
  const layer = await again.workspace.openLayer(attempt, []);
  write(layer, "kept.log", "2\n");
  expect((await again.workspace.changesOf(attempt)).paths).toEqual(["kept.log"]);
  expect((await workspace.tip()).commit).not.toBe((await again.workspace.tip()).commit);
});

test("masked and runner-owned files are absent from the layer and its history, and not deletions", async () => {
  const { root, workspace } = await openBench({ scope: ["**"], ownedPaths: ["docs/**"] });
  const layer = await workspace.openLayer(attempt, ["src/b.ts"]);
  expect(git(layer, "ls-files").split("\n")).toEqual([".gitignore", "README.md", "src/a.ts"]);
  expect(git(layer, "status", "--porcelain")).toBe("");
  expect(git(layer, "rev-list", "--count", "--all")).toBe("1");
  const secret = git(root, "rev-parse", "HEAD:src/b.ts");
  expect(() => git(layer, "cat-file", "-p", secret)).toThrow(
    /Not a valid object|bad file|could not get/i,
  );

  write(layer, "src/a.ts", "x");
  expect(await workspace.changesOf(attempt)).toMatchObject({ paths: ["src/a.ts"], violations: [] });
  await workspace.apply(attempt, "x");
  expect(git(root, "ls-tree", "-r", "--name-only", runRef(root)).split("\n")).toContain("src/b.ts");
  write(layer, "src/b.ts", "guessed");
  expect((await workspace.changesOf(attempt)).violations).toMatchObject([
    { path: "src/b.ts", kind: "outside_scope" },
  ]);
});

test("what an agent writes where the runner shows itself is left out, and is not held against it", async () => {
  const { root, workspace } = await openBench(order);
  const layer = await workspace.openLayer(attempt, []);
  write(layer, "src/a.ts", "changed\n");
  write(layer, "src/progress.md", "all done\n");
  expect(await workspace.changesOf(attempt)).toMatchObject({
    paths: ["src/a.ts"],
    violations: [],
    ignored: 1,
  });

  expect(await workspace.apply(attempt, "x")).toMatchObject({ paths: ["src/a.ts"], notApplied: 1 });
  expect(pathsIn(root, runRef(root))).not.toContain("src/progress.md");
});

describe("a layer that keeps only some paths", () => {
  const keeps = ["reports/*.md", "!reports/draft.md"];
  const meddle = (layer: string): void => {
    write(layer, "src/a.ts", "tried something\n");
    rmSync(join(layer, "src/b.ts"));
    write(layer, "elsewhere/out-of-scope.txt", "x");
    symlinkSync("/etc/passwd", join(layer, "src/link"));
    execFileSync("mkfifo", [join(layer, "src/pipe")]);
    write(layer, "reports/draft.md", "x");
  };

  test("applies these; all else is left out, counted, and no violation", async () => {
    const { root, workspace } = await openBench({ ...order, scope: ["src/**", "reports/**"] });
    const layer = await workspace.openLayer(attempt, [], keeps);
    meddle(layer);
    write(layer, "reports/judge.md", "it holds\n");
    const tip = runRef(root);
    expect(await workspace.changesOf(attempt)).toMatchObject({
      paths: ["reports/judge.md"],
      violations: [],
      ignored: 5,
    });

    const applied = await workspace.apply(attempt, "x");
    expect(applied).toMatchObject({ parent: tip, paths: ["reports/judge.md"], notApplied: 5 });
    expect(git(root, "diff", "--name-only", tip, runRef(root))).toBe("reports/judge.md");
  });

  test("has changed nothing where nothing of these changed: nothing to apply, nothing to preview", async () => {
    const { root, workspace } = await openBench({ ...order, scope: ["src/**", "reports/**"] });
    meddle(await workspace.openLayer(attempt, [], keeps));
    expect(await workspace.changesOf(attempt)).toMatchObject({
      paths: [],
      violations: [],
      ignored: 5,
    });

    expect(await workspace.preview(attempt)).toBe(null);
    expect(await workspace.apply(attempt, "x")).toBe(null);
    expect(runRef(root)).toBe(git(root, "rev-parse", "HEAD"));
  });

  test("still has its scope for what it keeps", async () => {
    const { workspace } = await openBench(order);
    write(await workspace.openLayer(attempt, [], keeps), "reports/judge.md", "x");
    expect((await workspace.changesOf(attempt)).violations).toMatchObject([
      { path: "reports/judge.md", kind: "outside_scope" },
    ]);
  });

  test("is known again by a workspace that was opened anew, with all that lies in it", async () => {
    const bench = await openBench({ ...order, scope: ["src/**", "reports/**"] });
    const layer = await bench.workspace.openLayer(attempt, [], keeps);
    meddle(layer);
    write(layer, "reports/judge.md", "it holds\n");
    const { tree } = await bench.workspace.changesOf(attempt);
    const again = (await openBench({ ...order, scope: ["src/**", "reports/**"], root: bench.root }))
      .workspace;
    expect(await again.inspect(attempt, tree)).toEqual({ layer: "intact", commit: null });
    const seen = await again.preview(attempt);
    expect(git(bench.root, "diff", "--name-only", "HEAD", seen ?? "")).toBe("reports/judge.md");
    expect(await again.apply(attempt, "x")).toMatchObject({
      paths: ["reports/judge.md"],
      notApplied: 5,
    });

    expect(await again.apply(attempt, "x")).toMatchObject({
      paths: ["reports/judge.md"],
      notApplied: 5,
    });

    write(layer, "src/a.ts", "something else\n");
    expect((await again.inspect(attempt, tree)).layer).toBe("dirty");
  });
});

test("nothing changed is nothing to apply", async () => {
  const { root, workspace } = await openBench();
  await workspace.openLayer(attempt, []);
  expect(await workspace.changesOf(attempt)).toMatchObject({
    paths: [],
    violations: [],
    tree: git(root, "rev-parse", "HEAD^{tree}"),
  });

  expect(await workspace.apply(attempt, "x")).toBe(null);
});

test("odd names are applied byte for byte", async () => {
  const { root, workspace } = await openBench();
  const layer = await workspace.openLayer(attempt, []);

  const names = [
    "src/a b.ts",
    "src/ünïcödé.ts",
    "src/new\nline.ts",
    "src/-dash",
    "src/:(top)colon",
    'src/"quote"',
    "src/back\\slash",
    "src/*",
  ];
  for (const name of names) write(layer, name, `content of ${name}`);
  const applied = await workspace.apply(attempt, "odd\nnames");
  expect(applied !== null && "paths" in applied ? [...applied.paths].sort() : []).toEqual(
    [...names].sort(),
  );

  for (const name of names) {
    expect(git(root, "cat-file", "-p", `${runRef(root)}:${name}`)).toBe(`content of ${name}`);
  }
});
