// What tasks may use of budgets that they share: never more than is left, and never so little that
// none can work.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { PortfolioBudget } from "../../contracts/portfolio/portfolio-journal.ts";
import { toBudgetDay } from "./budget-scopes.ts";
import type { PlanAction, PlanFacts } from "./plan-actions.ts";
import { plan } from "./plan.ts";
import { dispatched, project, task, type Written, written } from "./portfolio.test-support.ts";
import type { Task } from "./state.ts";
import type { ShortLimit } from "../../core/state.ts";
import { listTasksNeedingPerson } from "./needs-person.ts";

const facts: PlanFacts = {
  now: "2026-01-01T12:00:00.000Z",
  jobs: 4,
  withoutWorker: new Set(),
  perAgent: {},
  agent: "codex",
};
const day = toBudgetDay(facts.now);
const dimensions = ["tokens", "usd"] as const;
const startsOf = (actions: readonly PlanAction[]) =>
  actions.flatMap((action) => (action.do === "dispatch" ? [action] : []));

/** Begins everything that the plan begins. */
function begin({ state, write, entries }: Written, jobs: number): readonly string[] {
  const starts = startsOf(plan(state, { ...facts, jobs }).actions);
  for (const { task_id, is_resumed, allowance } of starts) {
    const known = state.tasks[task_id];
    if (is_resumed || (known?.allowance ?? null) !== null) {
      write({ ...dispatched(task_id, 0), run_id: known?.run_id ?? "", allowance } as never);
    } else {
      write({ ...dispatched(task_id, entries.length), allowance } as never);
    }
  }

  return starts.map(({ task_id }) => task_id);
}

const holders = ({ state }: Written, id: string | null): readonly Task[] =>
  Object.values(state.tasks).filter(
    ({ allowance, project_id }) => allowance !== null && (id === null || project_id === id),
  );
const unusedBy = ({ allowance, run_spent }: Task, dimension: (typeof dimensions)[number]): number =>
  Math.max(0, (allowance?.[dimension] ?? 0) - run_spent[dimension]);

/** For every budget: what open runs may still use, and what is left. */
function overdrawn(made: Written): readonly string[] {
  const { state } = made;
  const purses: readonly (readonly [
    string,
    PortfolioBudget,
    { tokens: number; usd: number },
    string | null,
  ])[] = [
    ["portfolio", state.budget, state.spent, null],
    ["day", state.day_budget, state.days[day] ?? { tokens: 0, usd: 0 }, null],
    ...Object.values(state.projects).map(
      (one) => [one.project_id, one.budget, one.spent, one.project_id] as const,
    ),
  ];
  return purses.flatMap(([name, budget, spent, id]) =>
    dimensions.flatMap((dimension) => {
      const may = holders(made, id).reduce((sum, one) => sum + unusedBy(one, dimension), 0);
      const left = (budget[dimension] ?? Number.POSITIVE_INFINITY) - spent[dimension];
      return may > left + 1e-6 ? [`${name}: ${may} of ${left} ${dimension}`] : [];
    }),
  );
}

/** The limits of a run that needs ten more. */
const shortOf = ({ allowance }: Task, spent: { tokens: number; usd: number }): ShortLimit[] =>
  dimensions.flatMap((dimension) => {
    const limit = allowance?.[dimension];
    return limit === undefined
      ? []
      : [{ scope: "run" as const, dimension, limit, to: Math.max(limit, spent[dimension]) + 10 }];
  });

const amount = fc.option(fc.integer({ min: 1, max: 1000 }), { nil: undefined });
const budget = fc
  .record({ tokens: amount, usd: amount })
  .map(({ tokens, usd }): PortfolioBudget => ({
    ...(tokens === undefined ? {} : { tokens }),
    ...(usd === undefined ? {} : { usd }),
  }));

