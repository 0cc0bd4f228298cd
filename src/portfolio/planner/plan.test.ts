import * as fc from "fast-check";
import { expect, test } from "vitest";
import { mayOverlap } from "./overlap.ts";
import { whyResultRefused } from "./result.ts";
import type { PlanFacts } from "./plan-actions.ts";
import { plan } from "./plan.ts";
import { dispatched, project, task, written } from "./portfolio.test-support.ts";
import { reduce } from "./reduce.ts";

const facts: PlanFacts = {
  now: "2026-01-01T12:00:00.000Z",
  jobs: 4,
  withoutWorker: new Set(),
  perAgent: {},
  agent: "codex",
};
const id = (n: number | string): string => `task-${n}-aaaaaa`;
const dispatchesOf = ({ actions }: ReturnType<typeof plan>): readonly string[] =>
  actions.flatMap((action) => (action.do === "dispatch" ? action.task_id : []));
const whyOf = ({ waiting }: ReturnType<typeof plan>, task_id: string): string | undefined =>
  waiting.find((one) => one.task_id === task_id)?.code;

test("priority first, then projects in turn, then age", () => {
  const made = (n: number, project_id: string, priority: number) =>
    ({
      event: "task_created",
      task_id: id(n),
      project_id,
      status: "ready",
      fields: task({ priority, touches: [`f${n}`] }),
    }) as const;

  const { state } = written(
    { event: "project_created", project_id: "proj-a", fields: project() },
    { event: "project_created", project_id: "proj-b", fields: project({ repository: "other" }) },
    made(1, "proj-a", 3),
    made(2, "proj-a", 3),
    made(3, "proj-b", 3),
    made(4, "proj-b", 1),
  );
  expect(dispatchesOf(plan(state, facts))).toEqual([id(4), id(1), id(3), id(2)]);
});

test("every reason for waiting is told", () => {
  const { state, write } = written(
    {
      event: "project_created",
      project_id: "proj-a",
      fields: project({ slots: 2, budget: { tokens: 100 } }),
    },
    {
      event: "project_created",
      project_id: "proj-p",
      fields: project({ paused: true, repository: "p" }),
    },
    { event: "project_created", project_id: "proj-n", fields: project({ repository: null }) },
  );
  const add = (
    name: string,
    fields = task(),
    project_id = "proj-a",
    status: "ready" | "proposed" = "ready",
  ): void => write({ event: "task_created", task_id: id(name), project_id, status, fields });
  add("runs", task({ touches: ["src/**"] }));
  write(dispatched(id("runs"), 1));
  add("near", task({ touches: ["src/a.ts"] }));
  add("behind", task({ touches: ["src/a.ts", "docs/x.md"] }));
  add("dear", task({ touches: ["web/**"], budget: { tokens: 1000 } }));
  add("starts", task({ touches: ["api/**"] }));
  add("third", task({ touches: ["cli/**"] }));
  add("later", task({ dependencies: [id("runs")] }));
  add("idea", task(), "proj-a", "proposed");
  add("paused", task(), "proj-p");
  add("nowhere", task(), "proj-n");
  const planned = plan(state, facts);
  expect(dispatchesOf(planned)).toEqual([id("starts")]);
  expect(
    Object.fromEntries(planned.waiting.map(({ task_id, code }) => [task_id.split("-")[1], code])),
  ).toEqual({
    runs: "working",
    near: "overlap",
    behind: "overlap",
    dear: "budget",
    third: "project_slots",
    later: "dependencies",
    idea: "proposed",
    paused: "paused",
    nowhere: "no_repository",
  });

  expect(whyOf(plan(state, { ...facts, jobs: 1 }), id("starts"))).toBe("pool_slots");
  expect(whyOf(plan(state, { ...facts, perAgent: { codex: 1 } }), id("starts"))).toBe(
    "agent_slots",
  );
});

test("what a red branch holds up is not merged again before the branch moves or something new is finished; that goes first", () => {
  const { state, write } = written({
    event: "project_created",
    project_id: "proj-a",
    fields: project(),
  });
  const finish = (n: number): void =>
    write(
      {
        event: "task_created",
        task_id: id(n),
        project_id: "proj-a",
        status: "ready",
        fields: task({ touches: [`f${n}`] }),
      },
      dispatched(id(n), n),
      {
        event: "merge_queued",
        task_id: id(n),
        run_id: `run-2026-01-01-00000${n}`,
        commit: "1".repeat(40),
      },
    );
  finish(1);
  finish(2);
  const merged = (red?: PlanFacts["redTargetByQueue"]): readonly unknown[] =>
    plan(state, {
      ...facts,
      ...(red === undefined ? {} : { redTargetByQueue: red }),
    }).actions.flatMap((action) => (action.do === "merge" ? [action.tasks] : []));

  const red: NonNullable<PlanFacts["redTargetByQueue"]> = new Map([
    ["repo\nmain", { because: "main is red", tasks: new Set([id(1), id(2)]) }],
  ]);
  expect([merged(), merged(red)]).toEqual([[[id(1), id(2)]], []]);
  expect(
    plan(state, { ...facts, redTargetByQueue: red }).waiting.map(({ code, because }) => [
      code,
      because,
    ]),
  ).toEqual([
    ["landing", "landing waits for you: main is red"],
    ["landing", "landing waits for you: main is red"],
  ]);

  finish(3);
  expect(merged(red)).toEqual([[id(3), id(1), id(2)]]);
});

