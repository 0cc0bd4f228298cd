import { expect, test } from "vitest";
import type { Run } from "../../core/state.ts";
import { checked, drafted, runView } from "../../views/run-view.test-support.ts";
import { listExtraRequirements } from "./land-on-hub.ts";
import { handedBack, decideOrderEnd, restsForPerson } from "./order-end.ts";

const paused = (reason: string, more: Partial<Run> = {}): Run =>
  runView({ status: "paused", reason, detail: null, ...more });

test("a person's pause outlives the worker; a worker's own is gone on with by the next one", () => {
  const byPerson = paused("operator_paused");
  const byWorker = paused("operator_paused", { detail: handedBack });
  expect([restsForPerson(byPerson), restsForPerson(byWorker)]).toEqual([true, false]);
  // Also where the worker is asked to end at the same time.
  expect(decideOrderEnd(byPerson, null, true)).toEqual({
    kind: "ended",
    outcome: "rests: paused on request",
  });

  expect(decideOrderEnd(byWorker, null, true)).toEqual({
    kind: "again",
    afterMs: 0,
    because: handedBack,
  });
});

test("a pause that had not come about when its worker died rests too; one of the worker's, or none, does not", () => {
  const asked = (asker: Run["asker"]): Run => runView({ status: "running", asked: "pause", asker });
  const byPerson = asked({ actor: "operator:kim" });
  expect(restsForPerson(byPerson)).toBe(true);
  expect(decideOrderEnd(byPerson, null, true).kind).toBe("ended");

  for (const run of [
    asked({ actor: "operator:kim", detail: handedBack }),
    runView({ status: "running" }),
  ]) {
    expect(restsForPerson(run)).toBe(false);
    expect(decideOrderEnd(run, null, true)).toMatchObject({ kind: "again" });
  }
});

test("what failed or came to a boundary waits for a person; what was answered or time fixes does not", () => {
  for (const reason of [
    "phase_failed",
    "boundary_reached",
    "budget_exhausted",
    "human_block_open",
  ]) {
    expect(restsForPerson(paused(reason)), reason).toBe(true);
  }

  for (const run of [
    paused("hub_unreachable"),
    paused("disk_full"),
    paused("human_block_open", { decided: true }),
  ]) {
    expect(restsForPerson(run), run.reason ?? "").toBe(false);
  }
});

test("why a run could not be gone on with is in the outcome", () => {
  const refused = { result: "FAIL", message: "No agent is installed." } as const;
  expect(decideOrderEnd(runView({ status: "running" }), refused)).toEqual({
    kind: "ended",
    outcome: "failed: No agent is installed.",
  });

  expect(decideOrderEnd(paused("boundary_reached"), refused)).toEqual({
    kind: "ended",
    outcome: "rests: No agent is installed.",
  });
});

test("on a new tip hold-outs and red-green checks count too, and what was red before and still is does not", () => {
  const check = (id: string, kind: "criterion" | "holdout" | "project" | "red_green") =>
    ({ id, kind, title: id, command: id, source: "objective" }) as const;
  const { extraChecks, failingBefore } = listExtraRequirements({
    drafted: drafted({
      checks: [
        check("c", "criterion"),
        check("r", "red_green"),
        check("h", "holdout"),
        check("p", "project"),
      ],
    }),
    checks: {
      green: checked("green", "npm test", "project", "passed", "passed"),
      red: checked("red", "npm run lint", "project", "failed", "failed"),
      fixed: checked("fixed", "npm run build", "project", "failed", "passed"),
      late: { ...checked("late", "make", "project", "failed", "failed"), isLate: true },
    },
  } as unknown as Parameters<typeof listExtraRequirements>[0]);
  expect(extraChecks.map(({ id }) => id)).toEqual(["r", "h"]);
  expect([...failingBefore]).toEqual(["npm run lint"]);
});
