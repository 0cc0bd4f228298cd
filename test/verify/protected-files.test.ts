// Oracles in real commits: what is found, and the checkout in which a verdict is taken.

import { existsSync, lstatSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Check } from "../../src/contracts/evidence.ts";
import { openVerifier } from "../../src/verify/verifier.ts";
import { buildOverrides, listOverriddenPaths } from "../../src/verify/protected/base-overrides.ts";
import { git, makeRepository, makeRoom, openBench, write } from "../workspace/bench-repository.ts";

type Files = Readonly<Record<string, string | null>>;
const clock = {
  now: () => "2026-01-01T00:00:00.000Z",
  monotonicMs: () => 0,
  after: () => () => undefined,
};
const criterion = (command: string): Check => ({
  id: command,
  kind: "criterion",
  title: command,
  command,
  source: "test",
});

/** A repository with two commits, and a verifier over it. */
async function between(
  before: Files,
  after: Files | ((root: string) => void),
  more: { protect?: string[]; restores?: Check[] } = {},
) {
  const root = makeRepository(
    join(makeRoom(), "repo"),
    Object.fromEntries(Object.entries(before).map(([path, text]) => [path, text ?? ""])),
  );
  const base = git(root, "rev-parse", "HEAD");

  if (typeof after === "function") {
    after(root);
  } else {
    for (const [path, text] of Object.entries(after)) {
      if (text === null) git(root, "rm", "-q", "--", path);
      else write(root, path, text);
    }
  }

  git(root, "add", "-A");
  git(root, "commit", "-q", "-m", "agent");
  const commit = git(root, "rev-parse", "HEAD");
  const { workspace } = await openBench({ root });

  const verifier = openVerifier({
    workspace,
    putBlob: async () => "0".repeat(64),
    isolation: "none",
    product: "p",
    timeoutMs: 1000,
    clock,
    ...more,
  });
  const look = (checks: Check[] = []) =>
    verifier.inspectProtected({ base, commit, scope: ["**"], approved: [], checks });

  const parts = {
    workspace,
    protect: more.protect ?? [],
    restores: (more.restores ?? []).length > 0,
  };

  const undone = async (): Promise<{ folder: string; oracles: readonly string[] }> => {
    const taken = await buildOverrides(parts, {
      base,
      commit,
      changes: (await look()).changes,
      commands: [],
    });

    return {
      folder: await workspace.checkout(commit, "check", taken),
      oracles: listOverriddenPaths(taken),
    };
  };

  const read = (folder: string, path: string): string | null =>
    existsSync(join(folder, path)) ? readFileSync(join(folder, path), "utf8") : null;
  return { look, undone, read, workspace, base, commit, root };
}

const manifest = (value: object): string => JSON.stringify({ name: "x", ...value });

test("the verdict's checkout holds the agent's code and the base's judges; what is new and would rule is left out", async () => {
  const { look, undone, read } = await between(
    { "src/a.js": "old", "test/a.test.js": "judge", "test/gone.test.js": "judge 2" },
    {
      "src/a.js": "new",
      "test/a.test.js": "bribed",
      "test/gone.test.js": null,
      "test/new.test.js": "more",
      "jest.config.js": "x",
    },
  );
  expect((await look()).changes.map(({ path, how }) => [path, how])).toEqual([
    ["jest.config.js", "added"],
    ["test/a.test.js", "changed"],
    ["test/gone.test.js", "deleted"],
  ]);

  const { folder, oracles } = await undone();
  expect(
    ["src/a.js", "test/a.test.js", "test/gone.test.js", "test/new.test.js", "jest.config.js"].map(
      (path) => read(folder, path),
    ),
  ).toEqual(["new", "judge", "judge 2", "more", null]);

  expect(oracles).toEqual(["jest.config.js", "test/a.test.js", "test/gone.test.js"]);
});

test("package.json keeps the agent's dependencies under the base's scripts", async () => {
  const { undone, read } = await between(
    {
      "package.json": manifest({
        scripts: { test: "real", start: "a" },
        jest: { a: 1 },
        dependencies: { x: "1" },
      }),
    },
    {
      "package.json": manifest({
        scripts: { test: "true", start: "b", pretest: "trick", docs: "d" },
        jest: { a: 2 },
        dependencies: { x: "2", y: "1" },
      }),
    },
  );

  const { folder } = await undone();
  expect(JSON.parse(read(folder, "package.json") ?? "")).toEqual({
    name: "x",
    scripts: { test: "real", start: "b", docs: "d" },
    jest: { a: 1 },
    dependencies: { x: "2", y: "1" },
  });
});

