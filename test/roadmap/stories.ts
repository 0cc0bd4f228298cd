// stories: a small real project with a roadmap, and the turns that agents of a roadmap take, for
// the embedded agent's scripts.

import { dirname, join } from "node:path";
import { autopilot, type Ended, isolation, journal, scripted } from "../support/autopilot.ts";
import { scratch, write } from "../support/scratch-repository.ts";

export type Turn = {
  readonly when: object;
  readonly do: readonly object[];
  readonly returns?: object;
  readonly repeat?: number;
};

/**
 * A command that holds once a module exports a function that gives this for these arguments; of
 * numbers without a start of node.
 */
export const calls = (name: string, args: string, wanted: string): string =>
  /^[\d, ]+$/.test(args)
    ? `gives ${name} ${args.replaceAll(" ", "")} ${wanted}`
    : `node -e "import('./src/${name}.js').then((m) => process.exit(String(m.${name}(${args})) === '${wanted}' ? 0 : 1))"`;

export type PhaseStory = {
  readonly id: string;
  readonly name: string;
  readonly goal?: string;
  readonly after?: string;
  readonly requirements?: string;
  readonly criteria: readonly string[];
  readonly isChecked?: boolean;
};

export function roadmapOf(phases: readonly PhaseStory[]): string {
  const list = phases.map(
    ({ id, name, isChecked }) =>
      `- [${isChecked === true ? "x" : " "}] **Phase ${id}: ${name}** - ${name}\n`,
  );

  const sections = phases.map(
    ({ id, name, goal, after, requirements, criteria }) =>
      `### Phase ${id}: ${name}\n**Goal**: ${goal ?? `${name} can be used from src/index.js`}\n**Depends on**: ${after ?? "Nothing"}\n${
        requirements === undefined ? "" : `**Requirements**: ${requirements}\n`
      }**Success Criteria**:\n${criteria.map((text, n) => `${n + 1}. ${text}\n`).join("")}`,
  );

  return `# Roadmap\n\n${list.join("")}\n${sections.join("\n")}`;
}

/**
 * The same with its one check named by the user and run once, without experiments: for stories that
 * are about something else.
 */
export function project(
  phases: readonly PhaseStory[],
  more: Readonly<Record<string, string>> = {},
): string {
  const folder = realProject(phases, more);
  write(join(dirname(folder), "home/.config/autopilot"), {
    "config.yaml":
      'checks: { detect: false, repeat: 1, canary: off, commands: ["sh test/greet.sh"] }\n',
  });

  return folder;
}

/**
 * A project of node's own means: sum is to be written, greet is there already, and its test passes.
 */
export function realProject(
  phases: readonly PhaseStory[],
  more: Readonly<Record<string, string>> = {},
): string {
  return scratch({
    files: {
      "package.json": JSON.stringify({
        name: "little",
        type: "module",
        scripts: { test: "node --test" },
      }),
      "src/index.js": 'export { greet } from "./greet.js";\n',
      "src/greet.js": "export const greet = (name) => `Hello, ${name}`;\n",
      "test/greet.test.js":
        'import { test } from "node:test";\nimport assert from "node:assert";\nimport { greet } from "../src/index.js";\ntest("greets", () => assert.equal(greet("Ann"), "Hello, Ann"));\n',
      "test/greet.sh":
        "grep -q 'greet = (name) => .Hello, ' src/greet.js && grep -q greet src/index.js\n",
      ".planning/ROADMAP.md": roadmapOf(phases),
      ...more,
    },
  });
}

export const phaseDir = (phase: string): string => `.planning/phases/${phase}`;

export const research = (phase: string, more: Partial<Turn> = {}): Turn => ({
  when: { flow: "roadmap", phase, step: "research" },
  do: [
    {
      write: {
        path: `${phaseDir(phase)}/RESEARCH.md`,
        text: `# Research of phase ${phase}\nsrc/index.js:1 is where everything is exported from.\n`,
      },
    },
  ],
  returns: {
    key_findings: [`Phase ${phase}: all modules are exported from src/index.js`],
    recommended_approach: "One module a function, exported from src/index.js.",
    risks: [],
    open_questions: [],
  },
  ...more,
});

/** After a try that failed: another document, and other words about it. */
export const researchAgain = (phase: string): Turn =>
  research(phase, {
    do: [
      { append: { path: `${phaseDir(phase)}/RESEARCH.md`, text: "It could not work that way.\n" } },
    ],
    returns: {
      key_findings: ["What was tried adds where it should not"],
      recommended_approach:
        "Begin with the signature, then the body, and look at every criterion on the way.",
      risks: [],
      open_questions: [],
    },
  });