test("what overlaps a task that waits longer makes way for it", () => {
  const { state, write } = written({
    event: "project_created",
    project_id: "proj-a",
    fields: project(),
  });
  const add = (name: string, touches: string[]): void =>
    write({
      event: "task_created",
      task_id: id(name),
      project_id: "proj-a",
      status: "ready",
      fields: task({ touches }),
    });
  add("narrow", ["src/a.ts"]);
  write(dispatched(id("narrow"), 1));
  add("wide", []);
  add("next", ["src/b.ts"]);
  const planned = plan(state, facts);
  expect(dispatchesOf(planned)).toEqual([]);
  expect(whyOf(planned, id("next"))).toBe("makes_way");
});

test("a task whose worker is gone is released, one that failed once is tried again, one that failed twice waits for a person", () => {
  const { state, write } = written({
    event: "project_created",
    project_id: "proj-a",
    fields: project(),
  });

  for (const name of ["gone", "once", "twice"]) {
    write({
      event: "task_created",
      task_id: id(name),
      project_id: "proj-a",
      status: "ready",
      fields: task({ touches: [name] }),
    });
  }

  const fails = (name: string, n: number): void =>
    write(dispatched(id(name), n), {
      event: "task_status_changed",
      task_id: id(name),
      to_status: "failed",
      because: "no",
    });

  write(dispatched(id("gone"), 1));
  fails("once", 2);
  fails("twice", 3);
  write({
    event: "task_status_changed",
    task_id: id("twice"),
    to_status: "ready",
    because: "again",
  });

  fails("twice", 4);
  const planned = plan(state, { ...facts, withoutWorker: new Set([id("gone")]) });
  expect(planned.actions).toEqual([
    { do: "release", task_id: id("gone"), run_id: "run-2026-01-01-000001" },
    { do: "retry", task_id: id("once"), because: "it failed once" },
  ]);

  expect(whyOf(planned, id("twice"))).toBe("needs_person");
});

test("no two tasks that overlap are dispatched, no slot is used twice, and each open task is told of once", () => {
  const glob = fc.constantFrom(
    "src/**",
    "src/a.ts",
    "src/*.ts",
    "docs/**",
    "docs/x.md",
    "*.md",
    "web/**",
  );

  const made = fc.record({
    p: fc.nat(2),
    priority: fc.integer({ min: 1, max: 5 }),
    touches: fc.array(glob, { maxLength: 2 }),
    after: fc.option(fc.nat(10)),
    runs: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.array(made, { maxLength: 12 }),
      fc.integer({ min: 1, max: 4 }),
      (tasks, jobs) => {
        const { state, write } = written(
          ...[0, 1, 2].map(
            (p) =>
              ({
                event: "project_created",
                project_id: `proj-${p}`,
                fields: project({ slots: 1 + p, repository: p < 2 ? "one" : "two" }),
              }) as const,
          ),
        );

        for (const [n, { p, priority, touches, after }] of tasks.entries()) {
          const dependencies = after !== null && after < n ? [id(after)] : [];
          write({
            event: "task_created",
            task_id: id(n),
            project_id: `proj-${p}`,
            status: "ready",
            fields: task({ priority, touches, dependencies }),
          });
        }

        let running: string[] = [];
        for (let turn = 0; turn < 30; turn++) {
          const planned = plan(state, { ...facts, jobs });
          const open = Object.values(state.tasks).filter(({ status }) => status !== "done");
          const reported = [
            ...planned.waiting.map(({ task_id }) => task_id),
            ...dispatchesOf(planned),
          ];
          expect(reported.toSorted()).toEqual(open.map(({ task_id }) => task_id).toSorted());

          for (const task_id of dispatchesOf(planned)) {
            write(dispatched(task_id, turn * 100 + running.length));
            running.push(task_id);
          }

          expect(running.length).toBeLessThanOrEqual(jobs);
          for (const [at, one] of running.entries()) {
            for (const other of running.slice(at + 1)) {
              const [left, right] = [state.tasks[one], state.tasks[other]];
              if (left === undefined || right === undefined) throw new Error("lost");
              const isOne =
                state.projects[left.project_id]?.repository ===
                state.projects[right.project_id]?.repository;
              expect(isOne && mayOverlap(left.touches, right.touches)).toBe(false);
            }
          }

          const [first, ...rest] = running;
          if (first === undefined) break;
          write({
            event: "task_status_changed",
            task_id: first,
            to_status: "done",
            because: "done",
          });

          running = rest;
        }

        expect(Object.values(state.tasks).every(({ status }) => status === "done")).toBe(true); // nobody starves, nobody is lost
      },
    ),
    { numRuns: 60 },
  );
});

