// Repositories of every odd kind: each either works from layer to landing, or says in one sentence
// why it cannot.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openRepository } from "../../src/workspace/git/repository.ts";
import {
  attempt,
  fingerprint,
  git,
  makeRepository,
  makeRoom,
  openBench,
  write,
  mergePasses,
} from "./bench-repository.ts";
import { aFew } from "../support/sampled.ts";

/** A whole small run: change, apply, check out, land. */
async function wholeRun(root: string): Promise<void> {
  const { workspace, repository } = await openBench({ root });
  const layer = await workspace.openLayer(attempt, []);
  expect(git(layer, "status", "--porcelain")).toBe("");
  expect(await workspace.changesOf(attempt)).toMatchObject({
    paths: [],
    violations: [],
    tree: repository.head.tree,
  });

  write(layer, "src/a.ts", "changed\n");
  const before = fingerprint(repository.root);
  const applied = await workspace.apply(attempt, "x");
  expect(applied).toMatchObject({ paths: ["src/a.ts"] });
  const { commit, tree } = await workspace.tip();
  expect(await workspace.treeOf(await workspace.checkout(commit, "check"))).toBe(tree);

  if (existsSync(join(repository.root, ".git/objects"))) {
    expect(fingerprint(repository.root)).toBe(before);
  }

  expect(await workspace.land("x", mergePasses)).toMatchObject({
    landed: true,
    how: "fast_forward",
  });

  expect(readFileSync(join(repository.root, "src/a.ts"), "utf8")).toBe("changed\n");
}

const works: readonly { readonly name: string; readonly make: (room: string) => string }[] = [
  {
    name: "a path with spaces, umlauts and quotes",
    make: (room) => makeRepository(join(room, 'mein "Bäum" \\ $HOME')),
  },
  { name: "a path with a newline", make: (room) => makeRepository(join(room, "new\nline")) },
  {
    name: "SHA-256 objects",
    make: (room) => makeRepository(join(room, "repo"), undefined, "--object-format=sha256"),
  },
  {
    name: "a path through a link",
    make: (room) => {
      makeRepository(join(room, "real"));
      symlinkSync("real", join(room, "link"));
      return join(room, "link");
    },
  },
  {
    name: "a folder inside the checkout",
    make: (room) => join(makeRepository(join(room, "repo")), "src"),
  },
  {
    name: "a linked worktree",
    make: (room) => {
      git(
        makeRepository(join(room, "repo")),
        "worktree",
        "add",
        "-q",
        "-b",
        "side",
        join(room, "side"),
      );

      return join(room, "side");
    },
  },
  {
    name: "a repository inside a repository",
    make: (room) => makeRepository(join(makeRepository(join(room, "outer")), "inner")),
  },
  {
    name: "a submodule in the tree",
    make: (room) => {
      const root = makeRepository(join(room, "repo"));
      git(
        root,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        makeRepository(join(room, "library")),
        "lib",
      );

      git(root, "commit", "-q", "-m", "submodule");
      return root;
    },
  },
  {
    name: "a sparse checkout",
    make: (room) => {
      const root = makeRepository(join(room, "repo"));
      git(root, "sparse-checkout", "set", "src");
      return root;
    },
  },
  {
    name: "a shallow clone",
    make: (room) => {
      const root = makeRepository(join(room, "repo"));
      for (const name of ["1", "2", "3"]) git(root, "commit", "-q", "--allow-empty", "-m", name);
      git(room, "clone", "-q", "--depth=2", `file://${root}`, join(room, "shallow"));

      return join(room, "shallow");
    },
  },
  {
    name: "objects borrowed from another repository",
    make: (room) => {
      git(
        room,
        "clone",
        "-q",
        "--shared",
        makeRepository(join(room, "repo")),
        join(room, "borrower"),
      );

      return join(room, "borrower");
    },
  },
  {
    name: "tracked links and programs",
    make: (room) => {
      const root = makeRepository(join(room, "repo"));
      symlinkSync("src", join(root, "link"));
      symlinkSync("/nowhere", join(root, "dangling"));
      write(root, "run.sh", "#!/bin/sh\n", 0o755);
      git(root, "add", "-A");
      git(root, "commit", "-q", "-m", "links");

      return root;
    },
  },
  {
    name: "line endings and filters in its attributes",
    make: (room) =>
      makeRepository(join(room, "repo"), {
        "src/a.ts": "a\n",
        "crlf.txt": "one\r\ntwo\r\n",
        ".gitattributes": "*.bat eol=crlf\n*.id ident\n",
        "x.bat": "x\n",
        "y.id": "$Id$\n",
      }),
  },
];

aFew(5).each(works)("$name works from layer to landing", async ({ make }) => {
  await wholeRun(make(makeRoom()));
});