export type TaskStory = {
  readonly id: string;
  readonly files: readonly string[];
  readonly verify: readonly string[];
  readonly type?: string;
  readonly after?: string;
  readonly complexity?: string;
};

export function planOf(
  tasks: readonly TaskStory[],
  more: { readonly requirements?: string; readonly criteria?: readonly string[] } = {},
): string {
  const traced =
    more.requirements === undefined
      ? ""
      : `| Requirement | Task(s) |\n|---|---|\n| ${more.requirements} | ${tasks[0]?.id ?? ""} |\n\n`;

  const criteria =
    more.criteria === undefined
      ? ""
      : `## Success Criteria\n${more.criteria.map((text, n) => `${n + 1}. ${text}\n`).join("")}\n`;

  const written = tasks.map(
    ({ id, files, verify, type = "auto", after, complexity = "simple" }) =>
      `<task id="${id}" type="${type}" complexity="${complexity}"${after === undefined ? "" : ` depends_on="${after}"`}>\n### Task ${id}: ${id}\n**Files:** ${files.join(", ")}\n**Action:** Write it.\n**Verify:**\n${verify.map((text) => `- ${text}\n`).join("")}**Done:** It is there.\n</task>\n`,
  );

  return `# Plan\n\n${traced}${criteria}${written.join("\n")}`;
}

export const plan = (phase: string, text: string, more: Partial<Turn> = {}): Turn => ({
  when: { flow: "roadmap", phase, step: "plan" },
  do: [{ write: { path: `${phaseDir(phase)}/PLAN.md`, text } }],
  returns: {
    plans_created: 1,
    waves: 1,
    total_tasks: 1,
    complexity: "simple",
    dependencies: [],
    concerns: [],
  },
  ...more,
});

export const planCheck = (phase: string, more: Partial<Turn> = {}): Turn => ({
  when: { flow: "roadmap", phase, step: "plan_check" },
  do: [],
  returns: { pass: true, issues: [], confidence: 9, blocker_count: 0, warning_count: 0 },
  ...more,
});

export const does = (
  phase: string,
  task: string,
  files: Readonly<Record<string, string>>,
  more: Partial<Turn> = {},
): Turn => ({
  when: { flow: "roadmap", phase, task, step: "do" },
  do: Object.entries(files).map(([path, text]) => ({ write: { path, text } })),
  returns: {
    tasks_completed: "1/1",
    tasks_failed: "0/1",
    commit_shas: [],
    evidence: [
      {
        task_id: task,
        criteria_met: [`${task} -- ${Object.keys(files)[0] ?? "src/index.js"}:1 -- written`],
        commands_run: [],
      },
    ],
    deviations: [],
  },
  ...more,
});

export const verifyReturn = (more: object = {}): object => ({
  pass: true,
  automated_checks: { tests: true },
  criteria_results: [
    { criterion: "all of them", status: "verified", evidence: "src/index.js:1 exports it" },
  ],
  alignment_score: 9,
  verification_duration_seconds: 130,
  commands_run: ["sh test/greet.sh -> passed"],
  failures: [],
  failure_categories: [],
  scope_creep: [],
  ...more,
});

export const verify = (phase: string, more: Partial<Turn> = {}): Turn => ({
  when: { flow: "roadmap", phase, step: "verify" },
  do: [],
  returns: verifyReturn(),
  repeat: 0,
  ...more,
});

const report = (phase: string): string =>
  `# Judge report of phase ${phase}\n\n## Independent Evidence\n- src/index.js:1 exports what was asked for\n\n## Concerns\n1. No test covers an odd argument.\n\n## Score\n8\n`;

export const judgeBlind = (phase: string, more: Partial<Turn> = {}): Turn => ({
  when: { flow: "roadmap", phase, step: "judge_blind" },
  do: [
    { write: { path: `${phaseDir(phase)}/JUDGE-REPORT.md`, text: report(phase) } },
    // A report of a later round is another one: it says when it was written.
    {
      run: `date '+Written at %s%N' >> '${phaseDir(phase)}/JUDGE-REPORT.md'`,
    },
  ],
  repeat: 0,
  ...more,
});

