import { expect, test } from "vitest";
import type { Check, CheckResult, Evidence } from "../../contracts/evidence.ts";
import type { OpenParts } from "../verifier-parts.ts";
import type { CheckTrial } from "./experiment-runs.ts";
import { tryOut } from "./try-out.ts";

const [base, commit] = ["a".repeat(40), "b".repeat(40)];
const check: Check = {
  id: "criterion:1",
  kind: "criterion",
  title: "it is there",
  command: "test -f LICENSE",
  source: "spec",
};
const red: Evidence = {
  check,
  argv: [],
  cwd: "/",
  isolation: "none",
  env_hash: "e".repeat(64),
  commit: base,
  tree_before: null,
  tree_after: null,
  status: "failed",
  exit_code: 1,
  signal: null,
  duration_ms: 5,
  output_hash: null,
  output_bytes: 0,
  output_excerpt: "",
  at: "2026-01-01T00:00:00Z",
  product: "x",
};
const texts: Readonly<Record<string, string>> = {
  [`${base} package.json`]: '{"type":"commonjs"}',
  [`${commit} package.json`]: '{"type":"module"}',
};

/**
 * A check that failed before the work, of work that changed the manifest's settings and brought a
 * module.
 */
function trial(cancel: AbortSignal): CheckTrial {
  const workspace = {
    differences: () =>
      Promise.resolve([
        { path: "package.json", kind: "changed" },
        { path: "random.py", kind: "added" },
      ]),
    textAt: (at: string, path: string) => Promise.resolve(texts[`${at} ${path}`] ?? null),
    pathsAt: () => Promise.resolve(["package.json"]),
  };

  const parts = {
    workspace,
    clock: { monotonicMs: () => 0 },
    canaryMinutes: 0,
    timeoutMs: 60_000,
    readBlob: () => Promise.resolve(Buffer.from(JSON.stringify(red))),
    putBlob: () => Promise.resolve("h"),
  };

  return {
    parts: parts as unknown as OpenParts,
    request: {
      commit,
      attempt: 1,
      cancel,
      checks: [check],
      onLiveEvent: () => undefined,
      evidenceBefore: { [check.id]: "h" },
    } as unknown as CheckTrial["request"],
    base,
    restoresAt: () => Promise.resolve([]),
    taken: null,
  };
}
const passed = {
  check,
  status: "passed",
  exit_code: 0,
  duration_ms: 5,
  evidence: "e",
  tests: null,
} as unknown as CheckResult;

test("a question that took too long to answer is a gap that names it", async () => {
  const [result] = await tryOut(trial(new AbortController().signal), [passed]);
  expect(result?.canary?.outcome).toBe("noticed");
  expect(result?.gap).toContain(
    "took too long to find out whether it passes with package.json as before the work",
  );

  expect(result?.gap).toContain(
    "took too long to find out whether random.py takes the place of something from outside",
  );
});

test("what was called off says nothing", async () => {
  expect(await tryOut(trial(AbortSignal.abort()), [passed])).toEqual([passed]);
});
