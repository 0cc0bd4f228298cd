// Trace spans: what is told of a phase comes from the runner's record and from agents' frames, in
// the format's words and within its bounds.

import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { roadmapStories } from "../../test/simulation/support/roadmap-stories.ts";
import { live } from "../../test/simulation/support/scenarios.ts";
import type { Draft } from "../contracts/event.ts";
import { TraceSpan } from "../contracts/roadmap-reports.ts";
import {
  applied,
  ended,
  failed,
  journal,
  passed,
  result,
  route,
  started,
  turned,
} from "../insight/entries.test-support.ts";
import { openPhaseTrace, findTraceStep, type ToolEvent } from "./phase-trace.ts";

const begun = (step: string, n = 1, path = "1") =>
  ({
    event: "step_started",
    walk: path,
    step,
    attempt: `${path}@1/${step}#${n}`,
    kind: "agent",
    try: 1,
  }) as const;
const spansOf = (...drafts: readonly Draft[]) => {
  const trace = openPhaseTrace();
  return journal(...drafts).flatMap((entry) => trace.spansOfEntry(entry));
};
const tool = (changes: Partial<ToolEvent>): ToolEvent => ({
  signal: "tool",
  attempt: "1@1/execute#1/03-01@1/do#1",
  title: "write src/a.ts",
  status: "pending",
  ...changes,
});

describe("from the journal", () => {
  test("a turn is told as an agent that was spawned, with how long it took and how it ended", () => {
    const [turn] = spansOf(begun("plan"), turned("plan", "end_turn", "I am done, believe me"));
    expect(turn).toEqual({
      timestamp: "2026-01-01T00:00:00.000Z",
      phase_id: "1",
      step: "phase_runner",
      action: "agent_spawn",
      input_summary: "a for plan #1 (phase 1)",
      output_summary: "the turn ended with end_turn, 1 token used",
      duration_ms: 60_000,
      status: "success",
    });
  });

  test("what an agent said of itself is in no span", () =>
    expect(
      JSON.stringify(spansOf(begun("plan"), turned("plan", "end_turn", "I am done, believe me"))),
    ).not.toContain("believe"));

  test("a turn that ended in an error failed", () =>
    expect(spansOf(begun("plan"), turned("plan", "agent_timeout"))[0]).toMatchObject({
      action: "agent_spawn",
      status: "failure",
    }));

  test("a commit is told by the files it changed", () =>
    expect(spansOf(begun("debug"), applied("debug", 7))[0]).toMatchObject({
      step: "debug",
      action: "file_write",
      input_summary: "a",
      output_summary: "commit 000000000000, 1 file",
    }));

  test("each command the runner ran is told with what it came to, one after the other up to the end of the step", () => {
    const checks = [
      { ...result("project", "npm run build", "passed"), duration_ms: 1_000 },
      { ...result("criterion", "test -f a"), duration_ms: 500 },
    ];
    const spans = spansOf(begun("checks"), failed("checks", "criterion_failed", checks));
    expect(
      spans.map(({ step, action, input_summary, output_summary, status }) => [
        step,
        action,
        input_summary,
        output_summary,
        status,
      ]),
    ).toEqual([
      ["verify", "command_run", "npm run build", "passed (exit 0)", "success"],
      ["verify", "command_run", "test -f a", "failed (exit 1)", "failure"],
      ["verify", "decision", "checks #1 (phase 1)", "failed: criterion_failed", "failure"],
    ]);

    expect(spans.map(({ timestamp, duration_ms }) => [timestamp, duration_ms])).toEqual([
      ["2026-01-01T00:00:58.500Z", 1_000],
      ["2026-01-01T00:00:59.500Z", 500],
      ["2026-01-01T00:00:00.000Z", 60_000],
    ]);
  });

  test("where the evidence is at hand it says when a command was run and how its output ended", () => {
    const trace = openPhaseTrace(() => ({
      at: "2025-12-31T23:59:00.000Z",
      output_excerpt: "a\nthe last line\n",
    }));

    const entries = journal(
      begun("checks"),
      failed("checks", "criterion_failed", [result("criterion", "test -f a")]),
    );
    expect(entries.flatMap((entry) => trace.spansOfEntry(entry))[0]).toMatchObject({
      timestamp: "2025-12-31T23:59:00.000Z",
      output_summary: "failed (exit 1): the last line",
    });
  });

  test("a result that was known from before is not told as a command that was run", () => {
    const cached = { ...result("project", "npm test", "passed"), cached: true };
    expect(
      spansOf(begun("checks"), passed("checks", 1, [cached])).map(({ action }) => action),
    ).toEqual(["decision"]);
  });

  test("ways back, the phase's beginning and its end are decisions of the phase runner", () => {
    const spans = spansOf(
      started,
      route("debug", "debug"),
      { event: "step_skipped", walk: "1", step: "research" },
      ended("judge_rejected"),
    );
    expect(
      spans.map(({ step, action, input_summary, output_summary, status }) => [
        step,
        action,
        input_summary,
        output_summary,
        status,
      ]),
    ).toEqual([
      ["phase_runner", "decision", "phase", "started", "success"],
      ["phase_runner", "decision", "judge", "goes to debug (counted as debug)", "success"],
      ["research", "decision", "research", "skipped", "skipped"],
      ["phase_runner", "decision", "gate", "failed: judge_rejected", "failure"],
    ]);
  });

  test.each([
    ["1@1/research#1", "research"],
    ["1@2/judge_blind#1", "judge"],
    ["1@1/checks#4", "verify"],
    ["1@1/execute#1/03-01@1/do#2", "execute"],
    ["1@1/triage#1", "phase_runner"],
    ["nonsense", "phase_runner"],
  ])("the attempt %s belongs to the step %s", (attempt, step) =>
    expect(findTraceStep(attempt)).toBe(step),
  );

  test("whatever the run, every span is valid, and what lies around the phases has none", () => {
    let spans = 0;
    for (const scenario of Object.values(roadmapStories)) {
      const trace = openPhaseTrace();
      for (const entry of live(scenario).tape.entries) {
        for (const span of trace.spansOfEntry(entry)) {
          spans++;
          expect(v.safeParse(TraceSpan, span).issues).toBeUndefined();
          expect(span.phase_id).not.toMatch(/^(?:after|before)\./);
        }
      }
    }

    expect(spans).toBeGreaterThan(100);
  });
});