test("what all open runs together may use is never more than is left, whatever they use, however they end; something always goes on", () => {
  const scene = fc.record({
    all: budget,
    today: budget,
    projects: fc.array(fc.record({ budget, slots: fc.integer({ min: 1, max: 4 }) }), {
      minLength: 1,
      maxLength: 3,
    }),
    tasks: fc.array(fc.record({ p: fc.nat(2), own: fc.option(budget) }), {
      minLength: 1,
      maxLength: 10,
    }),
    jobs: fc.integer({ min: 1, max: 6 }),
    turns: fc.array(
      fc.record({
        who: fc.nat(9),
        uses: fc.double({ min: 0, max: 1, noNaN: true }),
        then: fc.nat(6),
      }),
      { maxLength: 40 },
    ),
  });
  fc.assert(
    fc.property(scene, ({ all, today, projects, tasks, jobs, turns }) => {
      const made = written({ event: "portfolio_updated", budget: all, day_budget: today });
      const { state, write } = made;

      for (const [p, one] of projects.entries()) {
        write({
          event: "project_created",
          project_id: `proj-${p}`,
          fields: project({ ...one, repository: `r${p}` }),
        });
      }

      for (const [n, { p, own }] of tasks.entries()) {
        const fields = task({ touches: [`f${n}`], budget: own ?? {} });
        write({
          event: "task_created",
          task_id: `task-${n}`,
          project_id: `proj-${p % projects.length}`,
          status: "ready",
          fields,
        });
      }

      for (const { who, uses, then } of turns) {
        begin(made, jobs);
        expect(overdrawn(made)).toEqual([]);
        const open = Object.values(state.tasks).filter(
          ({ run_id, ingested }) => run_id !== null && !ingested,
        );
        const one = open[who % Math.max(1, open.length)];
        if (one === undefined || one.status !== "running") continue;
        const { task_id, run_id, event_nonce } = one;

        const spent = {
          tokens:
            one.run_spent.tokens +
            uses * (one.allowance?.tokens === undefined ? 50 : unusedBy(one, "tokens")),
          usd:
            one.run_spent.usd +
            uses * (one.allowance?.usd === undefined ? 50 : unusedBy(one, "usd")),
        };

        const run = { task_id, run_id: run_id ?? "", usage: spent };
        if (then === 0) {
          write({ event: "usage_counted", ...run });
        } else if (then === 1) {
          write({ event: "worker_rested", ...run, because: "limit", until: null });
        } else if (then === 2) {
          write({ event: "lease_lost", ...run, because: "gone" });
        } else if (then === 6) {
          write({
            event: "worker_rested",
            ...run,
            because: "budget",
            until: null,
            short: shortOf(one, spent),
          });
        } else {
          const proof = {
            criteria: 1,
            proved: 0,
            checks_attempted: [],
            checks_passed: [],
            checks_failed: [],
          };

          const end = {
            event_nonce: event_nonce ?? "",
            commit: null,
            proof,
            claim: null,
            summary: "",
            evidence: [],
          };

          const to_status =
            then === 3 ? "failed" : then === 4 ? "needs_adjustment" : "blocked_human";
          write({ event: "worker_result_ingested", ...run, ...end, to_status });
        }

        expect(overdrawn(made)).toEqual([]);
      }

      // Whatever is left is not locked up: if no run is open, a task that names no budget starts
      // with it.
      if (
        holders(made, null).length > 0 ||
        Object.values(state.tasks).some(({ status }) => status === "running")
      ) {
        return;
      }

      const average = (dimension: (typeof dimensions)[number]): number => {
        const used = Object.values(state.tasks).flatMap((one) =>
          one.allowance === null && one.run_spent[dimension] > 0 ? [one.run_spent[dimension]] : [],
        );
        return used.reduce((sum, one) => sum + one, 0) / Math.max(1, used.length);
      };

      const isLeft = (limits: PortfolioBudget, spent: { tokens: number; usd: number }): boolean =>
        (limits.tokens ?? Infinity) - spent.tokens >= Math.max(10, average("tokens")) &&
        (limits.usd ?? Infinity) - spent.usd >= Math.max(0.01, average("usd"));

      const free = Object.values(state.tasks).find(
        ({ status, budget: own, project_id }) =>
          status === "ready" &&
          Object.keys(own).length === 0 &&
          isLeft(state.budget, state.spent) &&
          isLeft(state.day_budget, state.days[day] ?? { tokens: 0, usd: 0 }) &&
          isLeft(
            state.projects[project_id]?.budget ?? {},
            state.projects[project_id]?.spent ?? { tokens: 0, usd: 0 },
          ),
      );
      if (free !== undefined) expect(begin(made, jobs)).not.toEqual([]);
    }),
  );
});

