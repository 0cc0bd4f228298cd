// project: a small project with a roadmap, and what an agent that does its work says and does in
// each step of a phase.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { scripted } from "../support/autopilot.ts";
import { checkedOnce, type Files, scratch } from "../support/scratch-repository.ts";

export type PhaseOf = {
  readonly id: string;
  readonly name: string;
  readonly after?: readonly string[];
  /** Also needs a person's look. */
  readonly human?: boolean;
  readonly checked?: boolean;
};

const title = ({ id, name }: PhaseOf): string => `Phase ${id}: ${name}`;
/** The file whose presence decides over a phase. */
export const artifact = (id: string): string => `src/part-${id}.txt`;
const criterion = (id: string): string =>
  `The part ${id} says that it is ready :: grep -q "ready ${id}" ${artifact(id)}`;

export const roadmap = (phases: readonly PhaseOf[]): string =>
  [
    "# Roadmap",
    "",
    ...phases.map(
      (phase) => `- [${phase.checked === true ? "x" : " "}] **${title(phase)}** - builds it`,
    ),
    ...phases.flatMap((phase) => [
      "",
      `### ${title(phase)}`,
      `**Goal**: There is a part ${phase.id} that says it is ready.`,
      `**Depends on**: ${(phase.after ?? []).map((id) => `Phase ${id}`).join(", ") || "Nothing"}`,
      `**Requirements**: REQ-${phase.id.replace(".", "-")}`,
      "**Success Criteria**:",
      `1. ${criterion(phase.id)}`,
    ]),
    "",
  ].join("\n");

export const plan = ({ id, human = false }: PhaseOf): string =>
  [
    `# Plan: Phase ${id}`,
    "",
    "## Traceability",
    "",
    "| Requirement | Task(s) | Description |",
    "|---|---|---|",
    `| REQ-${id.replace(".", "-")} | ${id}-01 | the part |`,
    "",
    "## Wave 1",
    "",
    `<task id="${id}-01" type="auto" complexity="simple">`,
    "",
    `### Task ${id}-01: Write the part`,
    "",
    `**Files:** ${artifact(id)}`,
    "",
    `**Action:** Write ${artifact(id)} with a line that says it is ready.`,
    "",
    "**Verify:**",
    `- The part says that it is ready -- verified by: \`grep -c "ready ${id}" ${artifact(id)}\` (returns at least 1)`,
    "",
    "**Done:** The part is there.",
    "",
    "</task>",
    ...(human
      ? [
          "",
          `<task id="${id}-02" type="checkpoint:human-verify" complexity="simple">`,
          "",
          `### Task ${id}-02: Look at the part`,
          "",
          `**Files:** ${artifact(id)}`,
          "",
          "**Action:** A person reads the part aloud and says whether it sounds right.",
          "",
          "**Verify:**",
          `- The part can be read -- verified by: \`test -s ${artifact(id)}\``,
          "",
          "**Done:** Somebody has read it.",
          "",
          "</task>",
        ]
      : []),
    "",
  ].join("\n");

/** Their plans as files of a project: nobody researches and plans such a phase again. */
export const planned = (phases: readonly PhaseOf[]): Files =>
  Object.fromEntries(phases.map((phase) => [`.planning/phases/${phase.id}/PLAN.md`, plan(phase)]));

export const project = (phases: readonly PhaseOf[], files: Files = {}): string =>
  checkedOnce(
    scratch({
      files: { "README.md": "# a project\n", ".planning/ROADMAP.md": roadmap(phases), ...files },
    }),
  );

/**
 * The project's own checks: each a script that fails as soon as a file of its name is in `broken/`.
 */
export const ownChecks: Files = {
  ".planning/config.json": JSON.stringify({
    project: {
      commands: Object.fromEntries(
        ["compile", "lint", "test", "build"].map((kind) => [kind, `sh tools/${kind}.sh`]),
      ),
    },
  }),
  ...Object.fromEntries(
    ["compile", "lint", "test", "build"].map((kind) => [
      `tools/${kind}.sh`,
      `test ! -e broken/${kind}\n`,
    ]),
  ),
};

type Turn = Readonly<Record<string, unknown>>;
/**
 * What a test wants to be different in a step of a phase: other actions, another return, or none.
 */
export type Changes = Readonly<Record<string, Turn | readonly Turn[]>>;

/**
 * Every turn of a phase that goes well; `changes` are by step. A list of turns is played one after
 * the other.
 */
