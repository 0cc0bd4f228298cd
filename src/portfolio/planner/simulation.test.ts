// simulate: simulates a portfolio under one seed: workers that fail, ask, die; branches that
// conflict; a planner that is killed at any point and comes back with nothing but its journal.
// Time, git and agents are numbers here; the deciding is the product's. `PORTFOLIO_SEEDS=10000 npx
// vitest run --project fast src/portfolio/planner/simulation.test.ts` plays more of them.

import { expect, test } from "vitest";
import type {
  PortfolioChange,
  PortfolioEntry,
} from "../../contracts/portfolio/portfolio-journal.ts";
import { formatIsoTime } from "../../kit/iso-time.ts";
import { Bisection } from "./bisect.ts";
import { reduceToLines } from "../views/event-line.ts";
import { mayOverlap } from "./overlap.ts";
import { buildPortfolioPage, buildProjectPage, buildTaskPage } from "../views/pages.ts";
import type { PlanAction } from "./plan-actions.ts";
import { plan } from "./plan.ts";
import { buildIdleQuestion } from "./questions.ts";
import { type RecoveryFacts, findRecovery } from "./recovery.ts";
import { reduce } from "./reduce.ts";
import { decideOnResult, buildProof, whyResultRefused } from "./result.ts";
import { listOpenBlocks, createEmptyPortfolio, type Portfolio, type Task } from "./state.ts";

type SimulationSize = { readonly projects: number; readonly tasks: number; readonly jobs: number };

class Killed extends Error {}

type SimulatedRun = {
  task: string;
  left: number;
  state: "open" | "rested" | "ended";
  ok: boolean;
  asks: boolean;
  owner: number | null;
  answered: boolean;
};

type Simulated = {
  readonly state: Portfolio;
  readonly entries: readonly PortfolioEntry[];
  /** What each branch holds, in order of landing. */
  readonly landed: ReadonlyMap<string, readonly string[]>;
  readonly ticks: number;
  readonly kills: number;
  readonly faults: readonly string[];
};

function dice(seed: number): () => number {
  let at = (seed * 2_654_435_761) >>> 0 || 1;
  return () => {
    at ^= at << 13;
    at ^= at >>> 17;
    at ^= at << 5;

    return (at >>> 0) / 4_294_967_296;
  };
}

const hex = (n: number): string => n.toString(16).padStart(40, "0");
const runName = (n: number): string => `run-2026-01-01-${String(n).padStart(6, "0")}`;

