// The verifier over folders and blobs in memory: what it runs, what it records, and what it leaves
// behind.

import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as v from "valibot";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Check, Evidence } from "../../src/contracts/evidence.ts";
import type { LiveEvent } from "../../src/contracts/live-event.ts";
import type { Clock } from "../../src/ports/clock.ts";
import { openVerifier, type VerifierParts } from "../../src/verify/verifier.ts";
import { readCheckoutStamp } from "../../src/workspace/layers/check-folder.ts";

const clock: Clock = {
  now: () => "2026-01-01T00:00:00.000Z",
  monotonicMs: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
const commit = "c".repeat(40);

let root = "";
let blobs = new Map<string, Buffer>();
let signals: LiveEvent[] = [];
let checkouts: string[] = [];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "verifier-"));
  blobs = new Map();
  signals = [];
  checkouts = [];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A workspace whose only commit is this tree; a tree's name is a hash over its files. */
function workspaceOf(tree: Record<string, string>): VerifierParts["workspace"] {
  return {
    checkout: async (_, purpose) => {
      checkouts.push(purpose);
      const folder = join(root, purpose);
      rmSync(folder, { recursive: true, force: true });

      for (const [path, text] of Object.entries(tree)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), text);
      }

      return folder;
    },
    dropCheckout: async () => undefined,
    foldersOf: (folder) => [folder],
    rewrittenIn: async () => [],
    touchedIn: async () => [],
    stampOf: readCheckoutStamp,
    dependenciesIn: async () => null,
    differences: async () => [],
    pathsAt: async () => Object.keys(tree),
    textAt: async (_, path) => tree[path] ?? null,
    hasCommit: async () => false,
    inspect: async () => ({ layer: "absent", commit: null }),
    requireIntact: () => Promise.resolve(),
    treeOf: async (folder) => {
      const hash = createHash("sha1");
      for (const path of readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
        (entry) => entry.isFile(),
      )) {
        hash.update(path.name).update(readFileSync(join(path.parentPath, path.name)));
      }

      return hash.digest("hex");
    },
  };
}

function open(tree: Record<string, string>, more: Partial<VerifierParts> = {}) {
  const putBlob: VerifierParts["putBlob"] = async (bytes) => {
    const hash = createHash("sha256").update(bytes).digest("hex");
    blobs.set(hash, Buffer.from(bytes));
    return hash;
  };

  const parts = {
    workspace: workspaceOf(tree),
    putBlob,
    isolation: "none",
    product: "autopilot test",
    timeoutMs: 60_000,
    clock,
  };

  return openVerifier({ ...parts, ...more });
}

const criterion = (command: string, kind: Check["kind"] = "criterion"): Check => ({
  id: command,
  kind,
  title: command,
  command,
  source: "test",
});
const order = (cancel = new AbortController().signal) => ({
  attempt: "1@1/checks#1",
  commit,
  cancel,
  onLiveEvent: (signal: LiveEvent) => signals.push(signal),
});
const evidenceOf = (hash: string) =>
  v.parse(Evidence, JSON.parse(blobs.get(hash)?.toString() ?? ""));

test("each check leaves evidence that can be found by its hash, with its output beside it", async () => {
  const verifier = open({ a: "x" }, { clock: { ...clock, after: () => () => undefined } }); // no report of how long it runs already
  const [passed, failed] = await verifier.check({
    ...order(),
    checks: [criterion("cat a"), criterion("echo broken; exit 4")],
  });
  expect(passed).toMatchObject({ status: "passed", exit_code: 0, check: { command: "cat a" } });
  expect(failed).toMatchObject({ status: "failed", exit_code: 4 });
  const evidence = evidenceOf(failed?.evidence ?? "");
  expect(evidence).toMatchObject({
    commit,
    status: "failed",
    isolation: "none",
    product: "autopilot test",
    output_excerpt: "broken",
    output_bytes: 7,
    at: "2026-01-01T00:00:00.000Z",
  });

  expect(evidence.tree_before).toBe(evidence.tree_after);
  expect(blobs.get(evidence.output_hash ?? "")?.toString()).toBe("broken\n");
  expect(signals).toMatchObject([
    { signal: "checking", command: "cat a" },
    { signal: "checking", title: "echo broken; exit 4" },
  ]);

  expect(checkouts).toEqual(["check"]);
});

test("a check that changes files is recorded, and the next one finds the commit's tree again", async () => {
  const verifier = open({ a: "x" });
  const [first, second] = await verifier.check({
    ...order(),
    checks: [criterion("echo spoiled > a"), criterion("cat a")],
  });
  const spoiled = evidenceOf(first?.evidence ?? "");
  expect(spoiled.tree_before).not.toBe(spoiled.tree_after);
  expect(spoiled.output_excerpt).toBe("[autopilot: it changed files of the tree it ran on]");
  expect(evidenceOf(second?.evidence ?? "")).toMatchObject({
    output_excerpt: "x",
    tree_before: spoiled.tree_before,
  });
});

test("a check that passes only once in a folder passes each time, for each order starts on a clean one; what it left is on record", async () => {
  const verifier = open({ a: "x" });
  const once = { checks: [criterion("test ! -e ran && touch ran")] };
  const results = [
    ...(await verifier.check({ ...order(), ...once })),
    ...(await verifier.check({ ...order(), ...once })),
  ];
  expect(results.map(({ status }) => status)).toEqual(["passed", "passed"]);

  for (const { evidence } of results) {
    expect(evidenceOf(evidence).tree_after).not.toBe(evidenceOf(evidence).tree_before);
  }
});

