// A repository that came with its configuration, in an archive say: no program that its
// configuration names is run by anything the runner does with it. Plain git does run it, which
// proves that each trap is live.

import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findIgnoreRule } from "../../src/playbooks/contract/ignored-paths.ts";
import { findDependencyFolders } from "../../src/workspace/layers/copy-packages.ts";
import { git as runnersGit } from "../../src/workspace/git/git.ts";
import { isHarmlessCall } from "../../src/workspace/git/harmless-call.ts";
import type { BytePath } from "../../src/workspace/git/byte-path.ts";
import { findGitPlaces } from "../../src/workspace/git/git-places.ts";
import { openRepository } from "../../src/workspace/git/repository.ts";
import { parseAllowedSettings } from "../../src/workspace/git/user-view.ts";
import { aFew } from "../support/sampled.ts";
import {
  attempt,
  git,
  makeRepository,
  makeRoom,
  openBench,
  write,
  mergePasses,
} from "./bench-repository.ts";

type Trap = {
  readonly name: string;
  readonly set: (root: string, program: string) => void;
  readonly spring: (root: string) => void;
};

const config = (root: string, key: string, value: string): void =>
  void git(root, "config", key, value);
/** Looks at a file that seems changed, so that git has to read it. */
const status = (root: string): void => {
  write(root, "src/b.ts", "export const b = 2;\n");
  git(root, "status");
};
const checkout = (root: string): void => void git(root, "checkout", "-q", "HEAD~1");
const filter = (root: string, name: string, program: string): void => {
  write(root, ".git/info/attributes", "* filter=evil diff=evil merge=evil\n");
  config(root, name, program);
};

const traps: readonly Trap[] = [
  {
    name: "filter.clean",
    set: (root, program) => filter(root, "filter.evil.clean", program),
    spring: status,
  },
  {
    name: "filter.smudge",
    set: (root, program) => filter(root, "filter.evil.smudge", program),
    spring: checkout,
  },
  {
    name: "filter.process",
    set: (root, program) => filter(root, "filter.evil.process", program),
    spring: checkout,
  },
  {
    name: "core.fsmonitor",
    set: (root, program) => config(root, "core.fsmonitor", program),
    spring: status,
  },
  {
    name: "core.fsmonitor in an included file",
    set: (root, program) => (
      write(root, ".git/more", `[core]\n\tfsmonitor = ${program}\n`),
      config(root, "include.path", "more")
    ),
    spring: status,
  },
  {
    name: "core.fsmonitor of the worktree",
    set: (root, program) => (
      config(root, "core.repositoryformatversion", "1"),
      config(root, "extensions.worktreeConfig", "true"),
      write(root, ".git/config.worktree", `[core]\n\tfsmonitor = ${program}\n`)
    ),
    spring: status,
  },
  {
    name: "core.hooksPath",
    set: (root, program) => {
      for (const hook of [
        "post-checkout",
        "post-merge",
        "post-index-change",
        "reference-transaction",
        "pre-commit",
      ]) {
        write(root, `.git/evil/${hook}`, `#!/bin/sh\n${program}\n`, 0o755);
      }

      config(root, "core.hooksPath", join(root, ".git/evil"));
    },
    spring: checkout,
  },
  {
    name: "diff.external",
    set: (root, program) => config(root, "diff.external", program),
    spring: (root) => void git(root, "diff", "HEAD~1"),
  },
  {
    name: "diff.textconv",
    set: (root, program) => filter(root, "diff.evil.textconv", program),
    spring: (root) => void git(root, "diff", "HEAD~1"),
  },
  {
    name: "merge.driver",
    set: (root, program) => filter(root, "merge.evil.driver", program),
    spring: (root) => {
      git(root, "checkout", "-q", "-b", "aside", git(root, "rev-list", "--max-parents=0", "HEAD"));
      write(root, "src/b.ts", "export const b = 3;\n");
      git(root, "commit", "-qam", "aside");
      git(root, "merge", "-q", "main");
    },
  },
  {
    name: "gpg.program, with log.showSignature",
    set: (root, program) => (
      config(root, "gpg.program", program),
      config(root, "log.showSignature", "true")
    ),
    spring: (root) => void git(root, "log"),
  },
  {
    name: "a transport that fetches what is missing",
    set: (root, program) => {
      config(root, "core.repositoryformatversion", "1");
      config(root, "extensions.partialClone", "evil");
      config(root, "remote.evil.promisor", "true");
      write(root, ".git/once", `#!/bin/sh\n${program} </dev/null >/dev/null\n`, 0o755);
      config(root, "remote.evil.url", `ext::${join(root, ".git/once")}`);
      config(root, "protocol.ext.allow", "always");
    },
    spring: (root) => void git(root, "cat-file", "-p", "1234567890123456789012345678901234567890"),
  },
  {
    name: "an alias and an editor",
    set: (root, program) => (
      config(root, "alias.status", `!${program}`),
      config(root, "alias.evil", `!${program}`),
      config(root, "core.editor", program),
      config(root, "core.pager", program),
      config(root, "sequence.editor", program)
    ),
    spring: (root) => void git(root, "evil"),
  },
];

/** A repository with two commits, the second of which looks signed. */
function repository(): string {
  const root = makeRepository(join(makeRoom(), "repo"));
  write(root, "src/b.ts", "export const b = 22;\n");
  git(root, "commit", "-qam", "more");
  const signed = git(root, "cat-file", "commit", "HEAD").replace(
    /\n\n/,
    "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n",
  );
  write(root, ".git/signed", `${signed}\n`);
  git(root, "update-ref", "HEAD", git(root, "hash-object", "-w", "-t", "commit", ".git/signed"));

  return root;
}