/** Plays until everything is over or nothing moves any more. */
function simulate(seed: number, size: SimulationSize): Simulated {
  const roll = dice(seed);
  const chance = (p: number): boolean => roll() < p;
  const pick = (n: number): number => Math.floor(roll() * n);
  const entries: PortfolioEntry[] = [];
  const faults: string[] = [];
  const runs = new Map<string, SimulatedRun>();
  const landed = new Map<string, string[]>();
  /** Commits by what they hold; a branch's tip is a commit. */
  const held = new Map<string, readonly string[]>();
  const tips = new Map<string, string>();
  const clash = new Map<string, { other: string; kind: "conflict" | "checks" }>();
  const adjusted = new Set<string>();
  let commits = 1;
  let runCount = 0;
  let owner = 1;
  let kills = 0;
  let now = 1_767_225_600_000;
  let state = createEmptyPortfolio();

  const write = (...changes: readonly PortfolioChange[]): void => {
    for (const change of changes) {
      const entry: PortfolioEntry = { ...change, seq: entries.length + 1, ts: formatIsoTime(now) };
      entries.push(entry);
      reduce(state, entry);
    }
  };

  const system = { actor: "system", reason_code: "ok" } as const;
  const planner = { actor: "planner", reason_code: "ok" } as const;
  /** kill -9 of the planner: what is not in the journal is forgotten. */
  const mayDie = (): void => {
    if (!chance(0.02)) return;
    throw new Killed();
  };

  write({ ...system, event: "portfolio_created", name: "simulated", budget: {}, day_budget: {} });
  const globs = [[], ["src/a/**"], ["src/b/**"], ["docs/**"], ["src/a/x.ts", "docs/y.md"]];

  for (let p = 0; p < size.projects; p++) {
    const repository = `repo-${p % Math.max(1, size.projects - 1)}`; // two projects share one
    tips.set(repository, hex(0));
    held.set(hex(0), []);
    landed.set(repository, []);

    const fields = {
      name: `p${p}`,
      objective: "o",
      repository,
      target: "main",
      priority: 1 + pick(5),
      slots: 1 + pick(2),
      budget: {},
      accept_unproved: chance(0.5),
      paused: false,
    };

    write({ ...system, event: "project_created", project_id: `proj-${p}`, fields });
    for (let t = 0; t < size.tasks; t++) {
      const task_id = `task-${p}x${t}-aaaaaa`;
      const dependencies = t > 0 && chance(0.4) ? [`task-${p}x${pick(t)}-aaaaaa`] : [];

      const fields2 = {
        objective: "do",
        acceptance_criteria: [{ text: "c", command: chance(0.9) ? "true" : null }],
        dependencies,
        touches: globs[pick(globs.length)] ?? [],
        priority: 1 + pick(5),
        budget: {},
        agent: null,
        flow: null,
        isolation: null,
      };

      write({
        ...system,
        event: "task_created",
        task_id,
        project_id: `proj-${p}`,
        status: "ready",
        fields: fields2,
      });

      if (t > 0 && chance(0.1)) {
        clash.set(task_id, {
          other: `task-${p}x${pick(t)}-aaaaaa`,
          kind: chance(0.5) ? "conflict" : "checks",
        });
      }
    }
  }

  const repositoryOf = (task: Task): string => state.projects[task.project_id]?.repository ?? "";
  /** Whether these fail together on top of a commit. */
  const collides = (base: readonly string[], tasks: readonly string[]): boolean =>
    tasks.some((id, at) => {
      const against = clash.get(id);
      return (
        against !== undefined &&
        !adjusted.has(id) &&
        [...base, ...tasks.slice(0, at), ...tasks.slice(at + 1)].includes(against.other)
      );
    });

  const ingest = (task: Task, run: SimulatedRun): void => {
    const run_id = task.run_id ?? "";
    const delivered = { task_id: task.task_id, run_id, event_nonce: task.event_nonce ?? "" };
    if (whyResultRefused(task, delivered) !== null) return;
    const usage = { tokens: 10, usd: 0 };

    if (run.state === "rested" && !run.answered) {
      const content = `${run_id}:q`;
      if (Object.values(state.blocks).some((block) => block.content === content)) return;
      const block_id = `block-20260101T000000Z-${String(entries.length).padStart(6, "0")}`;
      write({
        ...system,
        event: "block_opened",
        block_id,
        project_id: task.project_id,
        task_id: task.task_id,
        question: "?",
        expected_action: "answer",
        impact: "waits",
        options: {},
        content,
        asked_by: { run_id, block: "block:x" },
      });

      return;
    }

    const project = state.projects[task.project_id];
    if (project === undefined) return;

    const end = {
      is_completed: run.ok,
      has_changes: true,
      passed: run.ok ? ["true"] : [],
      failed: run.ok ? [] : ["true"],
    };
    const proof = buildProof(task.acceptance_criteria, end);
    const judged = decideOnResult(task, project, { end, proof, submitted: null });
    const commit = hex(commits++);

    const result: PortfolioChange = {
      ...system,
      event: "worker_result_ingested",
      ...delivered,
      to_status: judged.to,
      commit,
      proof,
      claim: null,
      summary: judged.because,
      evidence: [],
      usage,
    };
    if (judged.to !== "running") return write(result);
    write(result, { ...system, event: "merge_queued", task_id: task.task_id, run_id, commit });
  };

  /**
   * Moves a branch if it is where the proof was made, and says so. The gap between both is where a
   * kill hurts.
   */
  const land = (
    repository: string,
    from: string,
    commit: string,
    tasks: readonly string[],
  ): boolean => {
    const tip = tips.get(repository) ?? "";
    if (tip === from) {
      if (collides(landed.get(repository) ?? [], tasks)) {
        faults.push(`red after landing ${tasks.join()}`);
      }

      for (const id of tasks) {
        if (landed.get(repository)?.includes(id) === true) faults.push(`${id} landed twice`);
        landed.get(repository)?.push(id);
      }

      tips.set(repository, commit);
      held.set(commit, [...(landed.get(repository) ?? [])]);
    } else if (tip !== commit && !(held.get(tip) ?? []).includes(tasks[0] ?? "")) {
      return false;
    }

    mayDie();
    write(
      ...tasks.map((task_id): PortfolioChange => ({
        ...system,
        event: "merge_landed",
        task_id,
        commit,
        target: "main",
      })),
    );

    return true;
  };

  const merge = ({ repository, tasks }: Extract<PlanAction, { do: "merge" }>): void => {
    const batch: string[] = [];
    for (const id of tasks) {
      const against = clash.get(id);
      const beside = [...(landed.get(repository) ?? []), ...batch];
      if (against?.kind === "conflict" && !adjusted.has(id) && beside.includes(against.other)) {
        mayDie();
        write({
          ...system,
          event: "merge_rejected",
          task_id: id,
          kind: "conflict",
          with: [against.other],
          because: "conflict",
          evidence: [],
        });
      } else {
        batch.push(id);
      }
    }

    const search = new Bisection(batch);
    let step = search.next();

    for (;;) {
      mayDie();
      if (step.do === "end") return;
      if (step.do === "prove") {
        step = search.next({ passed: !collides(landed.get(repository) ?? [], step.tasks) });
      } else if (step.do === "land") {
        const from = tips.get(repository) ?? "";
        const commit = hex(commits++);
        write({
          ...system,
          event: "merge_verified",
          repository,
          tasks: [...step.tasks],
          from,
          commit,
          evidence: [],
        });

        mayDie();
        if (!land(repository, from, commit, step.tasks)) return;
        step = search.next();
      } else if (step.do === "hold") {
        step = search.next();
      } else {
        write({
          ...system,
          event: "merge_rejected",
          task_id: step.task,
          kind: "checks",
          with: [...step.beside],
          because: "fails together",
          evidence: ["log"],
        });

        step = search.next();
      }
    }
  };

  const recover = (): Set<string> => {
    const gone = new Set<string>();
    for (const batch of state.batches.slice()) {
      const tip = tips.get(batch.repository) ?? "";
      const isIn =
        tip === batch.commit || batch.tasks.every((id) => (held.get(tip) ?? []).includes(id));

      const found: RecoveryFacts = {
        worker: "gone",
        lease: "lapsed",
        run: "ended",
        result: "ingested",
        merge: isIn ? "landed" : "verified",
      };

      const { remedy } = findRecovery(found);
      if (remedy === "record_landing" || (remedy === "land" && tip === batch.from)) {
        land(batch.repository, batch.from, batch.commit, batch.tasks);
      }
    }

    for (const task of Object.values(state.tasks)) {
      if (task.status !== "running" || task.stage !== "working") continue;
      const run = runs.get(task.run_id ?? "");
      const isAlive = run !== undefined && run.owner === owner;

      const found: RecoveryFacts = {
        worker: isAlive ? "alive" : "gone",
        lease: isAlive && run.state === "open" ? "held" : "lapsed",
        run: run?.state ?? "open",
        result: task.ingested ? "ingested" : "missing",
        merge: "none",
      };

      const { remedy } = findRecovery(found);
      if (remedy === "ingest" && run !== undefined) {
        ingest(task, run);
      } else if (remedy === "queue") {
        write({
          ...system,
          event: "merge_queued",
          task_id: task.task_id,
          run_id: task.run_id ?? "",
          commit: task.commit ?? hex(0),
        });
      } else if (remedy === "release") {
        gone.add(task.task_id);
      }

      mayDie();
    }

    return gone;
  };

  const tick = (): boolean => {
    const gone = recover();
    const { actions, waiting } = plan(state, {
      now: formatIsoTime(now),
      jobs: size.jobs,
      withoutWorker: gone,
      perAgent: {},
      agent: "codex",
    });

    const open = Object.values(state.tasks).filter(
      ({ status }) => status !== "done" && status !== "canceled",
    ).length;

    const reported = new Set([
      ...waiting.map(({ task_id }) => task_id),
      ...actions.flatMap((action) => ("task_id" in action ? action.task_id : [])),
    ]);
    if (reported.size !== open) faults.push(`${open} tasks are open, ${reported.size} are told of`);
    for (const action of actions) {
      mayDie();
      if (action.do === "release") {
        write({
          ...planner,
          event: "lease_lost",
          task_id: action.task_id,
          run_id: action.run_id,
          because: "gone",
          usage: { tokens: 1, usd: 0 },
        });
      } else if (action.do === "retry") {
        write({
          ...planner,
          event: "task_status_changed",
          task_id: action.task_id,
          to_status: "ready",
          because: action.because,
        });
      } else if (action.do === "merge") {
        merge(action);
      } else if (action.do === "ask_idle") {
        const block_id = `block-20260101T000000Z-${String(entries.length).padStart(6, "0")}`;
        const project = state.projects[action.project_id];
        if (project === undefined) continue;

        const asked = {
          ...buildIdleQuestion(state, project),
          expected_action: "answer",
          impact: "waits",
          options: {},
          content: "idle:1",
          asked_by: null,
        };

        write({
          ...planner,
          event: "block_opened",
          block_id,
          project_id: action.project_id,
          task_id: null,
          ...asked,
        });
      } else if (action.do === "dispatch") {
        const task = state.tasks[action.task_id];
        if (task === undefined) continue;
        const known = runs.get(task.run_id ?? "");
        const isKept = known !== undefined && known.state !== "ended";
        const run_id = isKept ? (task.run_id ?? "") : runName(++runCount);

        if (!isKept) {
          if (task.returned_by === "queue") adjusted.add(task.task_id);
          runs.set(run_id, {
            task: task.task_id,
            left: 1 + pick(4),
            state: "open",
            ok: !chance(0.1),
            asks: chance(0.05),
            owner: null,
            answered: false,
          });
        }

        write({
          ...planner,
          event: "task_dispatched",
          task_id: task.task_id,
          run_id,
          event_nonce: `n${entries.length}`,
          worker_backend: "acp",
          worker_agent_id: "codex",
          worker_session_key: `worker-${task.task_id}`,
          base: hex(0),
          copy: "c",
        });

        mayDie();
        const run = runs.get(run_id);
        if (run !== undefined) Object.assign(run, { owner, state: "open" });
      }
    }

    check();
    return actions.length > 0;
  };

  const check = (): void => {
    const running = Object.values(state.tasks).filter(({ status }) => status === "running");
    const working = running.filter(({ stage }) => stage === "working");
    if (working.length > size.jobs) faults.push(`${working.length} work, ${size.jobs} may`);
    for (const [at, one] of running.entries()) {
      for (const other of running.slice(at + 1)) {
        if (repositoryOf(one) === repositoryOf(other) && mayOverlap(one.touches, other.touches)) {
          faults.push(`${one.task_id} and ${other.task_id} overlap`);
        }
      }
    }
  };

  const world = (): boolean => {
    let moved = false;
    for (const run of runs.values()) {
      if (run.owner !== owner || run.state !== "open") continue;
      moved = true;

      if (chance(0.03)) {
        run.owner = null; // the worker alone was killed
        kills += 1;
      } else if (run.asks && !run.answered) {
        run.state = "rested";
      } else if ((run.left -= 1) <= 0) {
        run.state = "ended";
      }
    }

    for (const block of listOpenBlocks(state)) {
      moved = true; // somebody will answer
      if (!chance(0.5)) continue;
      const run = runs.get(block.asked_by?.run_id ?? "");
      if (run !== undefined) run.answered = true;
      write({
        ...system,
        event: "block_resolved",
        block_id: block.block_id,
        answer: "yes",
        content: block.content,
      });
    }

    // A person lets go of what needs them, sometimes.
    for (const task of Object.values(state.tasks)) {
      if (
        task.status === "blocked_human" &&
        !listOpenBlocks(state).some(({ task_id }) => task_id === task.task_id)
      ) {
        moved = true;
        write({
          ...system,
          event: "task_status_changed",
          task_id: task.task_id,
          to_status: "canceled",
          because: "not wanted",
        });
      }
    }

    return moved;
  };

  let ticks = 0;
  let still = 0;
  const ticksMax = size.projects * size.tasks * 60;
  while (ticks < ticksMax && still < 3) {
    ticks += 1;
    now += 1000 + (chance(0.01) ? -3_600_000 : 0);
    let moved = true;

    try {
      moved = tick();
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      kills += 1;
      owner += 1; // workers in the same process are gone with it
      state = createEmptyPortfolio();
      for (const entry of entries) reduce(state, entry);
    }

    moved = world() || moved;
    still = moved ? 0 : still + 1;
  }

  if (still < 3) faults.push(`not over after ${ticks} ticks`);
  return { state, entries, landed, ticks, kills, faults };
}

