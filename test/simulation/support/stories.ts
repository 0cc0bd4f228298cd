import type { Plan } from "./stage.ts";
import { roadmapStories } from "./roadmap-stories.ts";
import { answer, resume, type Scenario } from "./scenarios.ts";

const task = (id: string, files: string[], after: string[] = []) => ({ id, files, after });
const ok: Plan = {};

export const stories: Readonly<Record<string, Scenario>> = {
  "objective: three cycles, complete in the third": {
    flow: "objective",
    script: {
      plan: ({ step, n }) =>
        step === "prove" && n === 1
          ? { fail: "criterion_red" }
          : step === "judged"
            ? { facts: { complete: n === 3 } }
            : step === "execute"
              ? { says: { confidence: 0.9 } }
              : ok,
    },
  },
  "objective: the cycle cap rests, and going again goes on": {
    flow: "objective",
    drafted: { options: { max_cycles: 2 } },
    script: { plan: ({ step, n }) => (step === "judged" ? { facts: { complete: n === 6 } } : ok) },
    user: (_, why) => (why === "cycle_cap_reached" ? [] : null),
    isCrashFree: true,
  },
  "objective: low confidence, by hand, then a merge that must be approved": {
    flow: "objective",
    drafted: { options: { approval_policy: "required-before-merge" } },
    script: {
      plan: ({ step, n }) =>
        step === "execute"
          ? { says: { confidence: n === 1 ? 0.2 : 0.9 } }
          : step === "judged"
            ? { facts: { complete: n === 2 } }
            : ok,
    },
    user: (run, why) =>
      why === "confidence_drop_requires_handoff"
        ? [resume(run)]
        : why === "human_block_open"
          ? answer(run, "A")
          : null,
  },
  "objective: a drop of confidence is reviewed by itself": {
    flow: "objective",
    drafted: { options: { handoff_mode: "auto" } },
    script: {
      plan: ({ step, n }) =>
        step === "execute"
          ? { says: { confidence: 0.2 } }
          : step === "review"
            ? { says: { confidence: 0.8 } }
            : step === "judged"
              ? { facts: { complete: n === 2 } }
              : ok,
    },
  },
  "objective: a review of an earlier round does not pause again": {
    flow: "objective",
    drafted: { options: { handoff_mode: "auto" } },
    script: {
      plan: ({ step, n }) =>
        step === "execute"
          ? n === 2
            ? { fail: "agent_timeout" }
            : { says: { confidence: 0.2 } }
          : step === "review"
            ? { says: { confidence: n === 1 ? 0.3 : 0.9 } }
            : step === "judged"
              ? { facts: { complete: n === 3 } }
              : ok,
    },
    user: (run, why) =>
      why === "confidence_drop_requires_handoff" && run.cursors["1"]?.ended["judged"] === 1
        ? [resume(run)]
        : null,
  },
  "objective: the scope left twice pauses": {
    flow: "objective",
    script: {
      plan: ({ step, n, run }) =>
        step === "execute" && run.violations < 2 && n <= 2
          ? { interrupt: "scope" }
          : step === "judged"
            ? { facts: { complete: n === 2 } }
            : ok,
    },
    user: (run, why) => (why === "scope_violation_blocked" ? [resume(run)] : null),
  },
  "objective: nothing ever changes, the breaker opens, then it works": {
    flow: "objective",
    script: {
      plan: ({ step, n }) =>
        step === "execute"
          ? { progress: n > 4, says: { confidence: 0.9 } }
          : step === "judged"
            ? { facts: { complete: n === 6 } }
            : ok,
    },
    user: (run, why) => (why === "breaker_open" ? [resume(run)] : null),
  },
  ...roadmapStories,
  "quality: two gates fail, then six phases": {
    flow: "quality",
    script: {
      plan: ({ phase, step, n }) =>
        step === "look"
          ? { facts: { present: false } }
          : step === "do" && phase === "3" && n <= 2
            ? { fail: `gate_${n}` }
            : ok,
    },
  },
  "quality: documents are required and missing": {
    flow: "quality",
    drafted: { options: { require_docs: true } },
    script: { plan: ({ step }) => (step === "look" ? { facts: { present: false } } : ok) },
  },
  "quality: a gate never holds": {
    flow: "quality",
    script: {
      plan: ({ phase, step, n }) =>
        step === "look" ? { facts: { present: true } } : phase === "2" ? { fail: `gate_${n}` } : ok,
    },
  },
  "greenfield: rounds, boundary, waves, a batch refused, retries spent": {
    flow: "greenfield",
    script: {
      plan: ({ phase, step, n, task: id }) => {
        if (step === "look") return { facts: { ui_project: false, solution_exists: false } };
        if (phase === "1" && step === "do") {
          return { says: { asks: n === 1, question: "Which database?" } };
        }

        if (phase === "3" && n <= 4) return { fail: `plan_${n}` };
        if (phase === "6" && step === "do" && id === null) {
          return {
            tasks: ["a", "b", "c", "d", "e"]
              .map((file, i) => task(`0${i + 1}`, [file]))
              .concat(task("06", ["f"], ["01", "02"])),
          };
        }

        if (step === "review") return { says: { pass: id !== "wave:1" } };
        return phase === "6" && id === "03" && n < 3 ? { fail: `red_${n}` } : ok;
      },
    },
    user: (run, why) => {
      if (why === "session_boundary") return [resume(run)];
      if (why !== "human_block_open") return null;
      return answer(run, ({ house, step, block }) =>
        house
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
  },
  "greenfield: the review of a batch fails, a person stops it": {
    flow: "greenfield",
    drafted: { options: { continue: true } },
    files: ["1/do", "2/do", "3/do"],
    script: {
      plan: ({ phase, step, task: id }) =>
        step === "look"
          ? { facts: { ui_project: false } }
          : phase === "6" && step === "do" && id === null
            ? { tasks: [task("01", ["a"]), task("02", ["b"], ["01"])] }
            : step === "review"
              ? { says: { pass: false } }
              : ok,
    },
    user: (run, why) =>
      why === "human_block_open" ? answer(run, ({ house }) => (house ? "C" : "B")) : null,
  },
  "greenfield: enters at the first unproved phase": {
    flow: "greenfield",
    drafted: { options: { continue: true, security: true } },
    files: ["1/do", "2/do", "3/do"],
    script: {
      plan: ({ phase, step, task: id }) =>
        step === "look"
          ? { facts: { ui_project: true } }
          : phase === "6" && step === "do" && id === null
            ? { tasks: [task("01", ["a"])] }
            : step === "review"
              ? { says: { pass: true } }
              : ok,
    },
  },
  "existing-code: two tasks, twice round": {
    flow: "existing-code",
    drafted: { options: { continue: true } },
    script: {
      plan: ({ phase, step, task: id }) =>
        ["4", "8"].includes(phase) && step === "do" && id === null
          ? { tasks: [task("01", ["a"]), task("02", ["b"])] }
          : step === "review"
            ? { says: { pass: true } }
            : ok,
    },
    user: (run, why) => {
      if (why !== "human_block_open") return null;
      return answer(run, ({ step, block }) =>
        (step === "more" && block.endsWith("7@1/more#1")) ||
        (step === "again" && block.includes("12@1/"))
          ? "A"
          : "B",
      );
    },
  },
  "calibrate: child runs side by side, one hangs, reverted": {
    flow: "calibrate",
    script: {
      plan: ({ phase, step, n, task: id }) => {
        if (step === "runs") return { tasks: [task("chi", ["chi"]), task("virtio", ["v"])] };
        if (step === "bench" && id === "chi" && phase === "pre" && n === 1) return { fail: "hung" };
        return step === "judge" ? { facts: { verdict: "revert" } } : ok;
      },
    },
  },
  "notes: a user's own flow, two rounds of fixing": {
    flow: "notes",
    drafted: { options: { polish: true } },
    script: {
      plan: ({ step, n }) =>
        step === "lint_notes" && n <= 2
          ? { fail: "md013" }
          : step === "write" && n === 1
            ? { fail: "empty", asks: 2 }
            : ok,
    },
    user: (run, why) => (why === "human_block_open" ? answer(run, "A") : null),
  },
};
