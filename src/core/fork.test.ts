// A fork takes over lines and no bill, at every line of a run where it can be made.

import { describe, expect, test } from "vitest";
import type { Draft } from "../contracts/event.ts";
import { live } from "../../test/simulation/support/scenarios.ts";
import { stories } from "../../test/simulation/support/stories.ts";
import { begun, hash, sha, Tape, turnEnded, usage } from "../../test/simulation/support/tape.ts";
import {
  findForkPointBefore,
  copyInheritedLines,
  findNewestForkPoint,
  findPaidOpens,
  foldUntil,
  whyNotForkable,
  extendToPaidTurn,
} from "./fork.ts";
import { decide } from "./decide.ts";
import type { RunView } from "./state.ts";

const other = "run-2026-01-01-000001";
const forked = (at: number, more: object = {}): Draft => ({
  event: "run_forked",
  run: "run-2026-01-01-000000",
  at,
  line: hash,
  taken: { tokens: 0, calls: 0, minutes: 0, usd: 0 },
  largest: {},
  ...more,
});

const seqOf = ({ entries }: Tape): number => entries.at(-1)?.seq ?? 0;

function stood(tape: Tape, at: number): RunView {
  const state = foldUntil(tape.entries, at);
  if (state === null) throw new Error("not drafted yet");
  return state;
}

function forkOf(tape: Tape, at: number, more: object = {}): Tape {
  return new Tape().append(...copyInheritedLines(tape.entries, at, other), forked(at, more));
}

describe("every line of whole runs", () => {
  const linesMax = 15;
  for (const [name, story] of Object.entries(stories)) {
    test(`${name}: the fork stands where the run stood, owes nothing and knows what to do next`, () => {
      const { tape } = live(story);
      const stride = Math.max(1, Math.ceil(tape.entries.length / linesMax));
      let forks = 0;

      for (let at = 0; at < tape.entries.length; at += stride) {
        const was = foldUntil(tape.entries, at);
        if (was === null || whyNotForkable(was) !== null) continue;
        forks++;
        const { run } = forkOf(tape, at);
        expect(run.drafted.run_id).toBe(other);
        expect(run.phases).toEqual(was.phases);
        expect(run.tip).toEqual(was.tip);
        expect(Object.keys(run.open)).toEqual(Object.keys(was.open));
        expect(run.ledger.run).toMatchObject({ tokens: 0, calls: 0, usd: 0 });
        expect(Object.values(run.open).map(({ session }) => session)).toEqual(
          Object.keys(run.open).map(() => null),
        );

        expect(run.origins).toMatchObject([
          { run: "run-2026-01-01-000000", at, tip: was.tip.commit },
        ]);

        const next = decide(run);
        if (run.status === "running") expect(next.do, `line ${at}`).not.toBe("rest");
      }

      expect(forks).toBeGreaterThan(0);
    });
  }
});

describe("where a run can be forked", () => {
  const flow = {
    flow: "one",
    version: 1,
    phases: [{ id: "1", steps: [{ id: "work", agent: "worker", prompt: "w.md" }] }],
  } as const;

  const attempt = "1@1/work#1";
  const work: Draft = {
    event: "step_started",
    walk: "1",
    step: "work",
    attempt,
    kind: "agent",
    try: 1,
    need: usage(10),
  };

  const applied: Draft = {
    event: "changes_applied",
    attempt,
    commit: sha(2),
    parent: sha(1),
    tree: sha(2),
    paths: ["a"],
    not_applied: 0,
  };

  const begin = (): Tape =>
    begun(structuredClone(flow) as never).append({ event: "phase_started", walk: "1" }, work);

  test("not before it started, and not where it is over: then one line before its end", () => {
    const tape = begin().append(turnEnded(attempt, usage(7)), applied, {
      event: "step_completed",
      attempt,
      facts: {},
    });
    tape.append({ event: "phase_completed", walk: "1" });

    const done = tape.append({
      event: "run_completed",
      from_state: "running",
      to_state: "completed",
      verdict: "unverified",
      gaps: [],
    });
    const last = seqOf(done);
    expect(whyNotForkable(stood(done, 0))).toMatch(/had not started/);
    expect(whyNotForkable(stood(done, last))).toMatch(/completed there/);
    expect(findNewestForkPoint(done.entries)).toBe(last - 1);

    // What is told of it after its end changes nothing.
    const at = {
      tool: "gh",
      host: "github.com",
      project: "acme/shop",
      remote: "origin",
      branch: "autopilot/run",
      into: "main",
    } as const;

    done.append({ event: "pull_request_intended", ...at, commit: sha(2), draft: false });
    expect(findNewestForkPoint(done.entries)).toBe(last - 1);
  });

  test("inside a paid turn it is forked after its commit; where that never came, the line before the turn is offered", () => {
    const tape = begin().append(
      { event: "session_opened", attempt, session: "s", agent: "a" },
      turnEnded(attempt, usage(7)),
    );
    const at = seqOf(tape);
    expect(findPaidOpens(stood(tape, at))).toHaveLength(1);
    expect(extendToPaidTurn(tape.entries, at)).toBe(at);
    expect(findForkPointBefore(tape.entries, at)).toBe(at - 1);
    tape.append(applied);
    expect(extendToPaidTurn(tape.entries, at)).toBe(at + 1);
    const { run } = forkOf(tape, at + 1);
    expect(run.open[attempt]).toMatchObject({ stage: "applied", commit: sha(2), session: null });
  });

  test("another agent, prompt or limit holds from the fork on, and a new agent has had no turn", () => {
    const tape = begin().append(turnEnded(attempt, usage(7)), applied, {
      event: "step_failed",
      attempt,
      facts: {},
      fingerprint: "x",
    });

    const cast = { worker: { agent: "other" } };
    const { run } = forkOf(tape, seqOf(tape), {
      cast,
      prompts: { "w.md": hash },
      limits: { run: { tokens: 5 }, phase: { tokens: 3 } },
    });
    expect(run.drafted).toMatchObject({ cast, prompts: { "w.md": hash } });
    expect(run.limits).toMatchObject({ run: { tokens: 5 }, phase: { tokens: 3 } });
    expect(tape.run.turns).toHaveLength(1);
    expect(run.turns).toHaveLength(0);
  });
});
