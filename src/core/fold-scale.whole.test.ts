import { expect, test } from "vitest";
import type { Entry } from "../contracts/event.ts";
import { flowNamed } from "../../test/simulation/support/flows.ts";
import { begun, entryOf, sha, turnEnded, usage } from "../../test/simulation/support/tape.ts";
import { openFold } from "./fold.ts";
import type { Run } from "./state.ts";

const container = "1@1/execute#1";

/** A phase of so many tasks, each begun, paid, applied and proved. */
function entriesOf(tasks: number): Entry[] {
  const ids = Array.from({ length: tasks }, (_, n) => `t${n}`);
  const waves: string[][] = [];
  for (let n = 0; n < tasks; n += 4) waves.push(ids.slice(n, n + 4));

  const tape = begun(flowNamed("roadmap")).append(
    { event: "phases_read", phases: [{ id: "1", after: [] }] },
    { event: "phase_started", walk: "1" },
    {
      event: "step_started",
      walk: "1",
      step: "execute",
      attempt: container,
      kind: "tasks",
      try: 1,
    },
    {
      event: "tasks_read",
      attempt: container,
      waves: waves.map((wave) => wave.map((id) => ({ id, files: [id], after: [] }))),
      left: [],
    },
  );
  const entries = [...tape.entries];
  const add = (draft: Parameters<typeof entryOf>[0]): void =>
    void entries.push(entryOf(draft, entries.length));

  for (const id of ids) {
    const walk = `${container}/${id}`;
    const attempt = `${walk}@1/do#1`;
    add({
      event: "step_started",
      walk,
      step: "do",
      attempt,
      kind: "agent",
      try: 1,
      need: usage(10),
    });

    add(turnEnded(attempt, usage(10)));
    add({
      event: "changes_applied",
      attempt,
      commit: sha(9),
      parent: sha(1),
      tree: sha(9),
      paths: [id],
      not_applied: 0,
    });

    add({ event: "step_completed", attempt, facts: {}, progress: true });
    add({ event: "task_completed", walk });
  }

  add({
    event: "step_completed",
    attempt: container,
    facts: { done: tasks, failed: 0, left: 0, not_begun: 0 },
  });

  return entries;
}

function folded(tasks: number): { readonly run: Run; readonly perSecond: number } {
  const entries = entriesOf(tasks);
  let perSecond = 0;
  let run: Run | null = null;

  for (let round = 0; round < 5; round++) {
    const began = performance.now();
    const folding = openFold();
    for (const entry of entries) folding.apply(entry);
    perSecond = Math.max(perSecond, (entries.length / (performance.now() - began)) * 1000);
    run = folding.state as Run;
  }

  return { run: run as Run, perSecond };
}

test("thousands of tasks: their cursors are gone when the whole is over, and only its facts stay", () => {
  folded(200);
  const few = folded(200);
  const many = folded(2_000);
  console.info(
    `fold: ${Math.round(few.perSecond)} entries/s with 200 tasks, ${Math.round(many.perSecond)} with 2,000, ratio ${(few.perSecond / many.perSecond).toFixed(2)}`,
  );

  for (const { run } of [few, many]) {
    expect(Object.keys(run.cursors)).toEqual(["1"]);
    expect(run.open).toEqual({});
  }

  expect(many.run.cursors["1"]?.last["execute"]?.facts).toMatchObject({ done: 2_000 });
});