export const judgeReturn = (more: object = {}): object => ({
  alignment_score: 8,
  recommendation: "proceed",
  concerns: ["No test covers an odd argument."],
  independent_evidence: [
    "src/index.js:1 -- it exports what was asked for, which I looked up myself",
  ],
  verifier_agreement: true,
  verifier_missed: [],
  scope_creep: [],
  missing_requirements: [],
  notes: "",
  ...more,
});

export const judge = (phase: string, more: Partial<Turn> = {}): Turn => ({
  when: { flow: "roadmap", phase, step: "judge" },
  do: [],
  returns: judgeReturn(),
  repeat: 0,
  ...more,
});

export const debug = (
  phase: string,
  files: Readonly<Record<string, string>>,
  more: Partial<Turn> = {},
): Turn => ({
  when: { flow: "roadmap", phase, step: "debug" },
  do: Object.entries(files).map(([path, text]) => ({ write: { path, text } })),
  returns: {
    fixed: true,
    changes: Object.keys(files).map((path) => `${path} -- put right`),
    commits: [],
    remaining_issues: [],
    failure_categories: [],
  },
  ...more,
});

/** The turns that a phase takes when nothing is wrong with it, except for what is done. */
export const around = (phase: string): readonly Turn[] => [
  verify(phase),
  judgeBlind(phase),
  judge(phase),
];

/** Module, export line and test of a function of numbers. */
export const moduleFiles = (
  name: string,
  body: string,
  others: readonly string[] = [],
): Readonly<Record<string, string>> => ({
  [`src/${name}.js`]: `export const ${name} = ${body};\n`,
  "src/index.js": ["greet", ...others, name]
    .map((one) => `export { ${one} } from "./${one}.js";\n`)
    .join(""),
});

/** A phase that is planned and done without a fault. */
export function smooth(
  phase: string,
  name: string,
  body: string,
  verifyLine: string,
  others: readonly string[] = [],
): readonly Turn[] {
  const task = `0${phase}-01`;
  return [
    research(phase),
    plan(
      phase,
      planOf([{ id: task, files: [`src/${name}.js`, "src/index.js"], verify: [verifyLine] }]),
    ),
    planCheck(phase),
    does(phase, task, moduleFiles(name, body, others)),
    ...around(phase),
  ];
}

/**
 * The plans of these turns as files of a project: its phases are planned already, and nobody
 * researches and plans them again.
 */
export const plansOf = (turns: readonly Turn[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    turns
      .filter(({ when }) => (when as { step?: string }).step === "plan")
      .flatMap((turn) =>
        (turn.do as readonly { write?: { path: string; text: string } }[]).flatMap(
          ({ write: file }) => file ?? [],
        ),
      )
      .map(({ path, text }) => [path, text]),
  );

export const roadmapArgs = (
  folder: string,
  turns: readonly Turn[],
  args: readonly string[] = [],
): readonly string[] => [
  "go",
  "--flow",
  "roadmap",
  "--option",
  "phases=all",
  "--yes",
  "--json",
  ...(args.includes("--isolation") ? [] : ["--isolation", isolation]),
  ...scripted(folder, turns),
  ...args,
];

export const goRoadmap = (
  folder: string,
  turns: readonly Turn[],
  args: readonly string[] = [],
): Promise<Ended> => autopilot(folder, roadmapArgs(folder, turns, args));

/** What each attempt of a phase came to, in order: `execute passed`, `checks failed`, … */
export function stepsOf(folder: string, phase: string): readonly string[] {
  return journal(folder).flatMap((entry) => {
    const found = /^(.*)@\d+\/([^/]+)#\d+$/.exec(
      typeof entry["attempt"] === "string" ? entry["attempt"] : "",
    );

    if (entry.event === "step_skipped" && entry["walk"] === phase) {
      return [`${String(entry["step"])} skipped`];
    }

    if (found?.[1] !== phase) return [];
    if (entry.event === "step_completed") return [`${found[2]} passed`];
    return entry.event === "step_failed" ? [`${found[2]} failed`] : [];
  });
}

/** The facts that a step's last attempt left. */
export function factsOf(
  folder: string,
  phase: string,
  step: string,
): Readonly<Record<string, unknown>> {
  const ended = journal(folder).findLast(
    ({ event, attempt }) =>
      (event === "step_completed" || event === "step_failed") &&
      new RegExp(`^${phase.replace(".", "\\.")}@\\d+/${step}#\\d+$`).test(String(attempt)),
  );
  return (ended?.["facts"] ?? {}) as Readonly<Record<string, unknown>>;
}
