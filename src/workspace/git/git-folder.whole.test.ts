import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { git, scratch, scratchFolder } from "../../../test/support/scratch-repository.ts";
import { git as runnersGit } from "./git.ts";
import { explainUnsafeGitFolder, explainUnsafeInclude } from "./git-folder.ts";
import { readIdentity } from "./identity.ts";
import { readCheckoutStatus } from "./checkout-status.ts";
import { findGitPlaces } from "./git-places.ts";
import { findRepository, openRepository } from "./repository.ts";

const refusedFor = async (root: string): Promise<string> => {
  const found = await openRepository(root);
  return "failure" in found ? `${found.failure.reason}: ${found.failure.detail}` : "opened";
};

/** A repository with a branch, a packed branch, a reflog and an index. */
function repository(): string {
  const root = scratch();
  git(root, "branch", "autopilot/old");
  git(root, "pack-refs");
  git(root, "branch", "autopilot/run");
  mkdirSync(join(root, ".git/info"), { recursive: true });
  writeFileSync(join(root, ".git/info/exclude"), "");

  return root;
}

function pipe(path: string): void {
  rmSync(path, { force: true, recursive: true });
  mkdirSync(dirname(path), { recursive: true });
  execFileSync("mkfifo", [path]);
}

describe("a git folder with a link in it", () => {
  test.each([
    "logs",
    "logs/HEAD",
    "logs/refs/heads",
    "logs/refs/heads/main",
    "refs",
    "refs/heads/autopilot",
    "refs/heads/main",
    "objects",
    "objects/info",
    "objects/pack",
    "index",
    "config",
    "packed-refs",
    "info/exclude",
    "HEAD",
  ])(
    "%s that leads out of it is refused before git is started, and nothing outside is written",
    async (name) => {
      const root = repository();
      const [there, outside] = [join(root, ".git", name), join(scratchFolder(), "outside")];
      renameSync(there, outside);
      symlinkSync(outside, there);
      expect(await refusedFor(root)).toMatch(
        new RegExp(`^workspace_unusable: \\.git/${name} is a link to .*outside\\. Git would`),
      );
    },
  );

  test("below a folder whose name isn't text is refused too", async () => {
    const root = repository();
    const folder = Buffer.concat([
      Buffer.from(join(root, ".git/refs/heads/")),
      Buffer.from([0xff]),
    ]);
    mkdirSync(folder);
    symlinkSync("/nonexistent", Buffer.concat([folder, Buffer.from("/x")]));
    expect(await refusedFor(root)).toContain("/x is a link to /nonexistent");
  });

  test("that appears after the repository was opened is found before the branch is moved", async () => {
    const root = repository();
    const lookup = await findRepository(root);
    if (!("repository" in lookup)) throw new Error(lookup.failure.detail);
    const shellFile = join(scratchFolder(), ".bashrc");
    writeFileSync(shellFile, "# mine\n");
    rmSync(join(root, ".git/logs/HEAD"));
    symlinkSync(shellFile, join(root, ".git/logs/HEAD"));
    const { head, gitDir } = lookup.repository;

    const moved = runnersGit({
      cwd: root,
      env: { GIT_DIR: gitDir, GIT_COMMITTER_NAME: "$(touch pwned)", GIT_COMMITTER_EMAIL: "a@x" },
      args: ["update-ref", "-m", "m", "HEAD", head.commit],
    });
    await expect(moved).rejects.toThrow(".git/logs/HEAD is a link");
    expect(readFileSync(shellFile, "utf8")).toBe("# mine\n");
  });

  test("as git makes it is none: a linked worktree, HEAD as a link to its branch, linked hooks, a socket", async () => {
    const root = repository();
    git(root, "worktree", "add", "-q", "../tree", "autopilot/run");
    rmSync(join(root, ".git/HEAD"));
    symlinkSync("refs/heads/main", join(root, ".git/HEAD"));
    rmSync(join(root, ".git/hooks"), { recursive: true, force: true });
    symlinkSync("/nonexistent", join(root, ".git/hooks"));
    const server = createServer().listen(join(root, ".git/monitor.ipc"));
    expect(await refusedFor(root)).toBe("opened");
    expect(await refusedFor(join(root, "../tree"))).toBe("opened");
    server.close();
  });
});

describe("a git folder of another checkout", () => {
  test.each(["a file", "a link"])("that %s in place of .git leads to is refused", async (kind) => {
    const [mine, theirs] = [repository(), scratchFolder()];
    if (kind === "a file") writeFileSync(join(theirs, ".git"), `gitdir: ${join(mine, ".git")}\n`);
    else symlinkSync(join(mine, ".git"), join(theirs, ".git"));

    expect(await refusedFor(theirs)).toContain(`leads to the git folder of ${mine}`);
  });

  test("whose branches are shared by a commondir that came along is refused", async () => {
    const [mine, theirs] = [repository(), repository()];
    writeFileSync(join(theirs, ".git/commondir"), join(mine, ".git"));
    expect(await refusedFor(theirs)).toContain("doesn't know it as a worktree of its own");
    const copy = join(scratchFolder(), "copy");
    git(mine, "worktree", "add", "-q", "../tree", "autopilot/run");
    cpSync(join(mine, "../tree"), copy, { recursive: true });
    expect(await refusedFor(copy)).toContain("doesn't know it as a worktree of its own");
  });

  test("is none where it is a submodule's or was put elsewhere by the user", async () => {
    const [outer, inner, apart] = [repository(), repository(), join(scratchFolder(), "apart")];
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "inner");
    expect(await refusedFor(join(outer, "inner"))).toBe("opened");
    git(
      dirname(apart),
      "clone",
      "-q",
      "--separate-git-dir",
      join(dirname(apart), "store"),
      inner,
      apart,
    );

    expect(await refusedFor(apart)).toBe("opened");
  });
});

