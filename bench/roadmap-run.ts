// roadmap-run: the journal of a long roadmap, half of it walked: a phase leaves some thirty lines
// behind.

import type { Draft } from "../src/contracts/event.ts";
import type { Flow, Step } from "../src/contracts/flow.ts";
import { beginningOf, zeros } from "./draft.ts";

const turns = ["research", "plan", "plan_check", "execute", "verify", "judge"] as const;
const steps: Step[] = [
  { id: "preflight", run: "preflight" },
  ...turns.map((id) => ({ id, agent: id, prompt: "work.md" })),
  { id: "checks", check: ["criteria"] },
];
const flow: Flow = {
  flow: "bench",
  version: 1,
  phases: { read: "bench", order: "dependencies", needs: "completed" },
  steps,
};

export function drafted(run: string, phases: number): Draft[] {
  return [
    ...beginningOf({ run_id: run, flow }),
    {
      event: "phases_read",
      phases: Array.from({ length: phases }, (_, at) => ({
        id: String(at + 1),
        name: `Part ${at + 1} of the whole`,
        after: at === 0 ? [] : [String(at)],
        about: `Part ${at + 1} is there and holds. ${"It is told at some length. ".repeat(20)}`,
        checks: [1, 2, 3, 4].map((n) => checkOf(String(at + 1), n)),
      })),
    },
    { event: "artifacts_surveyed", gone: [], proved: [] },
  ];
}

const checkOf = (phase: string, n: number) => ({
  id: `criterion:${phase}.${n}`,
  kind: "criterion" as const,
  title: `part ${n} of phase ${phase} works`,
  command: `npm test -- part-${phase}-${n}`,
  source: "roadmap",
});

export function phaseDrafts(id: string): Draft[] {
  const results = [1, 2, 3, 4].map((n) => ({
    check: checkOf(id, n),
    status: "passed" as const,
    exit_code: 0,
    duration_ms: 100,
    evidence: zeros.hash,
    oracle: "unchanged" as const,
  }));

  const run = (step: string, kind: "run" | "check"): Draft[] => {
    const attempt = `${id}@1/${step}#1`;
    return [
      { event: "step_started", walk: id, step, attempt, kind, try: 1 },
      {
        event: "step_completed",
        attempt,
        facts: { ok: true },
        ...(kind === "check" ? { checks: results } : {}),
      },
    ];
  };

  const turn = (step: string): Draft[] => {
    const attempt = `${id}@1/${step}#1`;
    return [
      { event: "step_started", walk: id, step, attempt, kind: "agent", try: 1 },
      { event: "session_opened", attempt, session: `session-${id}-${step}`, agent: "scripted" },
      {
        event: "turn_ended",
        attempt,
        agent: "scripted",
        stop: "end_turn",
        says: { alignment_score: 8 },
        said: "It is done, as far as can be told. ".repeat(5),
        promised: false,
        announced_more: false,
        confidence: null,
        usage: { tokens: 10_000, calls: 4, minutes: 1, source: "reported" },
      },
      { event: "step_completed", attempt, facts: { changed: true }, progress: true },
    ];
  };

  return [
    { event: "phase_started", walk: id },
    ...run("preflight", "run"),
    ...turns.flatMap(turn),
    ...run("checks", "check"),
    { event: "phase_completed", walk: id },
  ];
}
