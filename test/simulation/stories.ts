// stories: what agents, checks and people do in whole runs of the six model flows. Pure functions
// of place, ordinal and recorded state.

import {
  answerTo,
  type Asked,
  ended,
  phaseOf,
  resume,
  script,
  statusOf,
  task,
} from "./story-words.ts";
import { shippedFlows, wandering } from "./shipped.ts";
import { waves } from "./stories-waves.ts";
import type { Place, Plan, Script, Story } from "./story.ts";

const objectiveEndsAt = (
  cycle: number,
  more: (place: Place) => Plan | undefined = () => undefined,
): Script =>
  script(
    (place) =>
      more(place) ??
      (place.step === "judged"
        ? { facts: { complete: place.n === cycle } }
        : place.step === "execute"
          ? { says: { confidence: 0.9 } }
          : undefined),
  );

const objectives: Story[] = [
  {
    name: "objective: three cycles, one red check on the way",
    flow: "shipped:objective",
    script: objectiveEndsAt(3, ({ step, n }) =>
      step === "prove" && n === 1 ? { fail: "criterion is red" } : undefined,
    ),
    endsWell: (run) => run.status === "completed" && ended(run, "1", "execute") === 3,
  },
  {
    name: "objective: the cycle cap rests, another invocation goes on",
    flow: "shipped:objective",
    options: { max_cycles: 2 },
    script: objectiveEndsAt(4),
    people: (_run, why) => (why === "cycle_cap_reached" ? [] : null),
    isCrashFree: true,
    endsWell: (run) => run.status === "completed" && run.opening >= 2,
  },
  {
    name: "objective: low confidence is handed over, then a merge is approved",
    flow: "shipped:objective",
    options: { approval_policy: "required-before-merge" },
    script: objectiveEndsAt(2, ({ step, n }) =>
      step === "execute" ? { says: { confidence: n === 1 ? 0.2 : 0.9 } } : undefined,
    ),
    people: (run, why) =>
      why === "confidence_drop_requires_handoff"
        ? [resume(run)]
        : run.status === "paused" && Object.keys(run.blocks).length > 0
          ? answerTo(run, () => "A")
          : null,
    endsWell: (run) => run.status === "completed",
  },
  {
    name: "objective: a judge reviews low confidence by itself",
    flow: "shipped:objective",
    options: { handoff_mode: "auto" },
    script: objectiveEndsAt(2, ({ step }) =>
      step === "execute"
        ? { says: { confidence: 0.2 } }
        : step === "review"
          ? { says: { confidence: 0.8, pass: true } }
          : undefined,
    ),
    endsWell: (run) => run.status === "completed" && ended(run, "1", "review") === 2,
  },
  {
    name: "objective: an old review does not pause a later cycle",
    flow: "shipped:objective",
    options: { handoff_mode: "auto" },
    script: objectiveEndsAt(3, ({ step, n }) =>
      step === "execute"
        ? n === 2
          ? { turnFails: "model hung up" }
          : { says: { confidence: 0.2 } }
        : step === "review"
          ? { says: { confidence: n === 1 ? 0.3 : 0.9, pass: true } }
          : undefined,
    ),
    people: (run, why) =>
      why === "confidence_drop_requires_handoff" && ended(run, "1", "execute") === 1
        ? [resume(run)]
        : null,
    endsWell: (run) => run.status === "completed",
  },
  {
    name: "objective: leaving the scope twice pauses",
    flow: "shipped:objective",
    script: objectiveEndsAt(1, ({ step, run }) =>
      step === "execute" && run.violations < 2 ? { leavesScope: true } : undefined,
    ),
    people: (run, why) => (why === "scope_violation_blocked" ? [resume(run)] : null),
    isCrashFree: true,
    endsWell: (run, journal) =>
      run.status === "completed" && journal.some(({ event }) => event === "run_paused"),
  },
  {
    name: "objective: nothing ever changes, the breaker opens, then it works",
    flow: "shipped:objective",
    script: objectiveEndsAt(7, ({ step, n }) =>
      step === "execute" ? { changes: n > 4, says: { confidence: 0.9 } } : undefined,
    ),
    people: (run, why) => (why === "breaker_open" ? [resume(run)] : null),
    endsWell: (run, journal) =>
      run.status === "completed" &&
      run.breaker.state === "closed" &&
      journal.some(({ event }) => event === "circuit_breaker_opened"),
  },
  {
    name: "objective: the provider's limit parks the run",
    flow: "shipped:objective",
    script: objectiveEndsAt(1, ({ step }) =>
      step === "execute" ? { cut: "provider" } : undefined,
    ),
    people: (run, why) => (why === "provider_limit_reached" ? [resume(run)] : null),
    endsWell: (run) => run.status === "completed" && ended(run, "1", "execute") === 1,
  },
  {
    name: "objective: the budget runs out and is raised",
    flow: "shipped:objective",
    limits: { run: { tokens: 250 } },
    script: objectiveEndsAt(4),
    people: (run, why) =>
      why === "budget_threshold_reached"
        ? [
            {
              event: "limit_raised",
              request: `raise:${run.seq}`,
              scope: "run",
              dimension: "tokens",
              to: (run.limits.run["tokens"] ?? 0) + 200,
            } as Asked,
            resume(run),
          ]
        : null,
    endsWell: (run, journal) =>
      run.status === "completed" && journal.some(({ event }) => event === "limit_raised"),
  },
];

