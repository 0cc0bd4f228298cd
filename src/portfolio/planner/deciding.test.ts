import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Bisection } from "./bisect.ts";
import { createBlockId, createProjectId, toSlug, createTaskId } from "./ids.ts";
import { project, task, dispatched, written } from "./portfolio.test-support.ts";
import {
  leaseStates,
  mergeStates,
  recoveryRows,
  findRecovery,
  resultStates,
  runStates,
  workerStates,
} from "./recovery.ts";
import {
  listFollowUps,
  parseSubmittedResult,
  decideOnResult,
  buildProof,
  whyResultRefused,
} from "./result.ts";

function played(
  size: number,
  fails: (tasks: readonly number[], landed: readonly number[]) => boolean,
) {
  const batch = Array.from({ length: size }, (_, at) => at);
  const search = new Bisection(batch);
  const landed: number[] = [];
  const rejected: number[] = [];
  let proofs = 0;

  for (let step = search.next(); step.do !== "end";) {
    if (step.do === "prove") {
      proofs += 1;
      step = search.next({ passed: !fails(step.tasks, landed) });
    } else {
      if (step.do === "land") landed.push(...step.tasks);
      else if (step.do === "reject") rejected.push(step.task);
      else expect(step.do, "no branch is red here").toBe("land");

      step = search.next();
    }
  }

  return { landed, rejected, proofs };
}

test("of eight with one culprit seven land, in at most 1 + log2(8) + 1 proofs", () => {
  for (let culprit = 0; culprit < 8; culprit++) {
    const { landed, rejected, proofs } = played(8, (tasks) => tasks.includes(culprit));
    expect(rejected).toEqual([culprit]);
    expect(landed).toHaveLength(7);
    expect(proofs).toBeLessThanOrEqual(5);
  }
});

test("whatever fails together, every task lands or is rejected, what lands never fails, and it ends", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.array(fc.tuple(fc.nat(8), fc.nat(8)), { maxLength: 4 }),
      (size, pairs) => {
        const fails = (tasks: readonly number[], landed: readonly number[]): boolean =>
          pairs.some(
            ([a, b]) => [...tasks, ...landed].includes(a) && [...tasks, ...landed].includes(b),
          );

        const { landed, rejected } = played(size, fails);
        expect([...landed, ...rejected].toSorted((a, b) => a - b)).toEqual(
          Array.from({ length: size }, (_, at) => at),
        );

        expect(fails([], landed)).toBe(false);
      },
    ),
  );
});