test("globs that may name one file overlap, in doubt too", () => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ["src/**", "src/a/b.ts", true],
    ["src/a.ts", "src/b.ts", false],
    ["src/*.ts", "src/*.md", false],
    ["src/*.ts", "src/a*", true],
    ["src", "src/a.ts", true],
    ["docs/**", "src/**", false],
    ["**/x.md", "src/y.ts", true],
    ["SRC/a.ts", "src/A.ts", true],
  ];
  expect(rows.map(([a, b]) => [a, b, mayOverlap([a], [b])])).toEqual(rows);
  expect(mayOverlap([], ["a"])).toBe(true);

  const lists: readonly (readonly [readonly string[], readonly string[], boolean])[] = [
    [["!feat/x"], ["feat/y"], true], // only exclusions: everything but
    [["!feat/x"], ["!feat/y"], true],
    [["feat/**", "!feat/x"], ["feat/y"], true],
    [["feat/**", "!feat/x"], ["src/y"], false],
    [["src/a.ts, src/b.ts"], ["src/b.ts"], true], // several in one text
    [["src/a.ts; docs/**"], ["lib/**"], false],
    [["{src/a,lib/b}.ts"], ["lib/b.ts"], true],
  ];
  for (const [one, other, meet] of lists) {
    expect([one, other, mayOverlap(one, other), mayOverlap(other, one)]).toEqual([
      one,
      other,
      meet,
      meet,
    ]);
  }
});

test("at an agent's limit the next of the list goes on, nothing starts with one at its limit, and it is first again after the reset", () => {
  const { state, write } = written({
    event: "project_created",
    project_id: "proj-a",
    fields: project(),
  });
  const add = (name: string, agent: string | null): void =>
    write({
      event: "task_created",
      task_id: id(name),
      project_id: "proj-a",
      status: "ready",
      fields: task({ agent, touches: [name] }),
    });
  add("listed", "codex, claude");
  add("single", null);
  const until = "2026-01-01T13:00:00.000Z";

  const rested = {
    event: "worker_rested",
    because: "limit",
    until,
    usage: { tokens: 0, usd: 0 },
  } as const;

  write({ ...dispatched(id("listed"), 1), agent: "codex" } as ReturnType<typeof dispatched>);
  write({ ...rested, task_id: id("listed"), run_id: "run-2026-01-01-000001" });

  const agentsIn = ({ actions }: ReturnType<typeof plan>): ReadonlySet<string> =>
    new Set(
      actions.flatMap((action) =>
        action.do === "dispatch" ? `${action.task_id} ${action.agent}` : [],
      ),
    );

  const before = plan(state, facts);
  expect(agentsIn(before)).toEqual(new Set([`${id("listed")} claude`]));
  expect(whyOf(before, id("single"))).toBe("resting");
  const after = plan(state, { ...facts, now: "2026-01-01T13:00:01.000Z" });
  expect(agentsIn(after)).toEqual(new Set([`${id("listed")} codex`, `${id("single")} codex`]));
});

test("two projects over one repository share its files and its queue", () => {
  const { state, write } = written(
    { event: "project_created", project_id: "proj-a", fields: project() },
    { event: "project_created", project_id: "proj-b", fields: project({ name: "other" }) },
  );
  const made = (n: number, project_id: string, touches: readonly string[]) =>
    write({
      event: "task_created",
      task_id: id(n),
      project_id,
      status: "ready",
      fields: task({ touches: [...touches] }),
    });
  made(1, "proj-a", ["src/a.ts"]);
  made(2, "proj-b", ["src/**"]);
  made(3, "proj-b", ["docs/**"]);
  const planned = plan(state, facts);
  expect([dispatchesOf(planned), whyOf(planned, id(2))]).toEqual([[id(1), id(3)], "overlap"]);

  for (const [n, at] of [
    [1, 1],
    [3, 2],
  ] as const) {
    write(dispatched(id(n), at));
    write({
      event: "merge_queued",
      task_id: id(n),
      run_id: `run-2026-01-01-00000${at}`,
      commit: "1".repeat(40),
    });
  }

  const merges = plan(state, facts).actions.filter((action) => action.do === "merge");
  expect(merges).toMatchObject([{ repository: "repo", target: "main", tasks: [id(1), id(3)] }]);
});