const goesWell = ({ step }: Place): Plan | undefined =>
  step === "plan_check"
    ? { says: { pass: true, confidence: 9 } }
    : step === "verify"
      ? { says: { pass: true } }
      : step === "judge"
        ? { says: { recommendation: "proceed", alignment_score: 8 } }
        : step === "audit"
          ? { facts: { gaps: 0 } }
          : undefined;

const roadmaps: Story[] = [
  {
    name: "roadmap: everything at once",
    flow: "roadmap",
    options: { complete: true },
    limits: { run: { retries: 40 } },
    script: script(
      (place) => {
        const { phase, step, n, task: inTask } = place;
        if (inTask === "02" && phase === "1" && n === 1) return { fail: "task is red" };
        if (step === "triage") {
          return {
            facts: { route: phase === "2" ? "verify_only" : "full", plan_exists: phase === "3" },
          };
        }

        if (step === "plan_check") {
          return { says: { pass: true, confidence: phase === "1" && n === 1 ? 5 : 8 } };
        }

        if (step === "execute") {
          return {
            tasks:
              phase === "1"
                ? [
                    task("01", ["a"]),
                    task("02", ["b"]),
                    task("03", ["a"]),
                    task("04", ["c"], ["02"]),
                  ]
                : [task("01", ["a"]), task("02", ["b"])],
            left: phase === "5" ? ["h1"] : [],
          };
        }

        if (step === "checks" && phase === "1" && n === 1) return { fail: "tests are red" };
        if (step === "checks" && phase === "3") {
          return { fail: `tests are red again and again (${"x".repeat(n)})` };
        }

        if (step === "judge") {
          return {
            says: { recommendation: "proceed", alignment_score: phase === "1" && n <= 3 ? 5 : 8 },
          };
        }

        if (step === "audit") return { facts: { gaps: n === 1 ? 1 : 0 } };
        if (step === "fix") return { tasks: [task("gap-1", ["z"])] };
        return goesWell(place);
      },
      [
        { id: "0", after: [], skip: "already_completed" },
        { id: "1", after: ["0"] },
        { id: "2", after: ["1"] },
        { id: "3", after: ["1"] },
        { id: "4", after: ["3"] },
        { id: "4.1", after: ["4"] },
        { id: "5", after: ["1"] },
        { id: "6", after: ["5"] },
      ],
    ),
    people: (run, why) => {
      if (why === "phase_failed" && phaseOf(run, "3")?.visit === 1) return [resume(run)];
      if (Object.keys(run.blocks).length === 0 || run.status !== "paused") return null;
      return answerTo(run, (_step, block) => (block.endsWith("#1") ? "issues_found" : "pass"), [
        "wrong colour",
      ]);
    },
    endsWell: (run) =>
      run.status === "paused" &&
      run.reason === "phase_failed" &&
      ["1", "2", "5", "6"].every((id) => statusOf(run, id) === "completed") &&
      statusOf(run, "3") === "failed" &&
      phaseOf(run, "3")?.visit === 2 &&
      phaseOf(run, "4.1")?.because === "blocked_by_phase_3" &&
      run.cursors["1"]?.taken["debug"] === 3 &&
      run.cursors["1"]?.taken["replan"] === 1 &&
      ended(run, "2", "plan") === 0,
  },
  {
    name: "roadmap: a failed phase pauses, resume runs it again, with checkpoints",
    flow: "roadmap",
    options: { checkpoint_every: 1 },
    script: script(
      (place) =>
        place.step === "preflight" && place.phase === "2" && place.visit === 1
          ? { fail: "tool_failure" }
          : place.step === "execute"
            ? { tasks: [task("01", ["a"])] }
            : goesWell(place),
      [
        { id: "1", after: [] },
        { id: "2", after: ["1"] },
        { id: "3", after: ["2"] },
      ],
    ),
    people: (run, why) =>
      why === "checkpoint_reached" || why === "phase_failed" ? [resume(run)] : null,
    endsWell: (run, journal) =>
      run.status === "completed" &&
      phaseOf(run, "2")?.visit === 2 &&
      statusOf(run, "3") === "completed" &&
      journal.some(({ event }) => event === "phase_skipped"),
  },
  {
    name: "roadmap: the judge halts one, another is replanned in vain, a person rejects a third",
    flow: "roadmap",
    options: { complete: true },
    limits: { run: { retries: 40 } },
    script: script(
      (place) => {
        const { phase, step } = place;
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
        return goesWell(place);
      },
      [
        { id: "1", after: [] },
        { id: "2", after: [] },
        { id: "3", after: [] },
      ],
    ),
    people: (run, why) =>
      run.status === "paused" && Object.keys(run.blocks).length > 0 && why !== "phase_failed"
        ? answerTo(run, () => "fail")
        : null,
    endsWell: (run) =>
      run.status === "paused" &&
      ["1", "2", "3"].every((id) => statusOf(run, id) === "failed") &&
      run.cursors["2"]?.taken["replan"] === 1 &&
      run.cursors["after.self_audit"]?.because === "gaps_remaining",
  },
  {
    name: "roadmap: a phase's budget runs out inside a wave and is raised",
    flow: "roadmap",
    limits: { phase: { tokens: 700 }, run: { tokens: 100_000, retries: 10 } },
    script: script(
      (place) =>
        place.step === "execute"
          ? { tasks: ["a", "b", "c", "d", "e"].map((file) => task(file, [file])) }
          : goesWell(place),
      [{ id: "1", after: [] }],
    ),
    people: (run, why) =>
      why === "phase_cap_reached"
        ? [
            {
              event: "limit_raised",
              request: `raise:${run.seq}`,
              scope: "phase",
              dimension: "tokens",
              to: (run.limits.phase["tokens"] ?? 0) + 600,
            } as Asked,
            resume(run),
          ]
        : null,
    endsWell: (run) => run.status === "completed",
  },
  {
    name: "roadmap: a task fails for good, later waves wait, debugging fixes it",
    flow: "roadmap",
    script: script(
      (place) => {
        const { step, task: inTask, n } = place;
        if (inTask === "01") return { fail: `red ${"i".repeat(n)}` };
        if (inTask === "g1") return { fail: "too large" };
        if (step === "execute") {
          return { tasks: [task("01", ["a"]), task("02", ["b"]), task("03", ["a"])] };
        }

        if (step === "checks" && n === 1) return { fail: "red" };
        if (step === "audit") return { facts: { gaps: n === 1 ? 3 : 0 } };
        if (step === "fix") {
          return { tasks: [task("g1", ["x"]), task("g2", ["y"], ["g1"]), task("g3", ["z"])] };
        }

        return goesWell(place);
      },
      [{ id: "1", after: [] }],
    ),
    endsWell: (run) => run.status === "completed" && statusOf(run, "1") === "completed",
  },
];