test("on a branch that is red by itself nothing is held against a task but what it breaks; it waits, and what mends the branch lands", () => {
  const checks = ["lint", "test"] as const;
  const some = fc.subarray([...checks]);
  const tasks = fc.array(fc.record({ breaks: some, mends: some }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(tasks, some, fc.boolean(), (all, before, isKnown) => {
      const failing = (ids: readonly number[]): readonly string[] =>
        checks.filter((check) =>
          ids.reduce(
            (red, id) =>
              (red && !all[id]?.mends.includes(check)) || all[id]?.breaks.includes(check) === true,
            before.includes(check),
          ),
        );

      const ids = all.map((_, at) => at);
      const search = new Bisection(ids, {
        isOwnCriterion: () => false,
        ...(isKnown ? { failingOnBranch: before } : {}),
      });

      const [landed, rejected, held]: [number[], number[], number[]] = [[], [], []];
      let looks = 0;

      for (let step = search.next(); step.do !== "end";) {
        if (step.do === "prove") {
          if (step.tasks.length === 0) looks += 1;
          const failed = failing([...landed, ...step.tasks]);
          step = search.next({ passed: failed.length === 0, failed });
          continue;
        }

        const onBranch = failing(landed);
        if (step.do === "land") {
          landed.push(...step.tasks);
          expect(failing(landed)).toEqual([]);
        } else if (step.do === "hold") {
          held.push(...step.tasks);
          expect(step.failed.filter((check) => !onBranch.includes(check))).toEqual([]);
          expect(step.failed).not.toEqual([]);
        } else {
          rejected.push(step.task);
          expect(failing([...landed, step.task]).some((check) => !onBranch.includes(check))).toBe(
            true,
          );
        }

        step = search.next();
      }

      expect([...landed, ...rejected, ...held].toSorted((a, b) => a - b)).toEqual(ids);
      expect(looks).toBeLessThanOrEqual(isKnown && before.length > 0 ? 0 : 1);
    }),
  );
});

test("everything that may be found of a running task after a crash has one remedy, and every row is needed", () => {
  const used = new Set<number>();
  let cases = 0;

  for (const worker of workerStates) {
    for (const lease of leaseStates) {
      for (const run of runStates) {
        for (const result of resultStates) {
          for (const merge of mergeStates) {
            const found = { worker, lease, run, result, merge };
            const row = recoveryRows.findIndex(({ when }) =>
              Object.entries(when).every(
                ([key, value]) => found[key as keyof typeof found] === value,
              ),
            );
            expect(row, JSON.stringify(found)).toBeGreaterThanOrEqual(0);
            expect(findRecovery(found).remedy).toBe(recoveryRows[row]?.remedy);

            if (worker === "alive" && lease === "held" && merge === "none") {
              expect(findRecovery(found).remedy).toBe("leave");
            }

            used.add(row);
            cases += 1;
          }
        }
      }
    }
  }

  expect(cases).toBe(96);
  expect(used.size).toBe(recoveryRows.length);
});

test("a result delivered twice, late, for another run or with another nonce is not taken in", () => {
  const { state, write } = written(
    { event: "project_created", project_id: "proj-a", fields: project() },
    {
      event: "task_created",
      task_id: "task-x-aaaaaa",
      project_id: "proj-a",
      status: "ready",
      fields: task(),
    },
    dispatched("task-x-aaaaaa", 1),
  );
  const [at, mine] = [
    () => state.tasks["task-x-aaaaaa"],
    { task_id: "task-x-aaaaaa", run_id: "run-2026-01-01-000001", event_nonce: "n1" },
  ];
  expect(whyResultRefused(at(), mine)).toBeNull();
  expect(whyResultRefused(at(), { ...mine, run_id: "run-2026-01-01-000009" })).toContain(
    "not run-2026-01-01-000009",
  );

  expect(whyResultRefused(at(), { ...mine, event_nonce: "n0" })).toContain("nonce");
  expect(whyResultRefused(undefined, mine)).toContain("no task");
  const proof = buildProof(task().acceptance_criteria, { passed: ["true"], failed: [] });
  write({
    event: "worker_result_ingested",
    ...mine,
    to_status: "running",
    commit: null,
    proof,
    claim: null,
    summary: "ok",
    evidence: [],
    usage: { tokens: 1, usd: 0 },
  });

  expect(whyResultRefused(at(), mine)).toContain("before");
});

test("only the runner's proof makes a task done; a first failure is tried again, a criterion without a command is asked about", () => {
  const { state } = written(
    { event: "project_created", project_id: "proj-a", fields: project() },
    {
      event: "task_created",
      task_id: "task-x-aaaaaa",
      project_id: "proj-a",
      status: "ready",
      fields: task({
        acceptance_criteria: [
          { text: "a", command: "t" },
          { text: "b", command: null },
        ],
      }),
    },
  );
  const [one, ownFolder] = [state.tasks["task-x-aaaaaa"], state.projects["proj-a"]];
  if (one === undefined || ownFolder === undefined) throw new Error("missing");
  const end = { is_completed: true, has_changes: true, passed: ["t"], failed: [] };
  const half = buildProof(one.acceptance_criteria, end);
  const none = buildProof(one.acceptance_criteria, { passed: [], failed: ["t"] });
  expect(decideOnResult(one, ownFolder, { end, proof: none, submitted: null }).to).toBe("failed");
  expect(
    decideOnResult({ ...one, failures: 1 }, ownFolder, { end, proof: none, submitted: null }).to,
  ).toBe("needs_adjustment");

  expect(
    decideOnResult(one, ownFolder, {
      end: { ...end, is_completed: false },
      proof: half,
      submitted: null,
    }).to,
  ).toBe("failed");

  expect(decideOnResult(one, ownFolder, { end, proof: half, submitted: null })).toMatchObject({
    to: "blocked_human",
    ask: "b",
  });

  expect(
    decideOnResult(
      one,
      { ...ownFolder, accept_unproved: true },
      { end, proof: half, submitted: null },
    ).to,
  ).toBe("running");

  const asksNothing = { ...one, acceptance_criteria: [] };
  expect(
    decideOnResult(asksNothing, ownFolder, { end, proof: buildProof([], end), submitted: null }),
  ).toMatchObject({
    to: "blocked_human",
    ask: one.objective,
  });
});

test("ids are made from names of every kind", () => {
  expect([toSlug("Crème Brûlée!"), toSlug("日本"), toSlug("  "), toSlug("a".repeat(60))]).toEqual([
    "creme-brulee",
    "x",
    "x",
    "a".repeat(40),
  ]);

  expect(createProjectId("Shop", (id) => id === "proj-shop")).toBe("proj-shop-2");
  expect(createTaskId("Do it", Uint8Array.from([1, 2, 3, 4, 5, 255]))).toBe("task-do-it-12345z");
  expect(createBlockId("2026-02-27T09:30:00.000Z", new Uint8Array(6))).toBe(
    "block-20260227T093000Z-000000",
  );
});

const oneDispatched = () =>
  written(
    { event: "project_created", project_id: "proj-p", fields: project() },
    {
      event: "task_created",
      task_id: "task-a-aaaaaa",
      project_id: "proj-p",
      status: "ready",
      fields: task(),
    },
    dispatched("task-a-aaaaaa", 1),
  ).state;
const result = {
  task_id: "task-a-aaaaaa",
  event_nonce: "n1",
  status: "done",
  summary: "did it",
  evidence: [],
  verification: {
    confidence: "high",
    complete: true,
    checks_attempted: [],
    checks_passed: [],
    checks_failed: [],
    why_not_fully_verifiable: null,
  },
  next_suggestions: [],
  risks_or_unknowns: [],
};

test("a worker's result that lacks a field, or is for another task or dispatch, is none; what it says itself is heard", () => {
  const state = oneDispatched();
  const one = state.tasks["task-a-aaaaaa"];
  const ownFolder = state.projects["proj-p"];
  if (one === undefined || ownFolder === undefined) throw new Error("both are there");
  expect(parseSubmittedResult(one, result).problem).toBeNull();

  for (const key of Object.keys(result)) {
    expect(parseSubmittedResult(one, { ...result, [key]: undefined }).problem).toContain(
      "not whole",
    );
  }

  expect(parseSubmittedResult(one, { ...result, task_id: "task-b-bbbbbb" }).problem).toContain(
    "task-b-bbbbbb",
  );

  expect(parseSubmittedResult(one, { ...result, event_nonce: "n0" }).problem).toContain("nonce");
  expect(parseSubmittedResult(one, null).problem).toContain("no result");
  const end = { is_completed: true, has_changes: true, passed: ["true"], failed: [] };
  const proof = buildProof(one.acceptance_criteria, end);
  expect(
    decideOnResult(one, ownFolder, { end, proof, submitted: parseSubmittedResult(one, result) }).to,
  ).toBe("running");

  expect(
    decideOnResult(one, ownFolder, { end, proof, submitted: parseSubmittedResult(one, null) }).to,
  ).toBe("needs_adjustment");

  expect(
    decideOnResult(one, ownFolder, {
      end,
      proof,
      submitted: parseSubmittedResult(one, { ...result, status: "failed" }),
    }).to,
  ).toBe("needs_adjustment");

  // What the worker says of itself makes nothing done.
  expect(
    decideOnResult(one, ownFolder, {
      end: { ...end, passed: [], failed: ["true"] },
      proof: buildProof(one.acceptance_criteria, { passed: [], failed: ["true"] }),
      submitted: parseSubmittedResult(one, result),
    }).to,
  ).toBe("failed");
});

test("a proved batch that holds a task which the queue gives back is forgotten, so that it can't land", () => {
  const { state, write } = written(
    { event: "project_created", project_id: "proj-p", fields: project() },
    ...["task-a-aaaaaa", "task-b-bbbbbb"].map(
      (task_id) =>
        ({
          event: "task_created",
          task_id,
          project_id: "proj-p",
          status: "ready",
          fields: task(),
        }) as const,
    ),
    dispatched("task-a-aaaaaa", 1),
    dispatched("task-b-bbbbbb", 2),
    {
      event: "merge_verified",
      repository: "repo",
      tasks: ["task-a-aaaaaa", "task-b-bbbbbb"],
      from: "f",
      commit: "c",
      evidence: [],
    },
  );
  expect(state.batches).toHaveLength(1);
  write({
    event: "merge_rejected",
    task_id: "task-a-aaaaaa",
    kind: "conflict",
    with: [],
    because: "it conflicts",
    evidence: [],
  });

  expect(state.batches).toEqual([]);
});

test("suggestions become at most five tasks, each once, and none that is there already", () => {
  const state = oneDispatched();
  const one = state.tasks["task-a-aaaaaa"];
  if (one === undefined) throw new Error("it is there");

  const suggestions = [
    "known",
    "one",
    { title: "two\n lines" },
    "one",
    7,
    "",
    "three",
    "four",
    "five",
    "six",
  ];

  const { claim } = parseSubmittedResult(one, { ...result, next_suggestions: suggestions });
  expect(listFollowUps(one, claim, ["known"]).map(({ objective }) => objective)).toEqual([
    "one",
    "two lines",
    "three",
    "four",
    "five",
  ]);

  expect(listFollowUps(one, null, [])).toEqual([]);
});