export function turnsOf(phase: PhaseOf, changes: Changes = {}): readonly Turn[] {
  const { id } = phase;
  const folder = `.planning/phases/${id}`;
  const evidence = `${artifact(id)}:1`;

  const usual: Readonly<Record<string, Turn>> = {
    research: {
      do: [
        {
          write: {
            path: `${folder}/RESEARCH.md`,
            text: `# Research\n\nThe part ${id} is one text file below src; nothing else reads it.\n`,
          },
        },
      ],
      returns: {
        key_findings: [
          `the part ${id} is a single text file`,
          "nothing else reads it",
          "grep decides over it",
        ],
        recommended_approach: `Write ${artifact(id)} in one task.`,
        risks: [],
        open_questions: [],
      },
    },
    plan: {
      do: [{ write: { path: `${folder}/PLAN.md`, text: plan(phase) } }],
      returns: {
        plans_created: 1,
        waves: 1,
        total_tasks: phase.human === true ? 2 : 1,
        complexity: "simple",
        dependencies: [],
        concerns: [],
      },
    },
    plan_check: {
      returns: { pass: true, issues: [], confidence: 9, blocker_count: 0, warning_count: 0 },
    },
    do: {
      do: [
        { write: { path: artifact(id), text: `ready ${id}\n` } },
        { usage: { input: 1_000, output: 200 } },
      ],
      returns: {
        tasks_completed: "1/1",
        tasks_failed: "0/1",
        commit_shas: [],
        evidence: [
          {
            task_id: `${id}-01`,
            criteria_met: [`it says that it is ready -- ${evidence} -- ready ${id}`],
            commands_run: [],
          },
        ],
        deviations: [],
      },
    },
    verify: {
      do: [{ run: `grep -q "ready ${id}" ${artifact(id)}` }],
      returns: {
        pass: true,
        automated_checks: { compile: "n/a", lint: "n/a", build: "n/a" },
        criteria_results: [
          {
            criterion: `The part ${id} says that it is ready`,
            status: "verified",
            evidence: `${evidence} says ready ${id}`,
          },
        ],
        alignment_score: 8,
        verification_duration_seconds: 130,
        commands_run: [`grep -q "ready ${id}" ${artifact(id)} -> exit 0`],
        failures: [],
        failure_categories: [],
        scope_creep: [],
      },
    },
    judge_blind: {
      do: [
        {
          write: {
            path: `${folder}/JUDGE-REPORT.md`,
            text: `# Judge report\n\n${evidence} says ready ${id}, which is what phase ${id} asks for.\n`,
          },
        },
        { say: "The report is written." },
      ],
    },
    judge: {
      do: [
        {
          append: {
            path: `${folder}/JUDGE-REPORT.md`,
            text: "\n## Divergence Analysis\n\nThe verifier found the same line.\n",
          },
        },
      ],
      returns: {
        alignment_score: 8,
        recommendation: "proceed",
        concerns: [`nothing tests part ${id} beyond one grep`],
        independent_evidence: [`${evidence} -- the line says ready ${id}`],
        verifier_agreement: true,
        verifier_missed: [],
        scope_creep: [],
        missing_requirements: [],
        notes: "",
      },
    },
  };

  return Object.keys({ ...usual, ...changes }).flatMap((step) => {
    const reported = changes[step] ?? usual[step] ?? {};
    const turns = Array.isArray(reported) ? (reported as readonly Turn[]) : [reported as Turn];
    return turns.map((turn) => ({ when: { phase: id, step }, ...turn }));
  });
}

/** The auditor's turn, with everything found. */
export const audit = (phases: readonly PhaseOf[], gaps: readonly string[] = []): Turn => ({
  when: { step: "audit" },
  do: [],
  returns: {
    audit_results: phases.map(({ id }) => {
      const isGap = gaps.includes(id);
      return {
        phase_id: id,
        requirements_checked: [
          {
            requirement_id: `REQ-${id.replace(".", "-")}`,
            expected: `there is a part ${id}`,
            actual_found: isGap ? "the part has no second line" : "the part is there",
            file_line_evidence: `${artifact(id)}:1`,
            status: isGap ? "gap" : "pass",
            gap_description: isGap ? `part ${id} has no second line` : null,
            fix_complexity: isGap ? "small" : null,
          },
        ],
      };
    }),
    aggregate: {
      total_requirements_checked: phases.length,
      passed_on_first_check: phases.length - gaps.length,
      gaps_found: gaps.length,
      gap_details: gaps.map((id) => ({
        requirement_id: `REQ-${id.replace(".", "-")}`,
        phase_id: id,
        gap_description: `part ${id} has no second line`,
        fix_complexity: "small",
        suggested_fix: `add a line to ${artifact(id)}`,
      })),
    },
  },
});

/** The words of a roadmap's run with these turns. */
export const goArgs = (
  folder: string,
  turns: readonly object[],
  args: readonly string[],
): readonly string[] => [
  "roadmap",
  ...args,
  "--yes",
  "--json",
  "--isolation",
  "clone",
  ...scripted(folder, turns),
];

export const quiet = { env: { AUTOPILOT_ON_LIMIT: "never" } };

export const read = (folder: string, path: string): string =>
  readFileSync(join(folder, path), "utf8");
export const has = (folder: string, path: string): boolean => existsSync(join(folder, path));
export const names = (folder: string, path: string): readonly string[] =>
  has(folder, path) ? readdirSync(join(folder, path)).toSorted() : [];
export const json = (folder: string, path: string): unknown =>
  JSON.parse(read(folder, path)) as unknown;
