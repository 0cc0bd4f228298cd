// Given events, the next thing.

import { describe, expect, test } from "vitest";
import type { Draft } from "../contracts/event.ts";
import type { Step } from "../contracts/flow.ts";
import {
  begun,
  check,
  hash,
  opened,
  result,
  runDrafted,
  started,
  Tape,
} from "../../test/simulation/support/tape.ts";
import {
  steps,
  flow,
  flowWith,
  phase,
  began,
  turned,
  passed,
  failed,
  planned,
  worked,
  looked,
} from "../../test/simulation/support/words.ts";
import { decide } from "./decide.ts";

const given = (...drafts: readonly Draft[]) => {
  const tape = begun(flow).append(...drafts);
  return { next: (expected: object): void => expect(tape.next).toMatchObject(expected) };
};
const record = (event: object) => ({ do: "record", event });

describe("before it runs", () => {
  test("nobody has drafted it", () =>
    expect(decide({ status: "unborn" })).toEqual({ do: "rest", why: "run_missing" }));
  test("the preview is not acknowledged", () =>
    expect(new Tape().append(runDrafted(flow)).next).toEqual({
      do: "rest",
      why: "dry_run_required_before_execute",
    }));

  test("it is", () =>
    expect(
      new Tape().append(runDrafted(flow), { event: "preview_acknowledged", ack: hash }).next,
    ).toEqual({
      do: "rest",
      why: "ack_recorded",
    }));

  test("opened: it looks at the artifacts first", () =>
    expect(new Tape().append(runDrafted(flow), started, opened()).next).toEqual({ do: "survey" }));
  test("its phases are read from documents", () =>
    expect(begun(flowWith({ phases: { read: "roadmap" }, steps })).next).toEqual({
      do: "read",
      reader: "roadmap",
    }));
});

describe("one phase", () => {
  test("it begins", () => given().next(record({ event: "phase_started", walk: "1" })));
  test("with its first step", () =>
    given(phase).next({
      do: "attempt",
      event: { step: "plan", attempt: "1@1/plan#1", kind: "run", try: 1 },
    }));

  test("an action is under way", () => given(phase, began("plan", 1, "run")).next({ do: "wait" }));
  test("an agent's turn says what it may need", () =>
    given(...planned).next({
      do: "attempt",
      event: {
        step: "work",
        kind: "agent",
        need: { tokens: 15_000, calls: 1, source: "estimated" },
      },
    }));

  test("a failed attempt is tried again", () =>
    given(...planned, began("work", 1, "agent"), turned("work", 1), failed("work", 1)).next(
      record({ event: "step_retried", step: "work", n: 1 }),
    ));

  test("and has another number then", () =>
    given(...planned, began("work", 1, "agent"), turned("work", 1), failed("work", 1), {
      event: "step_retried",
      walk: "1",
      step: "work",
      n: 1,
    }).next({ do: "attempt", event: { attempt: "1@1/work#2" } }));

  test("an attempt that was called off keeps its number, and has one more try", () =>
    given(...planned, began("work", 1, "agent"), {
      event: "step_interrupted",
      attempt: "1@1/work#1",
      by: "operator",
    }).next({
      do: "attempt",
      event: { attempt: "1@1/work#1", try: 2 },
    }));

  test("a red check goes back, counted", () =>
    given(...worked, ...looked(1)).next(
      record({
        event: "route_taken",
        step: "look",
        to: "work",
        count: "round",
        per: "phase",
        retry: true,
      }),
    ));

  test("a spent count says what then", () =>
    given(
      ...worked,
      ...looked(1),
      {
        event: "route_taken",
        walk: "1",
        step: "look",
        to: "work",
        count: "round",
        per: "phase",
        retry: true,
      },
      began("work", 2, "agent"),
      turned("work", 2),
      passed("work", 2),
      ...looked(2),
    ).next(record({ event: "phase_failed", walk: "1", because: "proof_missing" })));

  test("a green check ends it", () =>
    given(...worked, began("look", 1, "check"), passed("look", 1)).next(
      record({ event: "phase_completed", walk: "1" }),
    ));

  test("a failed step that no row speaks of fails its phase", () =>
    given(phase, began("plan", 1, "run"), failed("plan", 1)).next(
      record({ event: "phase_failed", because: "proof_missing" }),
    ));

  test("also where the rows of the house speak of other failures", () => {
    const picky = flowWith({
      when_step_fails: [{ when: { "plan.code": 7 }, pause: "agent_failed", again: true }],
    });
    expect(
      begun(picky).append(phase, began("plan", 1, "run"), failed("plan", 1)).next,
    ).toMatchObject(record({ event: "phase_failed" }));
  });
});

