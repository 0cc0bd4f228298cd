// A project whose state file shows a step failed with its retries used up: nothing is rewritten and
// nothing runs until a person has decided.

import { describe, expect, test } from "vitest";
import { autopilot, eventsOf, journal } from "../support/autopilot.ts";
import { scratch, write } from "../support/scratch-repository.ts";
import { longTest, sampled } from "../support/sampled.ts";
import {
  codeBase,
  commit,
  documented,
  draft,
  goStaged,
  greenfield,
  plan,
  problem,
  stateOf,
  stateText,
  turn,
} from "./project.ts";

const blocker = "Plan skill failed 3 consecutive times at sub_step 4: no database chosen";
const other = "the licence server is down on Friday";
const failedAt = (step: number, name: string, flow = "greenfield"): Record<string, string> => ({
  "_docs/_autopilot_state.md": `# Autopilot State

## Current Step
flow: ${flow}
step: ${step}
name: ${name}
status: failed
sub_step: 4 — Architecture Review
retry_count: 3

## Completed Steps

| Step | Name | Completed | Key Outcome |
|------|------|-----------|-------------|
| 1 | Problem | 2026-01-01 | written |

## Key Decisions
- Research decision: proceed to planning

## Last Session
date: 2026-01-03
ended_at: Step ${step} ${name}
reason: user paused
notes: three times the same

## Retry Log

| Attempt | Step | Name | SubStep | Failure Reason | Timestamp |
|---------|------|------|---------|----------------|-----------|
| 1 | ${step} | ${name} | 4 — Architecture Review | no database chosen | 2026-01-03T10:00:00Z |
| 2 | ${step} | ${name} | 4 — Architecture Review | no database chosen | 2026-01-03T10:10:00Z |
| 3 | ${step} | ${name} | 4 — Architecture Review | no database chosen | 2026-01-03T10:20:00Z |

## Blockers
- ${blocker}
- ${other}
`,
});
const blockOf = (folder: string): string =>
  String(eventsOf(folder, "block_opened").at(-1)?.["block"]);
const ran = (folder: string): readonly string[] =>
  journal(folder).flatMap(({ event, attempt, kind }) =>
    event === "step_started" && kind !== "run" ? [String(attempt)] : [],
  );

