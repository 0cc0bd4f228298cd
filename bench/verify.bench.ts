// What verification costs beyond the checks themselves: a fresh checkout of a large repository, and all that surrounds checks of some length.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Check } from "../src/contracts/evidence.ts";
import { systemClock } from "../src/project/runs/system-clock.ts";
import type { Workspace } from "../src/ports/workspace.ts";
import { openVerifier } from "../src/verify/verifier.ts";
import { openRepository } from "../src/workspace/git/repository.ts";
import { openWorkspace } from "../src/workspace/workspace.ts";
import { isQuick, median, plainEnv, quantile, report, withFolder } from "./measure.ts";

const rounds = isQuick ? 3 : 7;
const filesInLarge = 10_000;
/** A project of the usual size with three checks of a second: short ones, so that what is around them weighs. */
const filesInUsual = 1_000;
const checkSeconds = 1;
const testsInSuite = 20;
const waitMs = 100;

await withFolder(async (folder) => {
  const large = await opened(join(folder, "large"), filesInLarge);
  const spent: number[] = [];
  for (let round = 0; round < rounds + 1; round++) {
    const began = performance.now();
    await large.workspace.checkout(large.commit, "check");
    spent.push((performance.now() - began) / 1000);
  }
  report(
    "checkout_10k",
    median(spent.slice(1)),
    `the first one ${(spent[0] ?? 0).toFixed(2)} s, the quickest ${quantile(spent, 0).toFixed(2)} s`,
  );

  const usual = await opened(join(folder, "usual"), filesInUsual);
  const verifier = openVerifier({
    workspace: usual.workspace,
    putBlob: async () => "0".repeat(64),
    isolation: "none",
    product: "bench",
    timeoutMs: 60_000,
    clock: systemClock,
  });
  const checks = [1, 2, 3].map((n): Check => ({
    id: `c${n}`,
    kind: "criterion",
    title: `c${n}`,
    command: `sleep ${checkSeconds} # ${n}`,
    source: "bench",
  }));
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    const results = await verifier.check({
      attempt: "1@1/prove#1",
      checks,
      commit: usual.commit,
      cancel: new AbortController().signal,
      onSignal: () => undefined,
    });
    const own = results.reduce((sum, { duration_ms }) => sum + duration_ms, 0);
    ratios.push((performance.now() - began) / own);
  }
  report("verify_overhead", median(ratios), `${checks.length} checks of ${checkSeconds} s in a repository of ${filesInUsual} files`);
  await mending(join(folder, "mended"));
  await adding(join(folder, "added"));
});

function suiteOf(name: string): string {
  const tests = Array.from(
    { length: testsInSuite },
    (_, at) => `test("${name} ${at} is itself", async () => {\n  await wait(${waitMs});\n  assert.equal(${name}(${at}), ${at});\n});\n`,
  );
  return `import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { setTimeout as wait } from "node:timers/promises";\nimport { ${name} } from "../${name}.mjs";\n\n${tests.join("\n")}`;
}

/** A suite that was red, a change that mends it, and the check tried out: it is run once more. */
async function mending(root: string): Promise<void> {
  mkdirSync(join(root, "test"), { recursive: true });
  writeFileSync(join(root, "same.mjs"), "export const same = () => -1;\n");
  writeFileSync(join(root, "test/same.test.mjs"), suiteOf("same"));
  const ratio = await tried(root, () => writeFileSync(join(root, "same.mjs"), "export const same = (one) => one;\n"));
  report("verify_canary", ratio, `a suite of ${testsInSuite} tests of ${waitMs} ms in a repository of ${filesInUsual} files`);
}

/** A change that brings tests of its own: then its functions answer something else in one more run. */
async function adding(root: string): Promise<void> {
  mkdirSync(join(root, "test"), { recursive: true });
  writeFileSync(join(root, "same.mjs"), "export const same = (one) => one;\n");
  writeFileSync(join(root, "test/same.test.mjs"), suiteOf("same"));
  const ratio = await tried(root, () => {
    writeFileSync(join(root, "also.mjs"), "export const also = (one) => one;\n");
    writeFileSync(join(root, "test/also.test.mjs"), suiteOf("also"));
  });
  report("verify_own_tests", ratio, `${testsInSuite} tests that were there and ${testsInSuite} new ones`);
}

async function tried(root: string, change: () => void): Promise<number> {
  const { workspace, commit, parent } = await opened(root, filesInUsual, change);
  const blobs = new Map<string, Uint8Array>();
  const verifier = openVerifier({
    workspace,
    putBlob: async (bytes) => {
      const name = createHash("sha256").update(bytes).digest("hex");
      blobs.set(name, bytes);
      return name;
    },
    readBlob: async (name) => blobs.get(name) ?? new Uint8Array(),
    isolation: "none",
    product: "bench",
    timeoutMs: 60_000,
    clock: systemClock,
  });
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const check: Check = { id: `c${round}`, kind: "criterion", title: "tests", command: `node --test test/ # ${round}`, source: "bench" };
    const order = { attempt: "1@1/prove#1", checks: [check], cancel: new AbortController().signal, onSignal: () => undefined };
    const [before] = await verifier.check({ ...order, commit: parent });
    if (before === undefined) throw new Error("the check was not run");
    const began = performance.now();
    const [result] = await verifier.check({ ...order, commit, base: parent, before: { [check.id]: before.evidence } });
    if (result?.canary?.outcome !== "noticed") throw new Error(`the canary came to ${result?.canary?.outcome ?? "nothing"}`);
    ratios.push((performance.now() - began) / result.duration_ms);
  }
  return median(ratios);
}

/** A repository of so many small files, with a run's workspace on it; with a change, in two commits. */
async function opened(
  root: string,
  files: number,
  change?: () => void,
): Promise<{ readonly workspace: Workspace; readonly commit: string; readonly parent: string }> {
  const perFolder = 100;
  for (let at = 0; at < files; at++) {
    const place = join(root, "src", `m${Math.floor(at / perFolder)}`);
    if (at % perFolder === 0) mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `f${at % perFolder}.ts`), `export const value${at} = ${at};\n// ${"x".repeat(at % 997)}\n`);
  }
  const git = (...args: readonly string[]): void =>
    void execFileSync("git", ["-c", "user.name=b", "-c", "user.email=b@example.org", "-c", "gc.auto=0", ...args], {
      cwd: root,
      env: plainEnv,
      stdio: "ignore",
    });
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-q", "-m", "start");
  const parent = execFileSync("git", ["rev-parse", "HEAD"], { cwd: root, env: plainEnv, encoding: "utf8" }).trim();
  if (change !== undefined) {
    change();
    git("add", "-A");
    git("commit", "-q", "-m", "change");
  }
  const found = await openRepository(root);
  if ("failure" in found) throw new Error(found.failure.detail);
  const { repository } = found;
  const base = { branch: repository.branch, commit: repository.head.commit };
  const runDir = join(root, ".autopilot", "runs", "run-2026-01-01-000000");
  mkdirSync(runDir, { recursive: true });
  const workspace = await openWorkspace({ repository, runDir, runId: "run-2026-01-01-000000", base, scope: ["**"], ownedPaths: [] });
  return { workspace, commit: base.commit, parent };
}
