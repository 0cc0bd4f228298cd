import { expect, test } from "vitest";
import type { FailureLearning } from "../insight/learnings.ts";
import { renderLearningsFor } from "./roadmap-learnings.ts";

const learning = (phase: string, recheck: string | null): FailureLearning => ({
  kind: "failure",
  phase_id: phase,
  phase_name: `Phase ${phase}`,
  category: "acceptance_criteria_unmet",
  prevention_rule: `rule of ${phase}`,
  provenance: {
    run_id: "run-2026-01-01-000000",
    recorded_at: "2026-01-01T00:00:00.000Z",
    source: `phase-${phase}-postmortem.json`,
  },
  recheck,
});
const learnings = [
  learning("1", null),
  learning("2", "! (\ntest -f a\n)"),
  learning("3", "! (\ntest -f b\n)"),
];

test("an entry whose re-check no longer holds is not shown; one that cannot be decided is", async () => {
  const text = await renderLearningsFor("planner", learnings, (command) =>
    Promise.resolve(command.includes("test -f a") ? false : null),
  );
  expect(text).toContain("rule of 1");
  expect(text).not.toContain("rule of 2");
  expect(text).toContain("rule of 3");
  expect(text.indexOf("rule of 3")).toBeLessThan(text.indexOf("rule of 1"));
});
test("for other roles no command is run and nothing is told", async () => {
  let ran = 0;
  const holds = (): Promise<boolean> => Promise.resolve(ran++ > 0);

  for (const role of ["verifier", "judge", "researcher", "debugger"]) {
    expect(await renderLearningsFor(role, learnings, holds)).toBe("");
  }

  expect(ran).toBe(0);
});
test("the number of commands is bounded, the newest first", async () => {
  const ran: string[] = [];
  const many = Array.from({ length: 40 }, (_, n) => learning(String(n), `check ${n}`));
  await renderLearningsFor("executor", many, (command) => {
    ran.push(command);
    return Promise.resolve(true);
  });

  expect(ran).toHaveLength(12);
  expect(ran[0]).toBe("check 39");
});