test("where the lock file is the base's, so are the dependencies", async () => {
  const restores = [{ ...criterion("npm ci"), kind: "restore" as const }];
  const { look, undone, read } = await between(
    { "package.json": manifest({ dependencies: { x: "1" } }), "package-lock.json": "1" },
    {
      "package.json": manifest({ main: "m.js", dependencies: { x: "2" } }),
      "package-lock.json": "2",
    },
    { restores },
  );
  expect((await look()).changes).toMatchObject([{ path: "package-lock.json", how: "changed" }]);
  const { folder, oracles } = await undone();
  expect([
    read(folder, "package-lock.json"),
    JSON.parse(read(folder, "package.json") ?? ""),
  ]).toEqual(["1", { name: "x", main: "m.js", dependencies: { x: "1" } }]);

  expect(oracles).toEqual(["package-lock.json", "package.json"]);
});

test("Rust's tests beside the code come back, the code stays the agent's", async () => {
  const source = (body: string, assertion: string): string =>
    `pub fn f() -> i32 { ${body} }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() { ${assertion} }\n}\n`;
  const { look, undone, read } = await between(
    { "src/lib.rs": source("1", "assert_eq!(super::f(), 2);") },
    { "src/lib.rs": source("3", "") },
  );
  expect((await look()).changes).toMatchObject([{ path: "src/lib.rs", how: "weakened" }]);
  expect(read((await undone()).folder, "src/lib.rs")).toBe(
    source("3", "assert_eq!(super::f(), 2);"),
  );
});

test("a test that was moved comes back to its place, and its double is left out", async () => {
  const { look, undone, read } = await between(
    { "pkg/a_test.go": "judge" },
    { "pkg/a_test.go": null, "attic/a_test.go": "judge, bribed" },
  );
  expect((await look()).changes).toMatchObject([
    { path: "pkg/a_test.go", how: "renamed", detail: "It was moved to attic/a_test.go." },
  ]);

  const { folder } = await undone();
  expect([read(folder, "pkg/a_test.go"), read(folder, "attic/a_test.go")]).toEqual(["judge", null]);
});

test("a link, a folder in a test's place, a test's folder made a file, bytes and a giant are found and undone", async () => {
  const giant = "x".repeat(600_000);
  const { look, undone, read } = await between(
    {
      "test/link.js": "judge 1",
      "test/folder.js": "judge 2",
      "e2e/deep/a.js": "judge 3",
      "test/bytes.bin": "judge\u00004",
      "test/giant.js": giant,
      "src/a.js": "a",
    },
    (root) => {
      git(root, "rm", "-q", "-r", "test/link.js", "test/folder.js", "e2e");
      symlinkSync("../src/a.js", join(root, "test/link.js"));
      write(root, "test/folder.js/inner.js", "x");
      write(root, "e2e", "a file now");
      write(root, "test/bytes.bin", "bribed\u0000");
      write(root, "test/giant.js", `${giant}y`);
    },
  );
  expect((await look()).changes.map(({ path, how }) => [path, how])).toEqual([
    ["e2e/deep/a.js", "deleted"],
    ["test/bytes.bin", "changed"],
    ["test/folder.js", "deleted"],
    ["test/giant.js", "changed"],
    ["test/link.js", "changed"],
  ]);

  const { folder } = await undone();
  expect(
    ["test/link.js", "test/folder.js", "e2e/deep/a.js", "test/bytes.bin"].map((path) =>
      read(folder, path),
    ),
  ).toEqual(["judge 1", "judge 2", "judge 3", "judge\u00004"]);

  expect(lstatSync(join(folder, "test/link.js")).isFile()).toBe(true);
  expect(read(folder, "test/giant.js")).toHaveLength(600_000);
});

test("what a check starts judges, what the config protects judges, what it opens does not", async () => {
  const files = {
    "scripts/check.sh": "1",
    "schema.sql": "1",
    "test/a.js": "1",
    "package.json": manifest({ scripts: { test: "sh ci/run.sh" } }),
    "ci/run.sh": "1",
  };

  const { look } = await between(
    files,
    { "scripts/check.sh": "2", "schema.sql": "2", "test/a.js": "2", "ci/run.sh": "2" },
    { protect: ["*.sql", "!test/**"] },
  );
  expect((await look([criterion("sh scripts/check.sh")])).changes.map(({ path }) => path)).toEqual([
    "ci/run.sh",
    "schema.sql",
    "scripts/check.sh",
  ]);
});

test("a run that changed nothing has no changes, and the same look twice gives the same name", async () => {
  const { look, workspace, base } = await between({ "test/a.js": "1" }, { "test/a.js": "2" });
  expect(await look()).toEqual(await look());
  expect((await look()).content).toMatch(/^[0-9a-f]{64}$/);
  expect(await workspace.differences(base, base)).toEqual([]);
});