test("tasks that start together share what is left; what one does not use goes to the next, and nobody starts with crumbs", () => {
  const made = written(
    { event: "portfolio_updated", budget: { tokens: 1000 } },
    { event: "project_created", project_id: "proj-a", fields: project() },
  );

  const { state, write } = made;
  for (const n of [1, 2, 3, 4, 5, 6]) {
    write({
      event: "task_created",
      task_id: `task-${n}`,
      project_id: "proj-a",
      status: "ready",
      fields: task({ touches: [`f${n}`] }),
    });
  }

  expect(begin(made, 4)).toHaveLength(4);
  expect([1, 2, 3, 4].map((n) => state.tasks[`task-${n}`]?.allowance)).toEqual(
    [1, 2, 3, 4].map(() => ({ tokens: 250 })),
  );

  const end = (n: number, tokens: number): void => {
    const one = state.tasks[`task-${n}`];
    const proof = {
      criteria: 1,
      proved: 1,
      checks_attempted: [],
      checks_passed: [],
      checks_failed: [],
    };

    const result = {
      task_id: `task-${n}`,
      run_id: one?.run_id ?? "",
      event_nonce: one?.event_nonce ?? "",
      commit: null,
      proof,
      claim: null,
    };

    write({
      event: "worker_result_ingested",
      ...result,
      to_status: "done",
      summary: "",
      evidence: [],
      usage: { tokens, usd: 0 },
    });
  };
  end(1, 249);
  expect(begin(made, 4)).toEqual([]);
  expect(plan(state, facts).waiting.find(({ task_id }) => task_id === "task-5")?.because).toBe(
    "the portfolio has 1 of 1,000 tokens left beside what 3 open runs may use, and a run has used 249 tokens on average",
  );

  end(2, 50);
  expect(begin(made, 3)).toEqual(["task-5"]);
  expect(state.tasks["task-5"]?.allowance).toEqual({ tokens: 201 });

  for (const [n, tokens] of [
    [3, 250],
    [4, 250],
    [5, 100],
  ] as const) {
    end(n, tokens);
  }

  expect(begin(made, 3)).toEqual([]);
  expect(plan(state, facts).waiting.find(({ task_id }) => task_id === "task-6")?.because).toBe(
    "the portfolio has 101 of 1,000 tokens left, and a run has used 180 tokens on average",
  );

  write({ event: "portfolio_updated", budget: { tokens: 1100 } });
  expect(begin(made, 3)).toEqual(["task-6"]);
});

test("a run that goes on keeps what it was given, and an edited task, whose run does not, gives it back", () => {
  const made = written(
    { event: "portfolio_updated", budget: { usd: 10 } },
    { event: "project_created", project_id: "proj-a", fields: project() },
    {
      event: "task_created",
      task_id: "task-1",
      project_id: "proj-a",
      status: "ready",
      fields: task(),
    },
  );

  const { state, write } = made;
  begin(made, 1);

  const lost = {
    task_id: "task-1",
    run_id: state.tasks["task-1"]?.run_id ?? "",
    because: "gone",
    usage: { tokens: 0, usd: 4 },
  };

  write({ event: "lease_lost", ...lost });
  expect(startsOf(plan(state, facts).actions)).toMatchObject([
    { task_id: "task-1", allowance: { usd: 6 } },
  ]);

  write({ event: "task_updated", task_id: "task-1", changes: { objective: "another" } });
  expect(state.tasks["task-1"]?.allowance).toBeNull();
});

const at = (
  limit: number,
  to: number,
  dimension: "tokens" | "usd" | "minutes" = "tokens",
): ShortLimit => ({
  scope: "run",
  dimension,
  limit,
  to,
});
function resting(
  budget: PortfolioBudget,
  short: ShortLimit[],
  usage: { tokens: number; usd: number },
  all: PortfolioBudget = {},
): Written {
  const made = written(
    { event: "portfolio_updated", budget: all },
    { event: "project_created", project_id: "proj-a", fields: project() },
    {
      event: "task_created",
      task_id: "task-1",
      project_id: "proj-a",
      status: "ready",
      fields: task({ budget }),
    },
  );
  begin(made, 1);
  const run_id = made.state.tasks["task-1"]?.run_id ?? "";
  made.write({
    event: "worker_rested",
    task_id: "task-1",
    run_id,
    because: "its run has used a lot",
    until: null,
    usage,
    short,
  });

  return made;
}
const commandsOf = ({ state }: Written): readonly string[] =>
  listTasksNeedingPerson(state, facts.now).flatMap(({ commands }) => commands.slice(0, 1));