const qualities: Story[] = [
  {
    name: "quality: a gate fails twice, then six phases",
    flow: "quality",
    script: script(({ phase, step, n }) =>
      step === "look"
        ? { facts: { present: false } }
        : step === "do" && phase === "3" && n <= 2
          ? { fail: `gate ${"i".repeat(n)}` }
          : undefined,
    ),
    endsWell: (run) => run.status === "completed" && ended(run, "3", "do") === 3,
  },
  {
    name: "quality: documents are required and missing",
    flow: "quality",
    options: { require_docs: true },
    script: script(({ step }) => (step === "look" ? { facts: { present: false } } : undefined)),
    endsWell: (run, journal) =>
      run.status === "stopped" && !journal.some(({ event }) => event === "turn_ended"),
  },
  {
    name: "quality: a gate never holds",
    flow: "quality",
    script: script(({ phase, step, n }) =>
      step === "look"
        ? { facts: { present: true } }
        : phase === "2"
          ? { fail: `gate ${"i".repeat(n)}` }
          : undefined,
    ),
    endsWell: (run) =>
      run.status === "paused" && run.reason === "phase_failed" && ended(run, "2", "do") === 4,
  },
];

const isContainer = ({ phase, step, task: inTask }: Place, ...phases: string[]): boolean =>
  phases.includes(phase) && step === "do" && inTask === null;

