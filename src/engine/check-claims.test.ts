import { describe, expect, test } from "vitest";
import type { CheckResult, ClaimChecked } from "../contracts/evidence.ts";
import type { StepExecution } from "./step-execution.ts";
import { checkClaims, decideWaitingClaims, type ClaimsInput } from "./check-claims.ts";

const attempt = "1@1/work#1";
const decided: ClaimChecked = { kind: "commit", text: "abc", verdict: "false", why: "none such" };
const waits: ClaimChecked = {
  kind: "done",
  text: "done",
  verdict: "unverifiable",
  why: "not yet",
  waits: { of: "all" },
};
const result = { status: "failed" } as CheckResult;

/** An execution in a flow of these steps; what the verifier is asked is kept. */
function executionOf(
  steps: readonly object[],
  more: { open?: object; waiting?: readonly object[]; blob?: string } = {},
) {
  const asked: { said: string; claim: unknown; waiting?: readonly ClaimChecked[] }[] = [];
  const cursor = { path: "1", kind: "phase", phase: "1" };

  const run = {
    drafted: {
      base: { commit: "b" },
      cast: { worker: { agent: "a", override: { model: "m" } } },
      flow: { phases: [{ id: "1", steps }] },
    },
    phases: [{ id: "1", group: "phases" }],
    cursors: { "1": cursor },
    open: { [attempt]: { attempt, cursor: "1", step: "work", role: "worker", ...more.open } },
    waiting: more.waiting,
    tip: { commit: "t" },
  };

  const runtime = {
    verifier: {
      checkClaims: (order: (typeof asked)[number]) => {
        asked.push(order);
        return Promise.resolve(order.waiting?.map(() => decided) ?? [decided, waits]);
      },
    },
    journal: { readBlob: () => Promise.resolve(Buffer.from(more.blob ?? "")) },
  };

  return { execution: { attempt, run: () => run, runtime } as unknown as StepExecution, asked };
}

const work = { id: "work", agent: "worker", prompt: "work.md" };
const check = { id: "prove", check: ["criteria"] };
const hearing: ClaimsInput = {
  agent: "a",
  report: { said: "done", claim: null, promised: false },
  commit: "c",
  changed: [],
  results: [],
};

describe("what an agent said", () => {
  test("is written at the end of its attempt; what checks decide waits where a check can come", async () => {
    const { execution } = executionOf([work, check]);
    expect(await checkClaims(execution, hearing)).toEqual([
      {
        event: "claims_checked",
        attempt,
        agent: "a",
        role: "worker",
        model: "m",
        claims: [decided],
        waiting: [waits],
      },
    ]);
  });

  test("is written whole where no check can come", async () => {
    const { waits: _, ...undecided } = waits;
    const { execution } = executionOf([work]);
    expect(await checkClaims(execution, hearing)).toMatchObject([{ claims: [decided, undecided] }]);
  });

  test("is heard once, and silence is not written down", async () => {
    const heard = executionOf([work, check], { open: { heard: true } });
    expect(await checkClaims(heard.execution, hearing)).toEqual([]);
    const silent = executionOf([work, check]);
    expect(
      await checkClaims(silent.execution, {
        ...hearing,
        report: { said: "", claim: null, promised: false },
      }),
    ).toEqual([]);

    expect([...heard.asked, ...silent.asked]).toEqual([]);
  });

  test("is read from what was kept, after a crash", async () => {
    const turn = { said: "cut", claim: "0".repeat(64), promised: true };
    const whole = executionOf([work], {
      open: { turn },
      blob: '{"said":"all of it","claim":{"pass":true}}',
    });
    await checkClaims(whole.execution, { ...hearing, report: null });
    expect(whole.asked).toMatchObject([
      { said: "all of it", claim: { pass: true }, promised: true },
    ]);

    const damaged = executionOf([work], { open: { turn }, blob: "{" });
    await checkClaims(damaged.execution, { ...hearing, report: null });
    expect(damaged.asked).toMatchObject([{ said: "cut", claim: null }]);
  });
});

test("what waits is decided by the next check of its own cursor, and of no other", async () => {
  const waiting = [
    { attempt, agent: "a", role: "worker", claims: [waits] },
    { attempt: "1@1/tasks#1/t1@1/do#1", agent: "a", role: "worker", claims: [waits] },
    { attempt: "2@1/work#1", agent: "a", role: "worker", claims: [waits] },
  ];

  const { execution, asked } = executionOf([work, check], { waiting });
  expect(
    (await decideWaitingClaims(execution, [result])).map(
      (draft) => "attempt" in draft && draft.attempt,
    ),
  ).toEqual([attempt, "1@1/tasks#1/t1@1/do#1"]);

  expect(asked.every(({ said }) => said === "")).toBe(true);
});
