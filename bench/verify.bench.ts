// What verification costs beyond the checks themselves: a fresh checkout of a large repository, and
// all that surrounds checks of some length, in the isolation that a run of this machine would
// choose.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Check } from "../src/contracts/evidence.ts";
import type { LiveEvent } from "../src/contracts/live-event.ts";
import type { Workspace } from "../src/ports/workspace.ts";
import type { Verifier } from "../src/ports/verifier.ts";
import { buildPolicy } from "../src/runner/draft/run-policy.ts";
import { openIsolation } from "../src/runner/draft/open-isolation.ts";
import { openSandboxedVerifier } from "../src/runner/sandboxed-checks.ts";
import { chooseCheckoutKind } from "../src/workspace/checkouts/checkout-kind.ts";
import { openRepository } from "../src/workspace/git/repository.ts";
import { openWorkspace } from "../src/workspace/workspace.ts";
import { isQuick, median, plainEnv, quantile, report, withFolder } from "./measure.ts";

const rounds = isQuick ? 3 : 7;
const roundsOfSuites = 1; // half a minute of waiting evens out by itself
const filesInLarge = 10_000;
/**
 * A project of the usual size with three checks of a second: short ones, so that what is around
 * them weighs.
 */
const filesInUsual = 1_000;
const checkSeconds = 1;
/**
 * Suites as users have them, one of half a minute and more, one of some seconds: experiments cost a
 * share of the check and some seconds.
 */
const filesOfTests = { usual: 36, small: 12 };
const testsInFile = 10;
const waitMs = 100;
const describeSuite = (files: number): string =>
  `${files} files of ${testsInFile} tests of ${waitMs} ms in a repository of ${filesInUsual} files`;

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
  const { verifier } = usual;
  const ratios: number[] = [];

  for (let round = 0; round < rounds; round++) {
    const checks = [1, 2, 3].map((n): Check => ({
      id: `c${n}`,
      kind: "criterion",
      title: `c${n}`,
      command: `sleep ${checkSeconds} # ${round} ${n}`,
      source: "bench",
    }));

    const began = performance.now();
    const results = await verifier.check({
      attempt: "1@1/prove#1",
      checks,
      commit: usual.commit,
      cancel: new AbortController().signal,
      onLiveEvent: () => undefined,
    });
    const own = results.reduce((sum, { duration_ms }) => sum + duration_ms, 0);
    ratios.push((performance.now() - began) / own);
  }

  report(
    "verify_overhead",
    median(ratios),
    `3 checks of ${checkSeconds} s in a repository of ${filesInUsual} files`,
  );

  await fixing(join(folder, "fixed"), "verify_canary", filesOfTests.usual);
  await fixing(join(folder, "small"), "verify_small", filesOfTests.small);
  await adding(join(folder, "added"));
  await mendingAll(join(folder, "one"));
});

/** One file of tests about one module, each test as slow as those of a real suite. */
function suiteOf(name: string, tests: number): string {
  const cases = Array.from(
    { length: tests },
    (_, at) =>
      `test("${name} ${at} is itself", async () => {\n  await wait(${waitMs});\n  assert.equal(${name}(${at}), ${at});\n});\n`,
  );

  return `import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { setTimeout as wait } from "node:timers/promises";\nimport { ${name} } from "../${name}.mjs";\n\n${cases.join("\n")}`;
}

/** Modules with a file of tests each, of which the first is wrong. */
function putSuite(root: string, modules: number, tests: number): void {
  mkdirSync(join(root, "test"), { recursive: true });
  for (let at = 0; at < modules; at++) {
    writeFileSync(
      join(root, `same${at}.mjs`),
      `export const same${at} = ${at === 0 ? "() => -1" : "(one) => one"};\n`,
    );

    writeFileSync(join(root, `test/same${at}.test.mjs`), suiteOf(`same${at}`, tests));
  }
}

/** A suite in which one file was red, and a change that fixes it. */
async function fixing(root: string, figure: string, files: number): Promise<void> {
  putSuite(root, files, testsInFile);
  const { ratio, price } = await tried(root, () =>
    writeFileSync(join(root, "same0.mjs"), "export const same0 = (one) => one;\n"),
  );
  report(figure, ratio, `${describeSuite(files)}, ${price}`);
}

/**
 * The same with a feature that brings tests of its own: then its functions answer something else in
 * one more run.
 */
async function adding(root: string): Promise<void> {
  putSuite(root, filesOfTests.usual, testsInFile);
  const { ratio, price } = await tried(root, () => {
    writeFileSync(join(root, "same0.mjs"), "export const same0 = (one) => one;\n");
    writeFileSync(join(root, "also.mjs"), "export const also = (one) => one;\n");
    writeFileSync(join(root, "test/also.test.mjs"), suiteOf("also", testsInFile));
  });
  report("verify_own_tests", ratio, `${describeSuite(filesOfTests.usual)}, ${price}`);
}