const staged: Story[] = [
  {
    name: "greenfield: rounds, a boundary, waves, a review gate, retries spent",
    flow: "greenfield",
    script: script((place) => {
      const { phase, step, n, task: inTask } = place;
      if (step === "look") return { facts: { ui_project: false, solution_exists: false } };
      if (phase === "1" && step === "do") return { says: { question: n === 1 } };
      if (phase === "3" && n <= 4) return { fail: `plan ${"i".repeat(n)}` };
      if (isContainer(place, "6")) {
        return {
          tasks: ["01", "02", "03", "04", "05"]
            .map((id) => task(id, [id]))
            .concat(task("06", ["f"], ["01", "02"])),
        };
      }

      if (step === "review") return { says: { pass: inTask !== "wave-1" } };
      if (phase === "6" && inTask === "03" && n < 3) return { fail: `red ${"i".repeat(n)}` };
      return undefined;
    }),
    people: (run, why) => {
      if (why === "session_boundary") return [resume(run)];
      if (run.status !== "paused" || Object.keys(run.blocks).length === 0) return null;
      return answerTo(run, (step, block, isHouse) =>
        isHouse
          ? "A"
          : step === "decision"
            ? block.endsWith("#1")
              ? "A"
              : "B"
            : step === "ask"
              ? "because"
              : "A",
      );
    },
    endsWell: (run) =>
      run.status === "completed" &&
      ended(run, "2", "do") === 2 &&
      ended(run, "3", "do") === 5 &&
      statusOf(run, "4") === "skipped",
  },
  {
    name: "greenfield: enters at the first unproved phase",
    flow: "greenfield",
    options: { continue: true, security: true },
    files: ["1/do", "2/do", "3/do"],
    script: script((place) =>
      place.step === "look"
        ? { facts: { ui_project: true } }
        : isContainer(place, "6")
          ? { tasks: [task("01", ["a"])] }
          : place.step === "review"
            ? { says: { pass: true } }
            : undefined,
    ),
    endsWell: (run) =>
      run.status === "completed" &&
      phaseOf(run, "3")?.because === "already_proved" &&
      statusOf(run, "8") === "completed" &&
      statusOf(run, "9") === "skipped",
  },
  {
    name: "greenfield: the review of a batch fails and a person stops it",
    flow: "greenfield",
    options: { continue: true },
    files: ["1/do", "2/do", "3/do"],
    script: script((place) =>
      place.step === "look"
        ? { facts: { ui_project: false } }
        : isContainer(place, "6")
          ? { tasks: [task("01", ["a"]), task("02", ["b"], ["01"])] }
          : place.step === "review"
            ? { says: { pass: false } }
            : undefined,
    ),
    people: (run) =>
      run.status === "paused" && Object.keys(run.blocks).length > 0
        ? answerTo(run, (_step, _block, isHouse) => (isHouse ? "C" : "B"))
        : null,
    endsWell: (run) => run.status === "stopped",
  },
  {
    name: "existing-code: two tasks, twice round",
    flow: "existing-code",
    options: { continue: true },
    script: script((place) =>
      isContainer(place, "4", "8")
        ? { tasks: [task("01", ["a"]), task("02", ["b"])] }
        : place.step === "review"
          ? { says: { pass: true } }
          : undefined,
    ),
    people: (run) => {
      if (run.status !== "paused" || Object.keys(run.blocks).length === 0) return null;
      return answerTo(run, (step, block) =>
        (step === "more" && block.includes("7@1/more#1")) ||
        (step === "again" && block.includes("12@1/"))
          ? "A"
          : "B",
      );
    },
    endsWell: (run) =>
      run.status === "completed" &&
      phaseOf(run, "7")?.visit === 2 &&
      phaseOf(run, "12")?.visit === 2 &&
      phaseOf(run, "5")?.visit === 1,
  },
  {
    name: "calibrate: child runs side by side, one fails once, the lever is reverted",
    flow: "calibrate",
    script: script(({ phase, step, n, task: inTask }) =>
      step === "runs"
        ? { tasks: [task("chi", ["chi"]), task("virtio", ["v"])] }
        : step === "bench" && inTask === "chi" && phase === "pre" && n === 1
          ? { fail: "hung" }
          : step === "judge"
            ? { facts: { verdict: "revert" } }
            : undefined,
    ),
    endsWell: (run) => run.status === "completed" && ended(run, "verdict", "revert") === 1,
  },
];

const notes: Story[] = [
  {
    name: "notes: a user's flow, one more round, a person publishes",
    flow: "notes",
    script: script(({ step, n }) =>
      step === "lint_notes" && n === 1
        ? { fail: "a heading is missing" }
        : step === "write"
          ? { isDoneEarly: true }
          : undefined,
    ),
    people: (run) =>
      run.status === "paused" && Object.keys(run.blocks).length > 0
        ? answerTo(run, () => "A")
        : null,
    endsWell: (run) => run.status === "completed" && ended(run, "draft", "write") === 2,
  },
];

/**
 * Of every flow in the catalog, whichever those are, a run that chance makes; shipped.test.ts tells
 * many more.
 */
const shipped: Story[] = [...shippedFlows.keys()].map((name) => wandering(name, 1));

export const stories: readonly Story[] = [
  ...objectives,
  ...roadmaps,
  ...qualities,
  ...staged,
  ...notes,
  ...waves,
  ...shipped,
];