const seeds = Number(process.env["PORTFOLIO_SEEDS"] ?? 6);
const first = Number(process.env["PORTFOLIO_FIRST_SEED"] ?? 1);
const timeout = 120_000 + seeds * 200;

test(
  "every portfolio ends where it should, each task lands once, and no two that overlap are under way at once",
  { timeout },
  () => {
    const bad: string[] = [];
    for (let seed = first; seed < first + seeds; seed++) {
      const { state, landed, faults } = simulate(seed, { projects: 4, tasks: 6, jobs: 3 });
      bad.push(...faults.map((fault) => `seed ${seed}: ${fault}`));
      const inGit = [...landed.values()].flat();
      const done = Object.values(state.tasks).filter(
        ({ status, landed: commit }) => status === "done" && commit !== null,
      );
      if (new Set(inGit).size !== inGit.length || inGit.length !== done.length) {
        bad.push(`seed ${seed}: ${inGit.length} in git, ${done.length} done`);
      }

      for (const task of Object.values(state.tasks)) {
        const isOver = ["done", "canceled"].includes(task.status);
        const isHeld =
          task.status === "ready" &&
          task.dependencies.some((id) => state.tasks[id]?.status !== "done");
        if (!isOver && !isHeld && task.status !== "needs_adjustment") {
          bad.push(`seed ${seed}: ${task.task_id} is left ${task.status}`);
        }
      }
    }

    expect(bad).toEqual([]);
  },
);

test("what the journal says, read anew, is the same state, the same lines and the same pages", () => {
  for (let seed = first; seed < first + Math.min(seeds, 3); seed++) {
    const { state, entries } = simulate(seed, { projects: 3, tasks: 5, jobs: 2 });
    const again = createEmptyPortfolio();
    const lines = entries.flatMap((entry) => reduceToLines(again, entry));
    expect(again).toEqual(state);
    expect(lines.every((line) => typeof JSON.parse(line) === "object")).toBe(true);

    const pages = (of: typeof state) => [
      buildPortfolioPage(of),
      ...Object.values(of.projects).map((one) => buildProjectPage(of, one)),
      ...Object.values(of.tasks).map(buildTaskPage),
    ];
    expect(JSON.stringify(pages(again))).toBe(JSON.stringify(pages(state)));
  }
});