/** The dearest there is: all tests in one file, all of them red before. */
async function mendingAll(root: string): Promise<void> {
  putSuite(root, 1, testsInFile * 2);
  const { ratio, price } = await tried(root, () =>
    writeFileSync(join(root, "same0.mjs"), "export const same0 = (one) => one;\n"),
  );
  report("verify_one_file", ratio, `${testsInFile * 2} tests in one file, ${price}`);
}

/** `price`: the check's own time, and what each question cost of it. */
async function tried(
  root: string,
  change: () => void,
): Promise<{ readonly ratio: number; readonly price: string }> {
  const { verifier, commit, parent } = await opened(root, filesInUsual, change);
  const ratios: number[] = [];
  const seconds: number[] = [];
  const shares = new Map<string, number[]>();

  for (let round = 0; round < roundsOfSuites; round++) {
    const check: Check = {
      id: `c${round}`,
      kind: "criterion",
      title: "tests",
      command: `node --test test/ # ${round}`,
      source: "bench",
    };

    const begun: (readonly [title: string, atMs: number])[] = [];
    const order = {
      attempt: "1@1/prove#1",
      checks: [check],
      cancel: new AbortController().signal,
      onLiveEvent: (event: LiveEvent) =>
        void (event.signal === "checking" && begun.push([event.title, performance.now()])),
    };

    const [before] = await verifier.check({ ...order, commit: parent });
    if (before === undefined) throw new Error("the check was not run");
    begun.length = 0;
    const began = performance.now();

    const [result] = await verifier.check({
      ...order,
      commit,
      base: parent,
      known: { [check.id]: before.status },
      evidenceBefore: { [check.id]: before.evidence },
    });
    if (result?.canary?.outcome !== "noticed") {
      throw new Error(`the canary came to ${result?.canary?.outcome ?? "nothing"}`);
    }

    const ended = performance.now();
    ratios.push((ended - began) / result.duration_ms);
    seconds.push(result.duration_ms / 1000);

    for (const [at, [title, atMs]] of begun.entries()) {
      shares.set(title, [
        ...(shares.get(title) ?? []),
        ((begun[at + 1]?.[1] ?? ended) - atMs) / result.duration_ms,
      ]);
    }
  }

  const each = [...shares].map(
    ([title, own]) => `${title.replace(/^tests \((.*)\)$/, "$1")} ${median(own).toFixed(2)}`,
  );

  return { ratio: median(ratios), price: `${median(seconds).toFixed(1)} s: ${each.join(", ")}` };
}

type Opened = {
  readonly workspace: Workspace;
  readonly verifier: Verifier;
  readonly commit: string;
  readonly parent: string;
};

/**
 * A repository of so many small files, with a run's workspace and verifier on it; with a change, in
 * two commits.
 */
async function opened(root: string, files: number, change?: () => void): Promise<Opened> {
  const perFolder = 100;
  for (let at = 0; at < files; at++) {
    const place = join(root, "src", `m${Math.floor(at / perFolder)}`);
    if (at % perFolder === 0) mkdirSync(place, { recursive: true });
    writeFileSync(
      join(place, `f${at % perFolder}.ts`),
      `export const value${at} = ${at};\n// ${"x".repeat(at % 997)}\n`,
    );
  }

  const git = (...args: readonly string[]): void =>
    void execFileSync(
      "git",
      ["-c", "user.name=b", "-c", "user.email=b@example.org", "-c", "gc.auto=0", ...args],
      {
        cwd: root,
        env: plainEnv,
        stdio: "ignore",
      },
    );
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-q", "-m", "start");

  const parent = execFileSync("git", ["rev-parse", "HEAD"], {
    cwd: root,
    env: plainEnv,
    encoding: "utf8",
  }).trim();

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
  const isolation = await openIsolation("auto", { root, folder: join(root, ".autopilot") }, runDir);
  const checkouts = chooseCheckoutKind(isolation.level, runDir);
  const runId = "run-2026-01-01-000000";

  const workspace = await openWorkspace({
    repository,
    runDir,
    runId,
    base,
    scope: ["**"],
    ownedPaths: [],
    checkouts,
  });

  const blobs = new Map<string, Uint8Array>();
  const verifier = openSandboxedVerifier({
    workspace,
    isolation,
    policy: buildPolicy({}, []),
    root,
    folder: runDir,
    putBlob: async (bytes) => {
      const name = createHash("sha256").update(bytes).digest("hex");
      blobs.set(name, bytes);
      return name;
    },
    readBlob: async (name) => Buffer.from(blobs.get(name) ?? new Uint8Array()),
    guard: () => () => undefined,
  });

  return { workspace, verifier, commit: base.commit, parent };
}