test.each([[], ["--sparse-index"]])(
  "landing into a sparse checkout leaves what lies outside its cone unwritten %s",
  async (...options) => {
    const root = makeRepository(join(makeRoom(), "repo"), {
      "in/a": "a\n",
      "out/b": "b\n",
      "out/c": "c\n",
      top: "t\n",
    });
    git(root, "sparse-checkout", "set", "--cone", ...options, "in");
    const { workspace } = await openBench({ root });
    const layer = await workspace.openLayer(attempt, []);

    for (const path of ["in/a", "in/new", "out/b", "out/new", "far/new", "top"]) {
      write(layer, path, "changed\n");
    }

    await workspace.apply(attempt, "x");
    expect(await workspace.land("x", mergePasses)).toMatchObject({ landed: true });
    expect(
      ["in/a", "in/new", "top", "out", "far"].map((path) => existsSync(join(root, path))),
    ).toEqual([true, true, true, false, false]);

    expect(git(root, "status", "--porcelain")).toBe("");
    expect(git(root, "ls-files", "-t", "out/b", "out/new", "far/new").split("\n")).toEqual([
      "S far/new",
      "S out/b",
      "S out/new",
    ]);
  },
);

test("the innermost repository is the one that counts", async () => {
  const room = makeRoom();
  const inner = makeRepository(join(makeRepository(join(room, "outer")), "inner"));
  expect(await openRepository(join(inner, "src"))).toMatchObject({
    repository: { root: inner, branch: "main", isDirty: false },
  });
});

test("submodules are named in a warning, kept, and never entered", async () => {
  const root = works.find(({ name }) => name.startsWith("a submodule"))?.make(makeRoom()) ?? "";
  const { workspace, repository } = await openBench({ root });
  expect(repository.warnings.join()).toContain("lib");
  const layer = await workspace.openLayer(attempt, []);
  write(layer, "lib/x", "x");
  expect((await workspace.changesOf(attempt)).violations).toMatchObject([
    { path: "lib", kind: "nested_repository" },
  ]);
});

test("content filters that the tree names are a warning: they do not run for the agent", async () => {
  const root = makeRepository(join(makeRoom(), "repo"));
  write(
    root,
    ".gitattributes",
    "# *.psd filter=none\n*.bin filter=lfs diff=lfs -text\n*.txt -filter\n",
  );

  write(root, "src/.gitattributes", "*.key filter=git-crypt\n");
  git(root, "add", "-A");
  git(root, "commit", "-q", "-m", "attributes");
  const found = await openRepository(root);
  expect("repository" in found && found.repository.warnings).toEqual([
    expect.stringContaining("Content filters (git-crypt, lfs) do not run"),
  ]);
});

test("uncommitted changes and a detached HEAD are warnings, and the run works from the commit", async () => {
  const root = makeRepository(join(makeRoom(), "repo"));
  git(root, "switch", "-q", "--detach");
  write(root, "src/a.ts", "uncommitted\n");
  const { workspace, repository } = await openBench({ root });
  expect(repository).toMatchObject({ branch: null, isDirty: true });
  expect(repository.warnings).toHaveLength(2);
  expect(readFileSync(join(await workspace.openLayer(attempt, []), "src/a.ts"), "utf8")).toBe(
    "export const a = 1;\n",
  );
});

const fails: readonly {
  readonly name: string;
  readonly reason: string;
  readonly make: (room: string) => string;
}[] = [
  { name: "no repository", reason: "not_a_repository", make: (room) => room },
  { name: "no such folder", reason: "workspace_unusable", make: (room) => join(room, "missing") },
  {
    name: "no commit yet",
    reason: "no_commits_yet",
    make: (room) => (git(room, "init", "-q"), room),
  },
  {
    name: "a bare repository",
    reason: "repository_bare",
    make: (room) => (git(room, "init", "-q", "--bare"), room),
  },
  {
    name: "the inside of .git",
    reason: "workspace_unusable",
    make: (room) => join(makeRepository(join(room, "repo")), ".git", "objects"),
  },
];

test.each(fails)("$name is refused with a reason", async ({ reason, make }) => {
  const opened = await openRepository(make(makeRoom()));
  expect(opened).toMatchObject({ failure: { reason } });
});

const mayMount = (() => {
  try {
    execFileSync("unshare", ["-m", "true"], { stdio: "ignore" });
    return process.getuid?.() === 0;
  } catch {
    return false;
  }
})();

test.skipIf(!mayMount)(
  "a read-only folder is refused with a reason (needs the right to mount)",
  async () => {
    const room = makeRoom();
    const root = makeRepository(join(room, "repo"));
    const view = join(room, "view");
    mkdirSync(view);
    execFileSync("mount", ["--bind", root, view]);

    try {
      execFileSync("mount", ["-o", "remount,ro,bind", view]);
      expect(await openRepository(view)).toMatchObject({
        failure: { reason: "workspace_unusable" },
      });
    } finally {
      execFileSync("umount", [view]);
    }
  },
);