describe("the end", () => {
  const done = [
    ...worked,
    began("look", 1, "check"),
    passed("look", 1),
    { event: "phase_completed", walk: "1" } as Draft,
  ];

  const ends = (more: Draft[], event: object): void =>
    given(...more).next(
      record({ event: "run_completed", from_state: "running", to_state: "completed", ...event }),
    );
  test("nothing runnable was proved", () =>
    ends(done, { verdict: "unverified", gaps: [], reason_code: "completion_unverified" }));
  test("the runner's own verdict stands", () => {
    const judged = passed("look", 1, {
      verdict: "verified_with_gaps",
      gaps: "c1: no command; c2: no command",
    });
    ends([...worked, began("look", 1, "check"), judged, { event: "phase_completed", walk: "1" }], {
      verdict: "verified_with_gaps",
      gaps: ["c1: no command", "c2: no command"],
      reason_code: "completion_with_gaps",
    });
  });

  test("every criterion that can be run passes", () => {
    const green = { ...passed("look", 1), checks: [result(check("c1"), "passed")] } as Draft;
    ends([...worked, began("look", 1, "check"), green, { event: "phase_completed", walk: "1" }], {
      verdict: "verified",
      reason_code: "completion_verified",
    });
  });

  test("a phase failed: shown once, then never completed", () => {
    const tape = begun(flow).append(phase, began("plan", 1, "run"), failed("plan", 1), {
      event: "phase_failed",
      walk: "1",
    });

    for (let n = 0; n < 3; n++) {
      expect(tape.next).toMatchObject(
        record({ event: "run_paused", reason_code: "phase_failed", phase: "1" }),
      );

      if (tape.next.do === "record") {
        tape.append(tape.next.event, {
          event: "run_resumed",
          request: `r${n}`,
          from_state: "paused",
          to_state: "running",
        });
      }
    }
  });

  test("but what comes after the phases is run once, so that failures are reckoned with", () => {
    const tape = begun(
      flowWith({ after: [{ id: "sum", steps: [{ id: "up", run: "up" }] }] }),
    ).append(phase, began("plan", 1, "run"), failed("plan", 1), {
      event: "phase_failed",
      walk: "1",
    });
    tape.append(
      { event: "run_paused", from_state: "running", to_state: "paused", phase: "1" },
      { event: "run_resumed", request: "r", from_state: "paused", to_state: "running" },
    );

    expect(tape.next).toMatchObject(record({ event: "phase_started", walk: "after.sum" }));
  });

  test("what must hold before the phases and did not, blocks them", () => {
    const tape = begun(flowWith({ before: [{ id: "docs", steps: [{ id: "plan", run: "p" }] }] }));
    tape.append(
      { event: "phase_started", walk: "before.docs" },
      {
        event: "step_started",
        walk: "before.docs",
        step: "plan",
        attempt: "before.docs@1/plan#1",
        kind: "run",
        try: 1,
      },
    );

    tape.append(
      { event: "step_failed", attempt: "before.docs@1/plan#1", facts: {}, fingerprint: "x" },
      { event: "phase_failed", walk: "before.docs" },
    );

    tape.append(
      { event: "run_paused", from_state: "running", to_state: "paused", phase: "before.docs" },
      { event: "run_resumed", request: "r", from_state: "paused", to_state: "running" },
    );

    expect(tape.next).toMatchObject(
      record({ event: "phase_skipped", walk: "1", because: "blocked_by_phase_before.docs" }),
    );
  });

  test("a flow may stop where a phase fails", () => {
    const tape = begun(flowWith({ when_phase_fails: [{ stop: "missing_docs" }] })).append(
      phase,
      began("plan", 1, "run"),
      failed("plan", 1),
      {
        event: "phase_failed",
        walk: "1",
      },
    );
    expect(tape.next).toMatchObject(record({ event: "run_stopped", reason_code: "missing_docs" }));
  });

  test("closing steps follow a completed phase, and are part of it", () => {
    const tape = begun(flowWith({ closing: [{ id: "land", run: "land" }] })).append(...done);
    expect(tape.next).toMatchObject({
      do: "attempt",
      event: { walk: "1/closing", attempt: "1/closing@1/land#1" },
    });

    if (tape.next.do === "attempt") {
      tape.append(tape.next.event, {
        event: "step_failed",
        attempt: "1/closing@1/land#1",
        facts: {},
        fingerprint: "x",
        reason_code: "merge_conflict",
      });
    }

    expect(tape.next).toMatchObject(record({ event: "closing_failed", because: "merge_conflict" }));
    if (tape.next.do === "record") tape.append(tape.next.event);
    expect(tape.next).toMatchObject(record({ event: "run_paused", reason_code: "phase_failed" }));
  });
});