describe("a pipe", () => {
  test.each([
    ".gitignore",
    ".gitattributes",
    ".gitmodules",
    ".git/config",
    ".git/config.worktree",
    ".git/HEAD",
    ".git/packed-refs",
    ".git/index",
    ".git/shallow",
    ".git/commondir",
    ".git/info/exclude",
    ".git/info/attributes",
    ".git/objects/info/alternates",
    ".git/objects/pack/pack-1.idx",
    ".git/refs/heads/main",
    ".git/logs/HEAD",
  ])("in place of %s is named, and git is not started", async (name) => {
    const root = repository();
    pipe(join(root, name));
    expect(await refusedFor(root)).toContain(
      `${name} is a pipe or a device, at which git would wait.`,
    );
  });

  test("in place of the object that HEAD names", async () => {
    const root = repository();
    const head = git(root, "rev-parse", "HEAD");
    const name = `.git/objects/${head.slice(0, 2)}/${head.slice(2)}`;
    pipe(join(root, name));
    expect(await refusedFor(root)).toContain(`${name} is a pipe`);
  });

  test.each([
    "[include]\n\tpath = %s\n",
    '[includeIf "gitdir:/**"] path = "%s"\n',
    "[INCLUDE] path=%s\n",
  ])("that the configuration includes is named: %s", async (line) => {
    const root = repository();
    pipe(join(root, "settings"));
    writeFileSync(join(root, "middle"), line.replace("%s", "settings"));
    writeFileSync(
      join(root, ".git/config"),
      `${readFileSync(join(root, ".git/config"), "utf8")}${line.replace("%s", "../middle")}`,
    );

    expect(await refusedFor(root)).toContain(
      `${join(root, "settings")}, which the repository's configuration includes, is a pipe`,
    );
  });

  test("among borrowed objects is named", () => {
    const [root, store] = [repository(), scratchFolder()];
    pipe(join(store, "pack/pack-1.idx"));
    writeFileSync(join(root, ".git/objects/info/alternates"), `${store}\n`);
    expect(
      explainUnsafeGitFolder(findGitPlaces(root) ?? { root, gitDir: "", commonDir: "" }),
    ).toContain("pack-1.idx is a pipe");
  });

  test.each([
    ["plain", (path: string) => path],
    [
      "quoted, with escapes",
      (path: string) =>
        `"${path.replace("\t", "\\t").replace("ä", "\\303\\244")}" and what git ignores`,
    ],
    ["with an octal tab", (path: string) => `"${path.replace("\t", "\\011")}"`],
  ])("among borrowed objects in a folder with a tab in its name is named: %s", (_, write) => {
    const [root, store] = [repository(), join(scratchFolder(), "a\tä")];
    pipe(join(store, "pack/pack-1.idx"));
    symlinkSync("loop", join(store, "loop"));
    writeFileSync(join(root, ".git/objects/info/alternates"), `# a comment\n${write(store)}\n`);
    expect(explainUnsafeGitFolder(findGitPlaces(root) ?? expect.unreachable())).toContain(
      "pack-1.idx is a pipe",
    );
  });

  test("is not to be found behind an include that can't be opened: git says so itself", () => {
    const folder = scratchFolder();
    symlinkSync("loop", join(folder, "loop"));
    expect(explainUnsafeInclude(join(folder, "loop"))).toBeNull();
  });

  test.each(["a/b/.gitignore", "a/b/.gitattributes", "nested/.git/HEAD"])(
    "deep in the checkout, %s, is named once git takes long, and that git is ended",
    async (name) => {
      const root = repository();
      mkdirSync(join(root, "nested/.git/objects"), { recursive: true });
      mkdirSync(join(root, "nested/.git/refs"), { recursive: true });
      writeFileSync(join(root, "nested/.git/HEAD"), "ref: refs/heads/main\n");
      pipe(join(root, name));
      writeFileSync(join(dirname(join(root, name)), "some.txt"), "x");
      const places = findGitPlaces(root) ?? expect.unreachable();
      const text = await readCheckoutStatus(places, () => false).then(
        () => "opened",
        (error: unknown) => String(error),
      );
      // An older git may not open it at all, and then there is nothing to wait for.
      if (text !== "opened") expect(text).toContain(`${name} is a pipe or a device`);
      if (name.endsWith(".gitignore")) expect(text).not.toBe("opened");
    },
    30_000,
  );
});

test("a text that git would read whole is refused where it is gigantic", async () => {
  const root = repository();
  writeFileSync(join(root, ".gitignore"), "");
  truncateSync(join(root, ".gitignore"), 3 * 2 ** 30);
  expect(await refusedFor(root)).toContain(".gitignore has 3221225472 bytes");
});

test("a name for commits that came with the repository holds no control characters", async () => {
  const root = repository();
  git(root, "config", "user.name", "A\u001b]0;x\u0007B\u202eC\u009b");
  git(root, "config", "user.email", "a\r@x");
  expect(await readIdentity(root)).toEqual({ name: "A ]0;x B C", email: "a @x" });
});