test("a clock that was set back holds nobody up for years, and no time is less than nothing", () => {
  const { state, write, entries } = written(
    { event: "project_created", project_id: "proj-a", fields: project() },
    {
      event: "task_created",
      task_id: id(1),
      project_id: "proj-a",
      status: "ready",
      fields: task(),
    },
    { ...dispatched(id(1), 1), agent: "codex" } as ReturnType<typeof dispatched>,
  );

  const rested = {
    event: "worker_rested",
    task_id: id(1),
    run_id: "run-2026-01-01-000001",
    because: "a limit",
    usage: { tokens: 0, usd: 0 },
  } as const;

  write({ ...rested, until: "2031-01-01T00:00:00.000Z" }); // written by a clock that was years ahead
  expect(dispatchesOf(plan(state, facts))).toEqual([id(1)]);
  write({ ...dispatched(id(1), 1), agent: "codex" } as ReturnType<typeof dispatched>, {
    ...rested,
    until: "2026-01-01T15:00:00.000Z",
  });

  expect(whyOf(plan(state, facts), id(1))).toBe("resting");
  const question = {
    project_id: "proj-a",
    task_id: null,
    question: "?",
    expected_action: "",
    impact: "",
    options: {},
    content: "c",
    asked_by: null,
  };

  write({ event: "block_opened", block_id: "block-1", ...question });
  const earlier = {
    event: "block_resolved",
    block_id: "block-1",
    content: "c",
    answer: "A",
    actor: "operator:kim",
    reason_code: "ok",
  } as const;

  reduce(state, { ...earlier, seq: entries.length + 1, ts: "2020-01-01T00:00:00.000Z" });
  expect(state.totals.block_ms).toBe(0);
});

test("a clock that goes back and forth breaks no lease, and a day's budget counts for its day and is told once", () => {
  const { state, write, entries } = written(
    { event: "project_created", project_id: "proj-a", fields: project() },
    { event: "portfolio_updated", day_budget: { tokens: 100 } },
    {
      event: "task_created",
      task_id: id(1),
      project_id: "proj-a",
      status: "ready",
      fields: task({ touches: ["a"] }),
    },
    {
      event: "task_created",
      task_id: id(2),
      project_id: "proj-a",
      status: "ready",
      fields: task({ touches: ["b"] }),
    },
    dispatched(id(1), 1),
  );
  const at = (now: string) => plan(state, { ...facts, now });

  const [late, later, earlier] = [
    "2026-01-01T23:59:00.000Z",
    "2026-01-02T00:00:01.000Z",
    "2026-01-01T22:59:00.000Z",
  ];

  const used = {
    event: "usage_counted",
    task_id: id(1),
    run_id: "run-2026-01-01-000001",
    actor: "system",
    reason_code: "ok",
  } as const;

  const tell = {
    event: "budget_exhausted",
    scope: "day",
    project_id: null,
    because: "used",
    actor: "planner",
    reason_code: "ok",
  } as const;

  const charge = (tokens: number, ts: string): void =>
    reduce(state, { ...used, usage: { tokens, usd: 0 }, seq: entries.length + 1, ts });
  charge(100, late);
  expect(at(late).actions.filter((action) => action.do === "tell_budget")).toHaveLength(1);
  reduce(state, { ...tell, seq: entries.length + 2, ts: late });

  for (const now of [late, later, earlier, late, later]) {
    const planned = at(now);
    expect(dispatchesOf(planned)).toEqual(now === later ? [id(2)] : []); // the next day has its own budget, and the first one keeps its
    expect([
      whyOf(planned, id(1)),
      planned.actions.filter(({ do: what }) => what === "release" || what === "tell_budget"),
    ]).toEqual(["working", []]);

    if (now !== later) expect(whyOf(planned, id(2))).toBe("budget");
  }

  charge(130, later);
  charge(130, earlier); // the same again, by a clock that was set back
  expect(Object.values(state.days).map(({ tokens }) => tokens)).toEqual([100, 30]);
  expect(state.spent.tokens).toBe(130);
  write(
    { event: "task_status_changed", task_id: id(1), to_status: "ready", because: "taken back" },
    dispatched(id(1), 2),
  );

  const of = (n: number) => ({
    task_id: id(1),
    run_id: `run-2026-01-01-00000${n}`,
    event_nonce: `n${n}`,
  });
  expect(whyResultRefused(state.tasks[id(1)], of(1))).toContain("not run-2026-01-01-000001"); // late, after the task was tried again
  expect(whyResultRefused(state.tasks[id(1)], of(2))).toBeNull();
});
