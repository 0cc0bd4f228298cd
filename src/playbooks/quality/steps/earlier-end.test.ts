// What the log of an earlier run counted, where the documents of its phases still stand: told as it
// is, never a zero, never better.

import { expect, test } from "vitest";
import { gatesGap, joinGaps } from "../../../core/verdict.ts";
import { runIndex as index, runStart as start } from "../views/quality-log-rules.test-support.ts";
import { findFact, PhaseTally, tallyFact } from "../../../contracts/quality/quality-facts.ts";
import type { CursorView, RunView } from "../../../core/state.ts";
import type { FunctionInput } from "../../../ports/functions.ts";
import { parseLog } from "../views/parse-quality-log.ts";
import { hasPassedGate } from "../files/quality-prepare.ts";
import { createPhaseFoundStep } from "./phase-found.ts";
import { createPhaseTallyStep } from "./phase-tally.ts";
import { createRunAgreesStep } from "./run-agrees.ts";

const ts = "2026-05-15T14:32:01Z";
const log = (phase: number, key_counts: object): string =>
  [
    index,
    start,
    { event: "phase_start", ts, phase },
    { event: "phase_end", ts, phase, key_counts, artifacts_produced: [] },
  ]
    .map((event) => `${JSON.stringify(event)}\n`)
    .join("");

type Story = {
  readonly phase: string;
  readonly log: string | null;
  readonly files?: Readonly<Record<string, string>>;
  readonly takenOver?: boolean;
  readonly options?: Readonly<Record<string, unknown>>;
};

function scene({ phase, log: text, files = {}, takenOver = true, options = {} }: Story) {
  const workspace = {
    pathsAt: () => Promise.resolve(Object.keys(files)),
    textAt: (_commit: string, path: string) => Promise.resolve(files[path] ?? null),
    differences: () => Promise.resolve([]),
  };

  const last = takenOver ? { earlier: { facts: { proved: true } } } : {};
  const state = {
    cursors: { [phase]: { last } },
    phases: [{ id: phase, group: "phases" }],
    overrides: {},
    drafted: {
      options: { earlier_log: "continued", ...options },
      documents: text === null ? [] : [{ path: "quality/run_state.jsonl", hash: "h" }],
      base: { commit: "b" },
      flow: { phases: [{ id: "6", steps: [] }] },
    },
  } as unknown as RunView;

  const input = {
    state,
    cursor: { phase, visit: 1, last },
    commit: "c",
    attempt: `${phase}@1/x#1`,
  } as unknown as FunctionInput<RunView, CursorView>;

  const parts = { workspace, entries: () => [], readBlob: () => Buffer.from(text ?? "") };
  return {
    order: input,
    parts: parts as unknown as Parameters<typeof createPhaseTallyStep>[0] &
      Parameters<typeof createPhaseFoundStep>[0],
    workspace,
  };
}

async function countsOf(story: Story): Promise<PhaseTally["key_counts"]> {
  const { order: input, parts } = scene(story);
  const { facts } = await createPhaseTallyStep(parts).perform(input);
  return findFact(facts, tallyFact, PhaseTally)?.key_counts ?? {};
}

test("what no file holds is what the earlier log counted; what a file holds is counted in it", async () => {
  const audited = log(4, { req_count: 12, uc_count: 6, passes_complete: 4 });
  const files = {
    "quality/REQUIREMENTS.md": "### REQ-001: a\n### REQ-002: b\n",
    "quality/spec_audits/x-triage.md": "x\n",
  };

  expect(await countsOf({ phase: "4", log: audited, files })).toEqual({
    req_count: 2,
    uc_count: 6,
    passes_complete: 4,
  });

  expect(
    await countsOf({ phase: "2", log: log(2, { findings_promoted: 9, findings_dropped: 3 }) }),
  ).toEqual({
    findings_promoted: 9,
    findings_dropped: 3,
  });
});

test("a phase that this run did itself, or of which the log says nothing sound, has its own counts", async () => {
  const audited = log(4, { req_count: 12, uc_count: 6, passes_complete: 4 });
  const own = { req_count: 0, uc_count: 0, passes_complete: 0 };
  expect(await countsOf({ phase: "4", log: audited, takenOver: false })).toEqual(own);
  expect(await countsOf({ phase: "4", log: null })).toEqual(own);
  expect(
    await countsOf({
      phase: "4",
      log: log(4, { req_count: -3, uc_count: "many", passes_complete: 1.5 }),
    }),
  ).toEqual(own);
});

test("files of auditors are no passes: without a return no pass is counted", async () => {
  const files = Object.fromEntries(
    ["a-auditor-1", "a-auditor-2", "a-auditor-3", "a-triage"].map((name) => [
      `quality/spec_audits/${name}.md`,
      "x\n",
    ]),
  );

  expect(await countsOf({ phase: "4", log: null, files, takenOver: false })).toMatchObject({
    passes_complete: 0,
  });
});

test.each([
  ["pass", true],
  ["partial", true],
  ["fail", false],
  ["splendid", false],
] as const)(
  "a terminal gate that another tool judged %s is taken over: %s",
  async (gate_verdict, isHeld) => {
    const text = log(6, { bugs_md_count: 0, gate_verdict });
    expect(hasPassedGate(parseLog(text))).toBe(isHeld);

    const { order: input, parts } = scene({
      phase: "6",
      log: text,
      options: { earlier_verified: isHeld },
    });
    const found = await createPhaseFoundStep(parts).perform(input);
    expect(found.facts).toEqual({ proved: isHeld });
    if (gate_verdict === "fail") expect(found.detail).toBe("its terminal gate had failed");
  },
);

test("what it was judged to be is what is told, and a gap", async () => {
  const text = log(6, { bugs_md_count: 0, gate_verdict: "partial" });
  expect(await countsOf({ phase: "6", log: text })).toEqual({
    bugs_md_count: 0,
    gate_verdict: "partial",
  });

  const { order: input, workspace } = scene({
    phase: "6",
    log: text,
    options: { earlier_verified: true },
  });

  const tally = { facts: { bugs_md_count: 0, gate_verdict: "partial" } };
  const state = { ...input.state, cursors: { "6": { last: { tally } } } } as unknown as RunView;
  const { facts } = await createRunAgreesStep(workspace).perform({ ...input, state });
  expect(facts).toMatchObject({
    verdict: "verified_with_gaps",
    gaps: joinGaps([
      gatesGap,
      "the terminal gate was judged by the tool that began this run (partial), not here",
    ]),
  });
});
