// What a failed phase leaves: a post-mortem with one of the ten categories, a diagnostic, a
// learning, and a report that counts it.

import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { PostMortem } from "../../src/contracts/roadmap-reports.ts";
import type { FailureCategory } from "../../src/contracts/roadmap-values.ts";
import { autopilot, type Ended, eventsOf } from "../support/autopilot.ts";
import type { Files } from "../support/scratch-repository.ts";
import { aFew, longTest } from "../support/sampled.ts";
import {
  artifact,
  type Changes,
  json,
  names,
  ownChecks,
  plan,
  planned,
  project,
  quiet,
  read,
  turnsOf,
  goArgs,
} from "./project.ts";

const one = { id: "1", name: "One" };
/** A debugger that looks and changes something, and fixes nothing. */
const vainly = {
  do: [{ write: { path: "notes/try.md", text: "a try\n" } }],
  returns: {
    fixed: false,
    changes: ["notes/try.md -- a note on the try"],
    commits: [],
    remaining_issues: ["it is still broken"],
    failure_categories: [],
  },
};
/** The same over and over: for what is asked again. */
const always = (turn: object) => ({ ...turn, repeat: 0 });

async function failed(changes: Changes, files: Files): Promise<{ folder: string; ended: Ended }> {
  const isAboutPlanning = "research" in changes || "plan" in changes;
  const folder = project([one], { ...(isAboutPlanning ? {} : planned([one])), ...files });

  const limits = [
    "--option",
    "max_debug_attempts_per_phase=1",
    "--option",
    "max_replan_attempts_per_phase=0",
  ];
  const ended = await autopilot(
    folder,
    goArgs(folder, turnsOf(one, changes), ["1", ...limits]),
    quiet,
  );

  return { folder, ended };
}
const postMortem = (folder: string): PostMortem =>
  v.parse(PostMortem, json(folder, ".autopilot/diagnostics/phase-1-postmortem.json"));
const done = {
  tasks_completed: "1/1",
  tasks_failed: "0/1",
  commit_shas: [],
  evidence: [
    {
      task_id: "1-01",
      criteria_met: [`it says that it is ready -- ${artifact("1")}:1 -- ready 1`],
      commands_run: [],
    },
  ],
  deviations: [],
};
const executed = (...files: readonly (readonly [string, string])[]): Changes => ({
  do: always({ do: files.map(([path, text]) => ({ write: { path, text } })), returns: done }),
  debug: vainly,
});
const breaks = (kind: string): Changes =>
  executed([artifact("1"), "ready 1\n"], [`broken/${kind}`, "x\n"]);
const usual = (step: string): Readonly<Record<string, unknown>> =>
  turnsOf(one).find(({ when }) => (when as { readonly step: string }).step === step) ?? {};
const returning = (step: string, changes: object) =>
  always({ ...usual(step), returns: { ...(usual(step)["returns"] as object), ...changes } });

type Story = readonly [FailureCategory, string, Changes, Files];
const stories: readonly Story[] = [
  ["compilation_failure", "the compiler stays red", breaks("compile"), ownChecks],
  ["lint_failure", "the linter stays red", breaks("lint"), ownChecks],
  ["build_failure", "the build stays red", breaks("build"), ownChecks],
  ["acceptance_criteria_unmet", "a test stays red", breaks("test"), ownChecks],
  [
    "executor_incomplete",
    "a task is said to be done and its command says it is not",
    executed([artifact("1"), "not yet\n"]),
    {},
  ],
  [
    "executor_wrong_approach",
    "the checker rejects every plan",
    {
      plan: [1, 2, 3].map((n) => ({
        ...usual("plan"),
        do: [
          {
            write: {
              path: ".planning/phases/1/PLAN.md",
              text: `${plan(one)}\nWritten for the ${n}. time.\n`,
            },
          },
        ],
      })),
      plan_check: [1, 2, 3].map((n) => ({
        returns: {
          pass: false,
          issues: [`the ${n}. plan does not say how`],
          confidence: 3,
          blocker_count: 1,
          warning_count: 0,
        },
      })),
    },
    {},
  ],
  [
    "scope_creep",
    "the executor moves the goal and nobody puts it back",
    executed(
      [artifact("1"), "ready 1\n"],
      [".planning/ROADMAP.md", "# Roadmap\n\nnothing to do\n"],
    ),
    {},
  ],
  [
    "coordination_failure",
    "what the researcher hands back is no return, however often it is asked",
    { research: always({ ...usual("research"), returns: { key_findings: "TBD" } }) },
    {},
  ],
  [
    "coordination_failure",
    "the verifier says it ran what fails",
    { verify: returning("verify", { commands_run: ["test -f nowhere.txt -> exit 0"] }) },
    {},
  ],
  [
    "coordination_failure",
    "the judge has found nothing of its own",
    { judge: returning("judge", { independent_evidence: [] }) },
    {},
  ],
  [
    "tool_failure",
    "the agent's program dies each time",
    { research: always({ do: [{ exit: 3 }] }) },
    {},
  ],
  [
    "context_exhaustion",
    "the planner's model takes no more",
    { plan: always({ do: [{ stop: "max_tokens" }] }) },
    {},
  ],
];

