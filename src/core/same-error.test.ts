import { expect, test } from "vitest";
import type { Flow } from "../contracts/flow.ts";
import { begun, sha, type Tape, turnEnded, usage } from "../../test/simulation/support/tape.ts";

/** Work, a check that sends it back, and a person-free end when the ways back are used up. */
const flow = (fixes: number): Flow => ({
  flow: "tried",
  version: 1,
  counts: {
    fix: {
      at_most: fixes,
      per: "phase",
      retry: true,
      spent: { end: "failed", because: "criterion_failed" },
    },
  },
  when_phase_fails: [{ finish: "phase_failed" }],
  phases: { read: "some", needs: "completed" },
  steps: [
    { id: "work", agent: "worker", prompt: "w.md" },
    {
      id: "checks",
      check: ["criteria"],
      otherwise: [{ go: "fix", count: "fix" }],
      then: [{ end: "completed" }],
    },
    { id: "fix", agent: "worker", prompt: "w.md", then: [{ go: "checks" }] },
  ],
});

/**
 * Agents always commit something new and pass; checks fail with the error that `fails` names, or
 * pass. Ends at the next breaker or rest.
 */
function walk(
  tape: Tape,
  fails: (nth: number) => string | null,
): { readonly failures: number; readonly opened: string | null } {
  let failures = 0;
  for (let n = 0; n < 200; n++) {
    const { next } = tape;
    if (next.do === "rest" || next.do === "wait") return { failures, opened: null };
    if (next.do === "record") {
      if (next.event.event === "circuit_breaker_opened") {
        return { failures, opened: next.event.because };
      }

      tape.append(next.event);
      continue;
    }

    if (next.do !== "attempt") throw new Error(next.do);
    const { attempt, kind } = next.event;
    tape.append(next.event);

    if (kind === "agent") {
      const commit = {
        commit: sha(n + 2),
        parent: sha(1),
        tree: sha(n + 2),
        paths: [`f${n}`],
        not_applied: 0,
      };

      tape.append(turnEnded(attempt, usage(1)), { event: "changes_applied", attempt, ...commit });
      tape.append({
        event: "step_completed",
        attempt,
        facts: {},
        progress: true,
        tree: sha(n + 2),
      });

      continue;
    }

    const fingerprint = fails(failures + 1);
    if (fingerprint === null) {
      tape.append({ event: "step_completed", attempt, facts: {} });
    } else {
      failures++;
      tape.append({
        event: "step_failed",
        attempt,
        facts: {},
        fingerprint,
        reason_code: "criterion_failed",
      });
    }
  }

  throw new Error("it does not end");
}
const twoPhases = (fixes: number): Tape =>
  begun(flow(fixes), { run: { retries: 100 } }).append({
    event: "phases_read",
    phases: ["1", "2"].map((id) => ({ id, after: [] })),
  });

test("equal failures count whatever was committed between them, and the fifth opens the breaker", () => {
  const tape = twoPhases(50);
  expect(walk(tape, () => "the same")).toEqual({ failures: 5, opened: "same_error" });
  expect(tape.run.breaker).toMatchObject({ same: 5, last_error: "the same", no_progress: 0 });
});

test("another failure in between begins the count anew", () => {
  const tape = twoPhases(50);
  expect(
    walk(tape, (nth) => (nth > 20 ? "the last" : nth % 4 === 0 ? "another" : "the same")),
  ).toEqual({
    failures: 25,
    opened: "same_error",
  });
});

test("the error is over when the step that failed passes", () => {
  const tape = twoPhases(50);
  expect(walk(tape, (nth) => (nth > 4 ? null : "the same"))).toEqual({ failures: 4, opened: null });
  expect(tape.run.breaker).toMatchObject({ same: 0, last_error: null });
});

test("a phase that gives up is not kept from it, and the next one begins; the same error in it soon opens the breaker", () => {
  const tape = twoPhases(4);
  const { failures, opened } = walk(tape, () => "the same");
  expect(tape.run.phases.map(({ status }) => status)).toEqual(["failed", "open"]);
  expect({ failures, opened }).toEqual({ failures: 9, opened: "same_error" }); // five in the first, which count as one; four more
});