describe("people", () => {
  const human: Step = {
    id: "agree",
    human: {
      question: "Go on?",
      options: { A: "go on", B: "stop" },
      recommend: "A",
      show: ["plan"],
    },
    then: [{ when: { "agree.answer": "B" }, stop: "operator_stopped" }],
  };

  const asking = flowWith({ phases: [{ id: "1", steps: [human, ...steps] }] });
  const block = "block:1@1/agree#1";

  const answered = (answer: string): Draft => ({
    event: "block_answered",
    request: answer,
    block,
    answer,
  });

  const asked = (): Tape => {
    const tape = begun(asking).append(phase);
    return tape.next.do === "record" ? tape.append(tape.next.event) : tape;
  };

  test("a human step asks", () =>
    expect(begun(asking).append(phase).next).toMatchObject(
      record({
        event: "block_opened",
        block,
        hold: true,
        question: "Go on?",
        options: { A: "go on", B: "stop" },
        recommend: "A",
        show: ["plan"],
      }),
    ));

  test("and the run waits for the answer, paused", () =>
    expect(asked().next).toMatchObject(
      record({ event: "run_paused", reason_code: "human_block_open" }),
    ));

  test("A goes on", () =>
    expect(asked().append(answered("A")).next).toMatchObject({
      do: "attempt",
      event: { step: "plan" },
    }));

  test("B stops", () =>
    expect(asked().append(answered("B")).next).toMatchObject(
      record({ event: "run_stopped", reason_code: "operator_stopped" }),
    ));

  test("what is no answer leaves the question open", () =>
    expect(asked().append(answered("Z")).next).toMatchObject(
      record({ event: "run_paused", reason_code: "human_block_open" }),
    ));

  test("an option of the run may answer", () => {
    const preset = flowWith({
      options: { yes: { type: "flag" } },
      phases: [
        {
          id: "1",
          steps: [
            {
              ...human,
              human: {
                ...human.human,
                question: "?",
                preset: [{ when: { "option.yes": true }, answer: "A" }],
              },
            },
          ],
        },
      ],
    });
    const tape = begun(preset, { options: { yes: true } }).append(phase);
    if (tape.next.do === "record") tape.append(tape.next.event);
    expect(tape.next).toMatchObject(record({ event: "block_answered", answer: "A" }));
  });

  test("the house asks what to do with a failed step, and does it", () => {
    const house = flowWith({
      when_step_fails: [{ ask: { A: "again", B: "skip", C: "stop" }, recommend: "A" }],
    });
    const tape = begun(house).append(phase, began("plan", 1, "run"), failed("plan", 1));
    expect(tape.next).toMatchObject(
      record({
        event: "block_opened",
        house: true,
        recommend: "A",
        options: { A: "again", B: "skip", C: "stop" },
      }),
    );

    const replies = {
      A: { event: "step_retried", reset: true },
      B: { event: "step_skipped", step: "plan" },
      C: { event: "run_stopped" },
    };
    for (const [answer, event] of Object.entries(replies)) {
      const again = new Tape(tape.entries);
      if (again.next.do === "record") again.append(again.next.event);
      again.append({ event: "block_answered", request: "r", block: "block:1@1/plan!1", answer });
      expect(again.next).toMatchObject(record(event));
    }
  });
});