test("dependencies are restored first, on record, and again after a check has spoiled the folder", async () => {
  const verifier = open({ a: "x" }, { restores: [criterion("echo dep > dep", "restore")] });
  const results = await verifier.check({
    ...order(),
    checks: [criterion("cat dep; rm a"), criterion("cat dep a")],
  });
  expect(results.map(({ check, status }) => [check.kind, status])).toEqual([
    ["restore", "passed"],
    ["criterion", "passed"],
    ["criterion", "passed"],
  ]);

  expect(evidenceOf(results[2]?.evidence ?? "").output_excerpt).toBe("dep\nx");
});

test("two orders at once do not meet in one folder", async () => {
  const verifier = open({ a: "x" });
  const slow = criterion("touch mine; sleep 0.2; test -e mine && rm mine");
  const both = await Promise.all([
    verifier.check({ ...order(), checks: [slow] }),
    verifier.check({ ...order(), checks: [slow] }),
  ]);
  expect(both.flat().map(({ status }) => status)).toEqual(["passed", "passed"]);
});

test("called off in the middle: what was finished is told, what was running leaves no evidence", async () => {
  const cancel = new AbortController();
  const verifier = open({ a: "x" });

  const onLiveEvent = (signal: LiveEvent): void => {
    signals.push(signal);
    if (signal.signal === "checking" && signal.command === "sleep 1000") {
      setTimeout(() => cancel.abort(), 50);
    }
  };

  const results = await verifier.check({
    ...order(cancel.signal),
    onLiveEvent,
    checks: [criterion("true"), criterion("sleep 1000"), criterion("echo never")],
  });
  expect(results.map(({ check }) => check.command)).toEqual(["true"]);
  expect(signals).toHaveLength(2);
  expect(blobs.size).toBe(1);
  expect(
    await verifier.prove({ ...order(cancel.signal), gates: [{ file: "a" }], changed: [] }),
  ).toMatchObject({
    holds: false,
    failures: [{ found: "called off" }],
  });
});

test("gates are judged on the commit's own files, and a command among them leaves evidence", async () => {
  const verifier = open({ "docs/a.md": "## Finding\n", b: "" });
  const gates = [
    { file: "docs/a.md", matches: "^## Finding" },
    { command: "rm docs/a.md" },
    { file: "docs/a.md", fresh: true },
  ];

  const proof = await verifier.prove({ ...order(), gates, changed: ["docs/a.md"] });
  expect(proof).toMatchObject({
    holds: true,
    failures: [],
    checks: [{ check: { kind: "proof", command: "rm docs/a.md" }, status: "passed" }],
  });

  expect(evidenceOf(proof.checks[0]?.evidence ?? "").commit).toBe(commit);
  const failing = await verifier.prove({
    ...order(),
    gates: [{ file: "b", non_empty: true }, { command: "exit 9" }],
    changed: [],
  });
  expect(failing).toMatchObject({
    holds: false,
    failures: [
      { rule: "non_empty", file: "b" },
      { rule: "command", found: "failed (exit 9): exit 9" },
    ],
  });
});

test("only the branch that is taken runs its command", async () => {
  const verifier = open({ a: "x" });
  const gate = {
    if: { command: "test -e a" },
    all: [{ command: "echo yes" }],
    else: [{ command: "echo no" }],
  };

  const proof = await verifier.prove({ ...order(), gates: [gate], changed: [] });
  expect(proof.holds).toBe(true);
  expect(proof.checks.map(({ check }) => check.command)).toEqual(["test -e a", "echo yes"]);
});

test("after: history decides where both files are old, and without history it does not hold", async () => {
  const gates = [{ file: "new", after: "old" }];
  const tree = { new: "x", old: "x" };
  const failure = (found: string) => ({ holds: false, failures: [{ rule: "after", found }] });
  const judged = (isLater?: VerifierParts["isLater"]) =>
    open(tree, isLater === undefined ? {} : { isLater }).prove({ ...order(), gates, changed: [] });
  expect(await judged(async (_, path, than) => path === "new" && than === "old")).toMatchObject({
    holds: true,
  });

  expect(await judged(async () => false)).toMatchObject(failure("not changed since"));
  expect(await judged(async () => null)).toMatchObject(failure("an order the history cannot tell"));
  expect(await judged()).toMatchObject(failure("an order the history cannot tell"));
});

test("a workspace that fails is the asker's affair, and the next order goes on", async () => {
  const working = workspaceOf({ a: "x" });
  let isBroken = true;

  const workspace = {
    ...working,
    checkout: (sha: string, purpose: string) =>
      isBroken ? Promise.reject(new Error("disk gone")) : working.checkout(sha, purpose),
  };

  const verifier = open({}, { workspace });
  await expect(verifier.check({ ...order(), checks: [criterion("true")] })).rejects.toThrow(
    "disk gone",
  );

  isBroken = false;
  expect(await verifier.check({ ...order(), checks: [criterion("true")] })).toMatchObject([
    { status: "passed" },
  ]);
});