describe("from an agent's frames", () => {
  const actions: readonly (readonly [string | undefined, string])[] = [
    ["read", "file_read"],
    ["edit", "file_write"],
    ["delete", "file_write"],
    ["move", "file_write"],
    ["execute", "command_run"],
    ["fetch", "tool_call"],
    [undefined, "tool_call"],
  ];
  test.each(actions)("a tool of kind %s is told as %s", (kind, action) => {
    const reported = kind === undefined ? {} : { kind };
    expect(
      openPhaseTrace().spanOfToolEvent(
        tool({ ...reported, status: "completed" }),
        "2026-01-01T00:00:00.000Z",
      ),
    ).toMatchObject({
      action,
      step: "execute",
    });
  });

  test("a call is told once, when it has ended, from its first frame on", () => {
    const trace = openPhaseTrace();
    expect(trace.spanOfToolEvent(tool({ call: "t1" }), "2026-01-01T00:00:00.000Z")).toBeNull();
    expect(
      trace.spanOfToolEvent(
        tool({ call: "t1", status: "in_progress" }),
        "2026-01-01T00:00:00.200Z",
      ),
    ).toBeNull();

    expect(
      trace.spanOfToolEvent(tool({ call: "t2", status: "failed" }), "2026-01-01T00:00:00.300Z"),
    ).toMatchObject({
      status: "failure",
      duration_ms: 0,
    });

    expect(
      trace.spanOfToolEvent(
        tool({ call: "t1", status: "completed", kind: "edit", path: "src/a.ts" }),
        "2026-01-01T00:00:01.000Z",
      ),
    ).toEqual({
      timestamp: "2026-01-01T00:00:00.000Z",
      phase_id: "1",
      step: "execute",
      action: "file_write",
      input_summary: "src/a.ts",
      output_summary: "completed",
      duration_ms: 1_000,
      status: "success",
    });
  });

  test("a call that was never ended by the agent is told as cut off", () =>
    expect(
      openPhaseTrace().spanOfToolEvent(tool({ status: "cancelled" }), "2026-01-01T00:00:00.000Z"),
    ).toMatchObject({
      status: "skipped",
    }));

  test.each([
    ["long", "x".repeat(5_000)],
    ["of characters outside the basic plane", "😀".repeat(300)],
    ["with lines and escapes in it", "a\nb\u001b[31mc\u0000"],
  ])("a summary that is %s is cut at 200 characters, on one line", (_, title) => {
    const span = openPhaseTrace().spanOfToolEvent(
      tool({ title, status: "completed" }),
      "2026-01-01T00:00:00.000Z",
    );
    expect(v.safeParse(TraceSpan, span).issues).toBeUndefined();
    expect(span?.input_summary.length).toBeLessThanOrEqual(200);
    // eslint-disable-next-line no-control-regex
    expect(span?.input_summary).not.toMatch(/[\n\u001b\u0000]|[\uD800-\uDBFF]$/);
  });

  test("a flood of calls is bounded, and the step's end says how many were not kept", () => {
    const trace = openPhaseTrace();
    const [begin, end] = journal(begun("do", 1, "1@1/execute#1/03-01"), {
      event: "step_completed",
      attempt: "1@1/execute#1/03-01@1/do#1",
      facts: {},
    });
    if (begin === undefined || end === undefined) throw new Error("two entries were made");
    trace.spansOfEntry(begin);
    let kept = 0;

    for (let n = 0; n < 2_100; n++) {
      if (
        trace.spanOfToolEvent(
          tool({ call: `t${n}`, status: "completed" }),
          "2026-01-01T00:00:00.000Z",
        ) !== null
      ) {
        kept++;
      }
    }

    expect(kept).toBe(2_000);
    expect(trace.spansOfEntry(end)[0]?.output_summary).toBe(
      "passed; 100 further tool calls not kept",
    );
  });

  test("what happens before and after the roadmap's phases has no trace", () =>
    expect(
      openPhaseTrace().spanOfToolEvent(
        tool({ attempt: "after.self_audit@1/audit#1", status: "completed" }),
        "2026-01-01T00:00:00.000Z",
      ),
    ).toBeNull());
});