describe("tests that the agent changed", () => {
  const content = "c".repeat(64);
  const refused = {
    path: "test/a.test.js",
    kind: "test",
    how: "weakened",
    detail: "It asserts less.",
    allowed: null,
  } as const;

  const givingUp = flowWith({ when_step_fails: [{ pause: "oracle_changed", again: true }] });
  const block = "block:1@1/plan!1";

  const asked = begun(givingUp).append(
    phase,
    began("plan", 1, "run"),
    {
      event: "oracles_judged",
      attempt: "1@1/plan#1",
      commit: "c".repeat(40),
      content,
      changes: [refused],
    },
    { ...failed("plan", 1), facts: { oracles: "changed" } } as Draft,
  );

  const after = (answer: string): Tape => {
    const tape = new Tape(asked.entries);
    if (tape.next.do === "record") tape.append(tape.next.event);
    return tape.append({
      event: "block_answered",
      request: "r",
      block,
      answer,
      actor: "operator:ada",
    });
  };

  test("a person is asked before the flow gives up", () =>
    expect(asked.next).toMatchObject(
      record({
        event: "block_opened",
        block,
        code: "oracle_changed",
        tests: { content, paths: ["test/a.test.js"] },
      }),
    ));

  test("put back: the step is tried again after that", () =>
    expect(after("back").next).toMatchObject(
      record({ event: "step_retried", put_back: true, actor: "operator:ada" }),
    ));

  test("accepted: exactly this content is approved, by that person, then the step is tried again", () => {
    const tape = after("keep");
    expect(tape.next).toMatchObject(
      record({ event: "oracles_approved", content, actor: "operator:ada" }),
    );

    if (tape.next.do === "record") tape.append(tape.next.event);
    expect(tape.next).toMatchObject(record({ event: "step_retried" }));
  });

  test("stopped: the run ends", () =>
    expect(after("stop").next).toMatchObject(record({ event: "run_stopped" })));
});

