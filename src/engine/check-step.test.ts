// A check step: groups, commands, and proofs of the registry, each by its word.

import { describe, expect, test } from "vitest";
import type { Check, CheckResult } from "../contracts/evidence.ts";
import type { Draft } from "../contracts/event.ts";
import type { FunctionResult } from "../ports/functions.ts";
import { runCheckStep } from "./check-step.ts";
import type { StepExecution } from "./step-execution.ts";

const attempt = "1@1/prove#1";
const own: Check = {
  id: "criterion:1.1",
  kind: "criterion",
  title: "it adds",
  command: "test -f a",
  source: "roadmap",
};
const found: CheckResult = {
  check: {
    id: "proof:a",
    kind: "proof",
    title: "a is imported",
    command: "grep a",
    source: "wiring",
  },
  status: "passed",
  exit_code: 0,
  duration_ms: 1,
  evidence: "0".repeat(64),
};

/** A check step of these words; what was asked and what was written. */
async function reported(
  words: readonly string[],
  proofs: Record<string, FunctionResult>,
  status: CheckResult["status"] = "passed",
  more: Partial<CheckResult> = {},
) {
  const ran: string[] = [];
  const proved: string[] = [];
  const written: Draft[] = [];
  const cursor = { path: "1", kind: "phase", phase: "1", seen: {}, checks: [own] };

  const run = {
    drafted: {
      base: { commit: "b" },
      objective: { goal: "make it", scope: ["**"], done_criteria: [] },
      checks: [],
      flow: { phases: [{ id: "1", steps: [{ id: "prove", check: words }] }] },
    },
    phases: [{ id: "1", group: "phases" }],
    cursors: { "1": cursor },
    open: { [attempt]: { attempt, cursor: "1", step: "prove", role: null, paths: [] } },
    checks: {},
    trees: {},
    tip: { commit: "c", tree: "t" },
  };

  const runtime = {
    verifier: {
      check: ({ checks }: { readonly checks: readonly Check[] }) => {
        ran.push(...checks.map(({ command }) => command));
        return Promise.resolve(
          checks.map((check) => ({
            ...found,
            check,
            status,
            exit_code: status === "passed" ? 0 : 1,
            ...more,
          })),
        );
      },
      inspectProtected: () => Promise.resolve({ content: "0".repeat(64), changes: [] }),
    },
    functions: {
      proof: Object.fromEntries(
        Object.entries(proofs).map(([name, result]) => [
          name,
          {
            version: 1,
            prove: ({ commit }: { readonly commit: string }) => {
              proved.push(`${name} on ${commit}`);
              return Promise.resolve(result);
            },
          },
        ]),
      ),
    },
    onLiveEvent: () => undefined,
  };

  const cancel = { isCancelled: false, signal: new AbortController().signal };
  const record = (...events: readonly Draft[]): Promise<void> =>
    Promise.resolve(void written.push(...events));
  await runCheckStep({
    attempt,
    run: () => run,
    runtime,
    cancel,
    record,
  } as unknown as StepExecution);

  return { ran, proved, written };
}

test("a failing check is told with how many tests failed and which, and which they are doesn't change what failure it is", async () => {
  const first = await reported(["criteria"], {}, "failed", {
    tests: { ran: 14, failed: 2, skipped: 0 },
    failed: "weeks, months",
  });
  expect(first.written).toMatchObject([
    {
      event: "step_failed",
      detail: "it adds: failed (exit 1), 2 of 14 tests failed: weeks, months",
    },
  ]);

  const second = await reported(["criteria"], {}, "failed", {
    tests: { ran: 14, failed: 9, skipped: 0 },
    failed: "a, b, …",
  });
  expect(second.written).toMatchObject([
    { detail: "it adds: failed (exit 1), 9 of 14 tests failed: a, b, …" },
  ]);

  const fingerprintOf = ([event]: readonly Draft[]): unknown =>
    (event as { readonly fingerprint?: string }).fingerprint;
  expect(fingerprintOf(first.written)).toBe(fingerprintOf(second.written));
});

describe("a word of a check step that names a proof", () => {
  test("is proved on the newest commit after the commands, and what it found is the step's too", async () => {
    const { ran, proved, written } = await reported(["criteria", "wiring", "npm test"], {
      wiring: { ok: true, facts: { wired: 2 }, checks: [found] },
    });
    expect(ran).toEqual(["test -f a", "npm test"]);
    expect(proved).toEqual(["wiring on c"]);
    expect(written).toMatchObject([
      { event: "step_completed", facts: { ran: 2, wired: 2 }, checks: [{}, {}, found] },
    ]);
  });

  test("fails the step with what it says where it does not hold, under its own reason if it has one", async () => {
    const plain = { ok: false, facts: { wired: 0 }, detail: "src/a.ts is imported by nothing" };
    expect((await reported(["criteria", "wiring"], { wiring: plain })).written).toMatchObject([
      {
        event: "step_failed",
        detail: "wiring: src/a.ts is imported by nothing",
        reason_code: "proof_missing",
        facts: { wired: 0 },
      },
    ]);

    const own = await reported(["wiring"], { wiring: { ...plain, reason: "not_wired" } });
    expect(own.written).toMatchObject([{ event: "step_failed", reason_code: "not_wired" }]);
  });

  test("is told beside commands that fail, whose reason comes first", async () => {
    const { written } = await reported(
      ["criteria", "wiring"],
      { wiring: { ok: false, facts: {}, detail: "loose" } },
      "failed",
    );
    expect(written).toMatchObject([
      {
        event: "step_failed",
        reason_code: "criterion_failed",
        detail: "it adds: failed (exit 1); wiring: loose",
      },
    ]);
  });

  test("is never one that a group or a command means", async () => {
    const { ran, proved } = await reported(["criteria", "npm run wiring"], {
      criteria: { ok: true, facts: {} },
      wiring: { ok: true, facts: {} },
    });

    expect({ ran, proved }).toEqual({ ran: ["test -f a", "npm run wiring"], proved: [] });
  });
});