test("a run at its task's budget fails nothing, holds no slot, and goes on with the raised budget, under the same name and charged once", () => {
  const made = resting({ tokens: 1000, usd: 2 }, [at(1000, 16_100)], { tokens: 1100, usd: 1 });
  const { state, write } = made;
  expect(state.tasks["task-1"]).toMatchObject({
    status: "ready",
    stage: null,
    failures: 0,
    attempt: 1,
  });

  expect(plan(state, facts)).toMatchObject({
    actions: [],
    waiting: [{ code: "budget", because: "its budget of 1,000 tokens is used up" }],
  });

  expect(commandsOf(made)).toEqual(["autopilot portfolio edit task-1 --budget tokens=17k,usd=2"]);
  write({
    event: "task_updated",
    task_id: "task-1",
    changes: { budget: { tokens: 17_000, usd: 2 } },
  });

  expect(commandsOf(made)).toEqual([]);
  const run = state.tasks["task-1"]?.run_id;
  expect(startsOf(plan(state, facts).actions)).toMatchObject([
    { allowance: { tokens: 15_900, usd: 1 } },
  ]);

  begin(made, 1);
  expect(state.tasks["task-1"]).toMatchObject({
    run_id: run,
    attempt: 1,
    short: null,
    allowance: { tokens: 17_000, usd: 2 },
  });

  write({
    event: "usage_counted",
    task_id: "task-1",
    run_id: run ?? "",
    usage: { tokens: 4000, usd: 1.5 },
  });

  expect([state.spent, state.tasks["task-1"]?.spent]).toEqual([
    { tokens: 4000, usd: 1.5 },
    { tokens: 4000, usd: 1.5 },
  ]);
});

test("a raise that leaves less than the limit it rested at starts nothing", () => {
  const made = resting({ tokens: 1000 }, [at(1000, 2400)], { tokens: 700, usd: 0 });
  expect(plan(made.state, facts).waiting).toMatchObject([
    { because: "its budget of 1,000 tokens leaves 300 tokens, too little for another turn" },
  ]);

  expect(commandsOf(made)).toEqual(["autopilot portfolio edit task-1 --budget tokens=3k"]);
});

test("a run that has used its share gets more of what is left; if that is too little, the budget that stopped it is named", () => {
  const share = resting({}, [at(1000, 1300)], { tokens: 900, usd: 0 }, { tokens: 1000 });
  expect(commandsOf(share)).toEqual(["autopilot portfolio edit portfolio --budget tokens=2k"]);
  share.write({
    event: "project_updated",
    project_id: "proj-a",
    changes: { budget: { tokens: 950 } },
  });

  expect(listTasksNeedingPerson(share.state, facts.now)[0]?.commands.slice(0, 2)).toEqual([
    "autopilot portfolio edit portfolio --budget tokens=2k",
    "autopilot portfolio edit proj-a --budget tokens=2k",
  ]); // all at once

  share.write({ event: "project_updated", project_id: "proj-a", changes: { budget: {} } });
  share.write({ event: "portfolio_updated", budget: { tokens: 2000 } });
  expect(startsOf(plan(share.state, facts).actions)).toMatchObject([
    { allowance: { tokens: 1100 } },
  ]);
});

test("limits that no budget of the portfolio set are raised in the run, by a person", () => {
  const made = resting({ tokens: 1000 }, [at(30, 35, "minutes"), at(600, 1600)], {
    tokens: 500,
    usd: 0,
  });

  const { state, write } = made;
  expect(plan(state, facts).waiting).toMatchObject([
    { code: "budget", because: "the limit of its run, 30 min, leaves no room for another turn" },
  ]);

  expect(commandsOf(made)).toEqual(["autopilot budget raise minutes=+5,tokens=+1k --run task-1"]);
  write({
    event: "run_limits_raised",
    task_id: "task-1",
    run_id: state.tasks["task-1"]?.run_id ?? "",
    allowance: { tokens: 1600 },
  });

  expect(startsOf(plan(state, facts).actions)).toMatchObject([{ allowance: { tokens: 1100 } }]);
  const free = resting({}, [at(180_000, 195_000)], { tokens: 180_000, usd: 0 });
  expect(commandsOf(free)).toEqual(["autopilot budget raise tokens=+15k --run task-1"]);
  free.write({
    event: "task_updated",
    task_id: "task-1",
    changes: { budget: { tokens: 200_000 } },
  });

  expect(startsOf(plan(free.state, facts).actions)).toMatchObject([
    { allowance: { tokens: 20_000 } },
  ]);
});