describe("the category of a failure", () => {
  aFew(2).each(stories)("%s: %s", async (category, _, changes, files) => {
    const { folder, ended } = await failed(changes, files);
    expect([ended.code, ended.json.reason_code, ended.json.state]).toEqual([
      1,
      "phase_failed",
      "paused",
    ]);

    const post = postMortem(folder);
    expect(post.root_cause).toMatchObject({ category });
    expect(read(folder, ".autopilot/diagnostics/phase-1-postmortem.md")).toContain(
      `**${category}**`,
    );

    expect(read(folder, ".autopilot/learnings.md")).toContain(`### Phase 1 failure -- ${category}`);
  });
});

describe("a phase of which every criterion holds, and which somebody rejects", () => {
  /** Who decided, in which step, when and in which words is in all four. */
  function expectNamed(
    folder: string,
    { step, words: message, category }: { step: string; words: string; category: FailureCategory },
  ): void {
    const { root_cause: cause, timeline } = postMortem(folder);
    expect(cause).toMatchObject({
      category,
      step,
      description: expect.stringContaining(message) as string,
    });

    expect(timeline.find(({ timestamp }) => timestamp === cause.first_observed_at)).toMatchObject({
      step,
      status: "failure",
    });

    const sentence = `rejected in the step ${step} at ${cause.first_observed_at}`;
    const [diagnostic = ""] = names(folder, ".autopilot/diagnostics")
      .filter((name) => name.startsWith("diagnostic-"))
      .toReversed();

    for (const page of [
      "learnings.md",
      "diagnostics/phase-1-postmortem.md",
      `diagnostics/${diagnostic}`,
    ]) {
      const text = read(folder, `.autopilot/${page}`).replaceAll("\\", "");
      expect([page, text.includes(sentence), text.includes(message)]).toEqual([page, true, true]);
      expect([page, text.includes("acceptance_criteria_unmet")]).toEqual([page, false]);
    }
  }

  longTest(
    "the judge, who wants it taken back",
    "test/roadmap-files/failures.test.ts › the judge, who sends it back when nothing is left to try",
    async () => {
      const words = "the goal says a part, and this is a word";
      const { folder, ended } = await failed(
        {
          judge: returning("judge", {
            alignment_score: 3,
            recommendation: "rollback",
            concerns: [words],
          }),
        },
        {},
      );
      expect(ended.json.reason_code).toBe("phase_failed");
      expectNamed(folder, { step: "judge", words, category: "executor_wrong_approach" });
      const { json: reported } = await autopilot(folder, ["report", "--json"]);
      expect(JSON.stringify(reported["phases"])).toContain(words);
    },
  );

  test("the judge, who sends it back when nothing is left to try", async () => {
    const words = "a score of five, whatever is done";
    const folder = project([one], { [artifact("1")]: "ready 1\n" }); // it is there already, and only verified and judged
    const turns = turnsOf(one, {
      judge: returning("judge", { alignment_score: 5, recommendation: "debug", concerns: [words] }),
    });

    const limits = [
      "--option",
      "max_debug_attempts_per_phase=0",
      "--option",
      "max_replan_attempts_per_phase=0",
    ];
    await autopilot(folder, goArgs(folder, turns, ["1", ...limits]), quiet);
    expectNamed(folder, {
      step: "judge",
      words: `gave it 5 of 10 and recommended debug: “${words}”`,
      category: "executor_wrong_approach",
    });

    const [first] = eventsOf(folder, "step_completed").filter(
      ({ attempt }) => attempt === "1@1/judge#1",
    );
    expect(postMortem(folder).root_cause.first_observed_at).toBe(first?.["ts"]);
  });

  longTest(
    "a person, whose verdict is fail",
    "test/cli-roadmap/walking.test.ts › fail fails it, and what depends on it is blocked",
    async () => {
      const phase = { ...one, human: true };
      const folder = project([phase], planned([phase]));
      await autopilot(folder, goArgs(folder, turnsOf(phase), ["1"]), quiet);
      await autopilot(folder, [
        "verdict",
        "1",
        "fail",
        "--issue",
        "it sounds wrong when read aloud",
        "--json",
      ]);

      await autopilot(folder, ["resume", "--json"], quiet);
      expectNamed(folder, {
        step: "human_check",
        words: "it sounds wrong when read aloud",
        category: "executor_wrong_approach",
      });
    },
  );
});