describe.concurrent("a step that failed for good before", () => {
  test("is asked about; a stop leaves the file byte for byte as it was, and the next run asks again", async () => {
    const folder = scratch();
    commit(folder, { ...problem, ...draft, ...failedAt(3, "Plan") });
    const before = stateText(folder);

    for (const round of [1, 2]) {
      const { json } = await goStaged(folder, "greenfield", greenfield);
      expect([round, json.state, json.reason_code]).toEqual([round, "paused", "phase_failed"]);
      expect(eventsOf(folder, "block_opened")[0]).toMatchObject({
        options: { A: expect.stringContaining("retry") as string },
      });

      expect(stateText(folder)).toBe(before);
      expect(ran(folder)).toEqual([]);
      expect(eventsOf(folder, "document_differed")).toEqual([]);
      await autopilot(folder, ["go", "--json"]); // taken up without an answer
      await autopilot(folder, ["stop", "--json"]);
      expect(stateText(folder)).toBe(before);
      expect(ran(folder)).toEqual([]);
    }
  });

  longTest(
    "stays failed, with its log and its blocker, when the answer is to stop; then it is asked about again",
    "test/staged/failed-before.test.ts › that is stopped there, by an answer or by a command, is not run again unasked",
    async () => {
      const folder = scratch();
      commit(folder, { ...problem, ...draft, ...failedAt(3, "Plan") });
      const before = stateOf(folder);
      await goStaged(folder, "greenfield", greenfield);

      const { json } = await autopilot(folder, [
        "answer",
        "--block",
        blockOf(folder),
        "C",
        "--json",
      ]);
      await autopilot(folder, ["resume", "--json"]);
      expect(json.result).toBe("PASS");
      expect(ran(folder)).toEqual([]);
      const { current, retry_log, blockers, completed } = stateOf(folder);
      expect({ current, retry_log, blockers, completed }).toEqual({
        current: before.current,
        retry_log: before.retry_log,
        blockers: before.blockers,
        completed: before.completed,
      });

      expect(stateOf(folder).decisions).toContain(
        "Plan: stop the run (after its retries were used up)",
      );

      expect((await goStaged(folder, "greenfield", greenfield)).json).toMatchObject({
        reason_code: "phase_failed",
      });

      expect(ran(folder)).toEqual([]);
    },
  );

  test("is begun anew when the answer is to retry; what of the file that changes was journaled before it was written", async () => {
    const folder = scratch();
    commit(folder, { ...problem, ...draft, ...failedAt(3, "Plan") });
    await goStaged(folder, "greenfield", greenfield);
    await autopilot(folder, ["answer", "--block", blockOf(folder), "A", "--json"]);
    await autopilot(folder, ["resume", "--json"]);
    expect(ran(folder)[0]).toBe("3@1/do#1");
    const differed = eventsOf(folder, "document_differed");
    expect(differed.map(({ field, because }) => `${String(field)}: ${String(because)}`)).toEqual([
      "Current Step: a person has decided what becomes of the failed step",
      "Retry Log: a person has decided what becomes of the failed step",
      "Blockers: a person has decided what becomes of the failed step",
    ]);

    expect(differed[0]).toMatchObject({
      found: "greenfield step 3 Plan, failed at 4 — Architecture Review, retry_count 3",
      kept: "greenfield step 3 Plan",
    });

    expect(differed[1]?.["found"]).toContain("no database chosen | 2026-01-03T10:20:00Z");
    expect(differed[2]).toMatchObject({ found: `- ${blocker}\n- ${other}`, kept: `- ${other}` });
    const answered = eventsOf(folder, "block_answered")[0]?.seq ?? Number.NaN;
    const began =
      eventsOf(folder, "phase_started").find(({ walk }) => walk === "3")?.seq ?? Number.NaN;
    for (const { seq } of differed) expect([seq > answered, seq < began]).toEqual([true, true]);
    expect(stateOf(folder).blockers).toEqual([other]);
    expect(stateOf(folder).completed.map(({ step }) => step)).toContain(3);
  });

  longTest(
    "a reset by hand in the file is the answer",
    "test/staged/edits.test.ts › answers what waits: the research decision on record, and a reset of the retries",
    async () => {
      const folder = scratch();
      commit(folder, { ...problem, ...draft, ...failedAt(3, "Plan") });
      await goStaged(folder, "greenfield", greenfield);
      write(folder, {
        "_docs/_autopilot_state.md": stateText(folder)
          .replace("status: failed", "status: not_started")
          .replace("retry_count: 3", "retry_count: 0"),
      });

      await autopilot(folder, ["go", "--json"]);
      expect(eventsOf(folder, "block_answered")[0]).toMatchObject({ answer: "A" });
      expect(ran(folder)[0]).toBe("3@1/do#1");
    },
  );

  longTest(
    "is asked about too where the folders stand before it or another flow is run, and not where they prove it done",
    "test/staged/failed-before.test.ts › is asked about; a stop leaves the file byte for byte as it was, and the next run asks again",
    async () => {
      const behind = scratch();
      commit(behind, { ...draft, ...failedAt(3, "Plan") });
      expect((await goStaged(behind, "greenfield", greenfield)).json).toMatchObject({
        reason_code: "phase_failed",
      });

      expect(ran(behind)).toEqual([]);

      const elsewhere = scratch({ files: codeBase });
      commit(elsewhere, { ...documented, ...failedAt(3, "Plan") });
      const before = stateText(elsewhere);
      expect((await goStaged(elsewhere, "existing-code", [])).json).toMatchObject({
        reason_code: "phase_failed",
      });

      expect([ran(elsewhere), stateText(elsewhere)]).toEqual([[], before]);

      const proved = scratch();
      commit(proved, { ...problem, ...draft, ...plan, ...failedAt(3, "Plan") });
      expect((await goStaged(proved, "greenfield", greenfield)).json).toMatchObject({
        reason_code: "session_boundary",
      });

      expect(eventsOf(proved, "document_differed")[0]).toMatchObject({
        field: "Current Step",
        kept: "greenfield step 4 UI Design",
        because: expect.stringContaining("is there, so step 3 is done") as string,
      });
    },
  );
});

describe.concurrent("a step that fails for good in a run", () => {
  test("that is stopped there, by an answer or by a command, is not run again unasked", async () => {
    const bad = {
      ...turn("3", { "_docs/01_solution/solution.md": "# Half\n\nOnly half of what is wanted.\n" }),
      repeat: 0,
    };

    for (const args of sampled(1, [["answer", "C"], ["stop"]])) {
      const folder = scratch();
      commit(folder, { ...problem, ...draft });

      const turns = [
        bad,
        ...greenfield.filter(
          (candidate) => JSON.stringify(candidate.when) !== '{"phase":"3","step":"do"}',
        ),
      ];
      await goStaged(folder, "greenfield", turns, ["--option", "research=decided"]);
      expect(stateOf(folder).current).toMatchObject({ step: 3, status: "failed", retry_count: 3 });
      await autopilot(folder, [...args, "--json"]);
      await autopilot(folder, ["go", "--json"]);
      const after = stateOf(folder);
      expect([
        args,
        after.current?.status,
        after.current?.retry_count,
        after.blockers.length,
      ]).toEqual([args, "failed", 3, 1]);

      expect(after.retry_log).toHaveLength(3);
      const { json } = await goStaged(folder, "greenfield", greenfield, [
        "--option",
        "research=decided",
      ]);
      expect([args, json.reason_code]).toEqual([args, "phase_failed"]);
      expect(ran(folder)).toEqual([]);
    }
  });
});
