// Checks of which an answer is expected: what they print decides, evidence says what was expected,
// and no verdict is taken for another's.

import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type Check,
  type CheckResult,
  Evidence,
  type Expectation,
} from "../../src/contracts/evidence.ts";
import { openVerifier, type VerifierParts } from "../../src/verify/verifier.ts";
import { readCheckoutStamp } from "../../src/workspace/layers/check-folder.ts";

const clock: VerifierParts["clock"] = {
  now: () => "2026-03-04T00:00:00.000Z",
  monotonicMs: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

let root = "";
const blobs = new Map<string, Buffer>();
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "expected-"));
  mkdirSync(join(root, "tree"));
  writeFileSync(join(root, "tree/notes.txt"), "one\ntwo\n");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const verifier = () =>
  openVerifier({
    workspace: {
      checkout: async () => join(root, "tree"),
      requireIntact: () => Promise.resolve(),
      treeOf: async () => "a".repeat(40),
      dropCheckout: async () => undefined,
      foldersOf: (folder) => [folder],
      rewrittenIn: async () => [],
      touchedIn: async () => [],
      stampOf: readCheckoutStamp,
      dependenciesIn: async () => null,
      differences: async () => [],
      pathsAt: async () => [],
      textAt: async () => null,
      hasCommit: async () => false,
      inspect: async () => ({ layer: "absent", commit: null }),
    },
    putBlob: async (bytes) => {
      const hash = createHash("sha256").update(bytes).digest("hex");
      blobs.set(hash, Buffer.from(bytes));
      return hash;
    },
    readBlob: async (hash) => blobs.get(hash) ?? Buffer.alloc(0),
    isolation: "none",
    product: "autopilot 1",
    timeoutMs: 60_000,
    clock,
  });
const checkOf = (command: string, expected?: Expectation): Check => ({
  id: "criterion:1.1",
  kind: "criterion",
  title: "notes",
  command,
  source: "roadmap",
  ...(expected === undefined ? {} : { expect: expected }),
});
async function judged(check: Check, recorded: readonly CheckResult[] = []) {
  const order = { attempt: "1@1/prove#1", commit: "c".repeat(40), checks: [check], recorded };
  const [result] = await verifier().check({
    ...order,
    cancel: new AbortController().signal,
    onLiveEvent: () => undefined,
  });
  if (result === undefined) throw new Error("no result");

  return {
    result,
    evidence: v.parse(Evidence, JSON.parse(blobs.get(result.evidence)?.toString() ?? "")),
  };
}

test.each<[string, Expectation, CheckResult["status"], string]>([
  [
    "grep -c one notes.txt",
    { kind: "at_least", count: 1 },
    "passed",
    "expected it to return at least 1, and it returned 1",
  ],
  [
    "grep -c none notes.txt",
    { kind: "at_least", count: 1 },
    "failed",
    "expected it to return at least 1, and it returned 0",
  ],
  [
    "grep -c none notes.txt",
    { kind: "exactly", count: 0 },
    "passed",
    "expected it to return exactly 0, and it returned 0",
  ],
  ["cat notes.txt", { kind: "exactly", count: 2 }, "passed", "and it returned 2"],
  ["cat notes.txt gone.txt", { kind: "exactly", count: 2 }, "passed", "and it returned 2"],
  ["cat gone.txt", { kind: "at_least", count: 1 }, "failed", "nothing but a complaint"],
  [
    "cat notes.txt",
    { kind: "text", text: "two" },
    "passed",
    'expected "two" in what it prints, which is there',
  ],
  ["cat notes.txt", { kind: "text", text: "three" }, "failed", "which is not there"],
  [
    "yes done | head -c 3000000; echo end",
    { kind: "text", text: "done\nend" },
    "passed",
    "which is there",
  ],
  ["no-such-program", { kind: "at_least", count: 0 }, "not_found", "exit 127"],
])("%s with %j: %s", async (command, expected, status, reported) => {
  const { result, evidence } = await judged(checkOf(command, expected));
  expect(result.status).toBe(status);
  expect(evidence).toMatchObject({ status, check: { expect: expected } });
  expect(evidence.output_excerpt).toContain(reported);
});

test("without an expectation the exit code decides, whatever is printed", async () => {
  expect((await judged(checkOf("echo 0 errors"))).result.status).toBe("passed");
  expect((await judged(checkOf("echo all is well; exit 3"))).result.status).toBe("failed");
});

test("a verdict under one expectation is none under another, and one without any is neither's", async () => {
  const command = "cat notes.txt";
  const two = await judged(checkOf(command, { kind: "exactly", count: 2 }));
  const known = [two.result];
  expect(
    (await judged(checkOf(command, { kind: "exactly", count: 2 }), known)).result,
  ).toMatchObject({ status: "passed", cached: true });

  const three = await judged(checkOf(command, { kind: "exactly", count: 3 }), known);
  expect(three.result).toMatchObject({ status: "failed" });
  expect(three.result.cached).toBeUndefined();
  expect((await judged(checkOf(command), known)).result.cached).toBeUndefined();
});
