import type { Asked, Plan } from "./stage.ts";
import { answer, resume, type Scenario } from "./scenarios.ts";

const task = (id: string, files: string[], after: string[] = []) => ({ id, files, after });
const ok: Plan = {};

/** What goes well in a phase of the roadmap unless a story says otherwise. */
function roadmapGoesWell({ step }: Asked): Plan {
  if (step === "execute") return { tasks: [task("01", ["a"])] };
  if (step === "plan_check") return { says: { pass: true, confidence: 9 } };
  if (step === "verify") return { says: { pass: true } };
  if (step === "judge") return { says: { recommendation: "proceed", alignment_score: 8 } };
  if (step === "audit") return { facts: { gaps: 0 } };

  return ok;
}

/**
 * The roadmap's stories: phases that depend on each other, tasks in waves, debugging, replanning,
 * people.
 */
export const roadmapStories: Readonly<Record<string, Scenario>> = {
  "roadmap: everything at once": {
    flow: "roadmap",
    drafted: { options: { complete: true }, run: { retries: 40 } },
    script: {
      phases: [
        { id: "0", after: [], skip: "already_completed" },
        { id: "1", after: ["0"] },
        { id: "2", after: ["1"] },
        { id: "3", after: ["1"] },
        { id: "4", after: ["3"] },
        { id: "4.1", after: ["4"] },
        { id: "5", after: ["1"] },
        { id: "6", after: ["5"] },
      ],
      plan: (asked) => {
        const { phase, step, n, task: id } = asked;
        if (step === "triage") {
          return {
            facts: { route: phase === "2" ? "verify_only" : "full", plan_exists: phase === "3" },
          };
        }

        if (step === "plan_check") {
          return { says: { pass: true, confidence: phase === "1" && n === 1 ? 5 : 8 } };
        }

        if (step === "execute") {
          const tasks = [
            task("01", ["a"]),
            task("02", ["b"]),
            ...(phase === "1" ? [task("03", ["a"]), task("04", ["c"], ["02"])] : []),
          ];

          return { tasks, left: phase === "5" ? ["h1"] : [] };
        }

        if (id === "02" && phase === "1" && n === 1) return { fail: "task_red" };
        if (step === "checks") {
          return phase === "1" && n === 1
            ? { fail: "tests_red" }
            : phase === "3"
              ? { fail: `tests_red_${n}` }
              : ok;
        }

        if (step === "judge") {
          return {
            says: { recommendation: "proceed", alignment_score: phase === "1" && n <= 3 ? 5 : 8 },
          };
        }

        if (step === "audit") return { facts: { gaps: n === 1 ? 1 : 0 } };
        if (step === "fix") return { tasks: [task("gap-1", ["z"])] };
        return roadmapGoesWell(asked);
      },
    },
    user: (run, why) => {
      if (why === "phase_failed" && run.phases.find(({ id }) => id === "3")?.visit === 1) {
        return [resume(run)];
      }

      return why === "human_block_open"
        ? answer(run, ({ block }) => (block.endsWith("#1") ? "issues_found" : "pass"), [
            "wrong colour",
          ])
        : null;
    },
  },
  "roadmap: a failed phase pauses, resume runs it again, checkpoints": {
    flow: "roadmap",
    drafted: { options: { checkpoint_every: 1 } },
    script: {
      phases: [
        { id: "1", after: [] },
        { id: "2", after: ["1"] },
        { id: "3", after: ["2"] },
      ],
      plan: (asked) =>
        asked.step === "preflight" && asked.phase === "2" && asked.visit === 1
          ? { fail: "tool_failure" }
          : roadmapGoesWell(asked),
    },
    user: (run, why) =>
      ["checkpoint_reached", "phase_failed"].includes(why) ? [resume(run)] : null,
  },
  "roadmap: the judge halts one, a replan is spent, one has only human tasks": {
    flow: "roadmap",
    drafted: { options: { complete: true }, run: { retries: 40 } },
    script: {
      phases: [
        { id: "1", after: [] },
        { id: "2", after: [] },
        { id: "3", after: [] },
      ],
      plan: (asked) => {
        const { phase, step } = asked;
        if (step === "execute") {
          return phase === "3" ? { tasks: [], left: ["h1"] } : { tasks: [task("01", ["a"])] };
        }

        if (step === "judge") {
          return {
            says: { recommendation: phase === "1" ? "halt" : "proceed", alignment_score: 4 },
          };
        }

        if (step === "audit") return { facts: { gaps: 2 } };
        if (step === "fix") return { tasks: [task("gap-1", ["z"])] };
        return roadmapGoesWell(asked);
      },
    },
    user: (run, why) => (why === "human_block_open" ? answer(run, "fail") : null),
  },
  "roadmap: the budget of a phase runs out in a wave and is raised": {
    flow: "roadmap",
    drafted: { phase: { tokens: 700 }, run: { tokens: 100_000 } },
    script: {
      phases: [{ id: "1", after: [] }],
      plan: (asked) =>
        asked.step === "execute"
          ? { tasks: ["a", "b", "c", "d", "e"].map((id) => task(id, [id])) }
          : roadmapGoesWell(asked),
    },
    user: (run, why) => {
      if (why !== "phase_cap_reached") return null;
      return [
        {
          event: "limit_raised",
          request: `raise:${run.opening}`,
          scope: "phase",
          dimension: "tokens",
          to: (run.limits.phase["tokens"] ?? 0) + 600,
        },
        resume(run),
      ];
    },
  },
  "roadmap: a task fails for good, later waves wait, debug fixes": {
    flow: "roadmap",
    script: {
      phases: [{ id: "1", after: [] }],
      plan: (asked) => {
        const { step, task: id, n } = asked;
        if (id === "01") return { fail: `red_${n}` };
        if (id === "g1") return { fail: "large" };
        if (step === "execute") {
          return { tasks: [task("01", ["a"]), task("02", ["b"]), task("03", ["a"])] };
        }

        if (step === "checks" && n === 1) return { fail: "red" };
        if (step === "audit") return { facts: { gaps: n === 1 ? 3 : 1 } };
        if (step === "fix") {
          return { tasks: [task("g1", ["x"]), task("g2", ["y"], ["g1"]), task("g3", ["z"])] };
        }

        return roadmapGoesWell(asked);
      },
    },
  },
};
