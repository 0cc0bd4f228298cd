// What a portfolio costs: a tick of the planner over ten thousand tasks, and every line and page of
// a hundred thousand events made again. Counted is the processor's time of this process: both only
// compute, and what else the machine does does not count.

import { formatIsoTime } from "../src/kit/iso-time.ts";
import type { PortfolioEntry } from "../src/contracts/portfolio/portfolio-journal.ts";
import { plan } from "../src/portfolio/planner/plan.ts";
import { project, task } from "../src/portfolio/planner/portfolio.test-support.ts";
import { createEmptyPortfolio, type Portfolio } from "../src/portfolio/planner/state.ts";
import { reduceToLines } from "../src/portfolio/views/event-line.ts";
import {
  buildPortfolioPage,
  buildProjectPage,
  buildTaskPage,
} from "../src/portfolio/views/pages.ts";
import { isQuick, median, report } from "./measure.ts";

const rounds = isQuick ? 9 : 31;
const projects = 100;
const tasks = 10_000;
const events = 100_000;

const began = 1_767_225_600_000;
const idOf = (n: number): string => `task-${n}-aaaaaa`;

/**
 * Ready tasks in a hundred repositories: a third depends on the one before, half may change
 * anything.
 */
function* entries(count: number): Generator<PortfolioEntry> {
  let seq = 0;
  const entry = (change: object): PortfolioEntry =>
    ({
      actor: "planner",
      reason_code: "ok",
      ...change,
      seq: ++seq,
      ts: formatIsoTime(began + seq * 1000),
    }) as PortfolioEntry;
  yield entry({ event: "portfolio_created", name: "bench", budget: {}, day_budget: {} });

  for (let p = 0; p < projects; p++) {
    yield entry({
      event: "project_created",
      project_id: `proj-${p}`,
      fields: project({ name: `p${p}`, repository: `r${p}`, slots: 2 }),
    });
  }

  for (let n = 0; n < tasks; n++) {
    const fields = task({
      dependencies: n % 3 === 1 ? [idOf(n - 1)] : [],
      touches: n % 2 === 0 ? [] : [`src/${n}/**`],
      priority: 1 + (n % 5),
    });

    yield entry({
      event: "task_created",
      task_id: idOf(n),
      project_id: `proj-${Math.floor(n / (tasks / projects))}`,
      status: "ready",
      fields,
    });
  }

  const left = count - seq;
  for (let n = 0; n < left; n++) {
    yield entry({
      event: "task_updated",
      task_id: idOf(n % tasks),
      changes: { priority: 1 + ((n * 7) % 5) },
    });
  }
}

const processorMs = (work: () => void): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);

  return (user + system) / 1000;
};

const state: Portfolio = createEmptyPortfolio();
for (const entry of entries(tasks + projects + 1)) reduceToLines(state, entry);
const facts = {
  now: formatIsoTime(began + 1e9),
  jobs: 8,
  withoutWorker: new Set<string>(),
  perAgent: {},
  agent: "codex",
};
let reported = 0;
const ticks = Array.from({ length: rounds }, () =>
  processorMs(() => void (reported = plan(state, facts).waiting.length)),
);
report(
  "portfolio_tick",
  median(ticks),
  `${tasks.toLocaleString("en")} tasks of ${projects} projects, ${reported.toLocaleString("en")} told why they wait`,
);

const all = [...entries(events)];
let bytes = 0;
const rebuilds = Array.from({ length: isQuick ? 1 : 3 }, () =>
  processorMs(() => {
    bytes = 0;
    const anew = createEmptyPortfolio();
    for (const entry of all) bytes += reduceToLines(anew, entry).join("").length;
    bytes += buildPortfolioPage(anew).body.length;

    for (const item of Object.values(anew.projects)) {
      bytes += buildProjectPage(anew, item).body.length;
    }

    for (const one of Object.values(anew.tasks)) bytes += buildTaskPage(one).body.length;
  }),
);
report(
  "portfolio_rebuild",
  median(rebuilds) / 1000,
  `${events.toLocaleString("en")} events, ${Math.round(bytes / 1_000_000)} MB of lines`,
);