describe("pause, stop, crash", () => {
  const underWay = [...planned, began("work", 1, "agent")];
  const asked = (control: "pause" | "stop", now: boolean): Draft => ({
    event: "control_requested",
    request: control,
    control,
    now,
  });
  test("a pause lets the turn end", () =>
    given(...underWay, asked("pause", false)).next({ do: "wait" }));
  test("and then pauses", () =>
    given(...planned, asked("pause", false)).next(
      record({
        event: "run_paused",
        from_state: "running",
        to_state: "paused",
        reason_code: "operator_paused",
      }),
    ));

  test("a pause at once calls it off", () =>
    given(...underWay, asked("pause", true)).next({ do: "cancel", attempt: "1@1/work#1" }));
  test("what is paid for by then is kept, and settled later", () => {
    const tape = begun(flow).append(...underWay, turned("work", 1), asked("pause", true), {
      event: "step_interrupted",
      attempt: "1@1/work#1",
      by: "operator",
    });
    expect(tape.next).toMatchObject(record({ event: "run_paused" }));

    if (tape.next.do === "record") {
      tape.append(tape.next.event, {
        event: "run_resumed",
        request: "r",
        from_state: "paused",
        to_state: "running",
      });
    }

    expect(tape.next).toEqual({ do: "settle", attempt: "1@1/work#1" });
  });

  test("what a person asked for goes before the breaker and the budget", () => {
    const circling = (...drafts: readonly Draft[]): Tape =>
      begun(flow, { run: { tokens: 10, no_progress_max: 1 } }).append(
        ...underWay,
        turned("work", 1),
        { ...failed("work", 1), progress: false } as Draft,
        ...drafts,
      );
    expect(circling().next).toMatchObject(record({ event: "circuit_breaker_opened" }));
    expect(circling(asked("stop", true)).next).toMatchObject(
      record({ event: "run_stopped", reason_code: "operator_stopped" }),
    );

    const tape = circling(asked("pause", false));
    if (tape.next.do === "record") tape.append(tape.next.event);
    expect(tape.next).toMatchObject(
      record({ event: "run_paused", reason_code: "operator_paused" }),
    );
  });

  test("where the budget is used up and the breaker is open, the budget is told", () => {
    const tape = begun(flow, { run: { tokens: 10, no_progress_max: 1 } }).append(
      ...underWay,
      turned("work", 1),
      {
        ...failed("work", 1),
        progress: false,
      } as Draft,
    );
    if (tape.next.do === "record") tape.append(tape.next.event);
    expect(tape.next).toMatchObject(
      record({ event: "run_paused", reason_code: "budget_threshold_reached" }),
    );

    const rich = begun(flow, { run: { tokens: 1_000_000, no_progress_max: 1 } }).append(
      ...underWay,
      turned("work", 1),
      {
        ...failed("work", 1),
        progress: false,
      } as Draft,
    );
    if (rich.next.do === "record") rich.append(rich.next.event);
    expect(rich.next).toMatchObject(record({ event: "run_paused", reason_code: "breaker_open" }));
  });

  test("a stop calls everything off first", () =>
    given(...underWay, asked("stop", true)).next({ do: "cancel", attempt: "1@1/work#1" }));
  test("and then stops, from a pause too", () => {
    given(...planned, asked("stop", true)).next(
      record({
        event: "run_stopped",
        from_state: "running",
        to_state: "stopped",
        reason_code: "operator_stopped",
      }),
    );

    given(
      { event: "run_paused", from_state: "running", to_state: "paused" },
      asked("stop", true),
    ).next(record({ event: "run_stopped", from_state: "paused" }));
  });

  test("another opening finds it in doubt", () =>
    given(...underWay, opened(2)).next({ do: "settle", attempt: "1@1/work#1" }));
  test("an attempt that takes the runner down each time is asked about", () => {
    const doubt = {
      kind: "agent",
      stage: "started",
      layer: "dirty",
      done: false,
      proof: false,
      often: true,
    } as const;

    given(...underWay, opened(2), {
      event: "attempt_settled",
      attempt: "1@1/work#1",
      doubt,
      remedy: "ask",
      why: "often",
    }).next(record({ event: "run_paused", reason_code: "crash_loop" }));
  });

  test("a second violation of the scope pauses", () => {
    const violated: Draft = {
      event: "step_interrupted",
      attempt: "1@1/work#1",
      by: "scope",
      paths: ["/etc"],
      detail: "/etc",
    };
    const tape = begun(flow).append(...underWay, turned("work", 1), violated);
    expect(tape.run.violation).toEqual({ attempt: "1@1/work#1", paths: ["/etc"], detail: "/etc" });
    expect(tape.next).toMatchObject({ do: "attempt", event: { attempt: "1@1/work#1", try: 2 } });
    expect(tape.append(began("work", 1, "agent"), turned("work", 1), violated).next).toMatchObject(
      record({ event: "run_paused", reason_code: "scope_violation_blocked", detail: "/etc" }),
    );

    const reported: Draft = { ...violated, by: "secret", paths: ["a"], detail: "a holds T" };
    expect(
      tape.append(opened(2), began("work", 1, "agent"), turned("work", 1), reported).next,
    ).toMatchObject(
      record({ event: "run_paused", reason_code: "secret_in_changes", detail: "a holds T" }),
    );

    expect(tape.run.violation?.by).toBe("secret");
  });

  test("the provider's limit pauses", () =>
    given(...underWay, {
      event: "step_interrupted",
      attempt: "1@1/work#1",
      by: "provider",
      reason_code: "provider_limit_reached",
    }).next(record({ event: "run_paused", reason_code: "provider_limit_reached" })));
});