aFew(5).each(traps)(
  "$name of a repository's own configuration springs for plain git, and for nothing that the runner does",
  async ({ set, spring }) => {
    const root = repository();
    const canary = join(makeRoom(), "canary");
    const program = join(makeRoom(), "program");
    writeFileSync(program, `#!/bin/sh\ntouch '${canary}'\ncat 2>/dev/null\n`);
    chmodSync(program, 0o755);
    set(root, program);
    write(root, "src/b.ts", "export const b = 22;\n"); // looks changed, and is not

    const { workspace } = await openBench({ root });
    await findDependencyFolders(
      findGitPlaces(root) ?? expect.unreachable(),
      ["node_modules" as BytePath],
      ["node_modules"],
    );

    await findIgnoreRule(root, ["src/a.ts"]);
    const layer = await workspace.openLayer(attempt, []);
    write(layer, "src/a.ts", "landed\n");
    await workspace.changesOf(attempt);
    await workspace.apply(attempt, "x");
    await workspace.inspect(attempt, null);
    const { commit } = await workspace.tip();
    await workspace.treeOf(await workspace.checkout(commit, "check"));
    await workspace.summary();
    write(root, "docs/guide.md", "the user's\n");
    git(
      root,
      "-c",
      "core.hooksPath=/dev/null",
      "-c",
      "core.fsmonitor=false",
      "-c",
      "filter.evil.clean=",
      "-c",
      "filter.evil.process=",
      "commit",
      "-qam",
      "meanwhile",
    );

    expect(await workspace.land("x", mergePasses)).toMatchObject({ landed: true, how: "merge" });
    expect(readFileSync(join(root, "src/a.ts"), "utf8")).toBe("landed\n");
    expect(existsSync(canary)).toBe(false);

    try {
      spring(root);
    } catch {
      // Some traps break the git that springs them.
    }

    expect(existsSync(canary), "the trap was live").toBe(true);
  },
);

test("a checkout that the configuration sets elsewhere is refused", async () => {
  const root = repository();
  const elsewhere = makeRoom();
  config(root, "core.worktree", elsewhere);
  expect(git(root, "rev-parse", "--show-toplevel")).toBe(elsewhere);
  const opened = await openRepository(root);
  expect("failure" in opened && opened.failure.detail).toContain("core.worktree");
});

test("a file that the configuration names as ignore rules is not copied to where the agent sees it", async () => {
  const root = repository();
  const secret = join(makeRoom(), "secret");
  writeFileSync(secret, "my-secret\n");
  config(root, "core.excludesFile", secret);
  const { runDir } = await openBench({ root });
  expect(readFileSync(join(runDir, "git/info/exclude"), "utf8")).not.toContain("my-secret");
});

test("what says how files lie on the disk is taken over, and nothing else", () => {
  const text = `[core]\n\trepositoryformatversion = 0\n\tautocrlf = true\n\tfsmonitor = evil\n\thooksPath = evil\n\teol = "lf\\n[core]"\n[filter "x"]\n\tclean = evil\n[core "x"]\n\tfilemode = true\n[Core]\n\tIgnoreCase=true\n[extensions]\n\tobjectFormat = sha256\n\tpartialClone = evil\n[alias]\n\tautocrlf = evil\n`;
  expect(parseAllowedSettings(text).filter((line) => !line.startsWith("["))).toEqual([
    "\trepositoryformatversion = 0",
    "\tautocrlf = true",
    "\tIgnoreCase = true",
    "\tobjectFormat = sha256",
  ]);
});

test("a program called git in the repository is not taken for git, whatever the PATH says", async () => {
  const root = repository();
  const canary = join(makeRoom(), "canary");
  write(root, "git", `#!/bin/sh\ntouch '${canary}'\n`, 0o755);
  const path = process.env["PATH"];
  process.env["PATH"] = `.:${path ?? ""}`;

  try {
    expect("repository" in (await openRepository(root))).toBe(true);
  } finally {
    process.env["PATH"] = path;
  }

  expect(existsSync(canary)).toBe(false);
});

test("a command that obeys a configuration does not start outside a git directory of the runner's own", async () => {
  for (const args of [
    ["status"],
    ["log"],
    ["merge", "x"],
    ["checkout", "x"],
    ["cat-file", "--filters", "x"],
    ["worktree", "add", "x"],
    ["diff-tree", "-p", "x"],
    ["fetch"],
  ]) {
    expect(isHarmlessCall({ args }), args.join(" ")).toBe(false);
  }

  for (const args of [
    ["rev-parse", "HEAD"],
    ["--literal-pathspecs", "rev-list", "x"],
    ["update-ref", "x", "y"],
    ["worktree", "list"],
  ]) {
    expect(isHarmlessCall({ args }), args.join(" ")).toBe(true);
  }

  await expect(runnersGit({ cwd: repository(), args: ["status"] })).rejects.toThrow(
    "the runner's own",
  );
});

test("git is started in one place only, but for its version and for the demo's own repository", () => {
  const sources = readdirSync(join(import.meta.dirname, "../../src"), {
    recursive: true,
    encoding: "utf8",
  }).filter((name) => /(?<!\.test|\.test-support)\.ts$/.test(name));
  const starting = sources.filter((name) =>
    /(?:spawn|spawnSync|execFile|execFileSync|run)\(\s*["'`]git["'`]/.test(
      readFileSync(join(import.meta.dirname, "../../src", name), "utf8"),
    ),
  );
  // The last one reads objects of the runner's own directory, with the arguments that git.ts makes
  // and judges.
  expect(starting.toSorted()).toEqual([
    "commands/demo/demo.ts",
    "commands/doctor.ts",
    "workspace/git/git.ts",
    "workspace/git/object-reader.ts",
  ]);
});
