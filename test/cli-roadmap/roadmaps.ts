// roadmaps: small roadmaps with what belongs to them, and an embedded agent that cursors them.

import { autopilot, scripted, type Ended } from "../support/autopilot.ts";
import { checkedOnce, type Files } from "../support/scratch-repository.ts";

export type PhaseSpec = {
  readonly id: string;
  readonly name?: string;
  readonly after?: string;
  readonly goal?: string;
  readonly checked?: boolean;
};

/** One file a phase: it is done when `<id>.txt` says its number. */
export const commandOf = (id: string): string => `grep -q "number ${id}" ${id}.txt`;

const section = ({
  id,
  name = `Write ${id}`,
  after = "Nothing",
  goal = `${id}.txt says number ${id}`,
}: PhaseSpec): string =>
  `### Phase ${id}: ${name}\n**Goal**: ${goal}\n**Depends on**: ${after}\n**Requirements**: R-${id}\n**Success Criteria**:\n1. ${id}.txt is written :: ${commandOf(id)}\n\n`;

export function roadmapOf(phases: readonly PhaseSpec[]): string {
  const list = phases.map(
    ({ id, name = `Write ${id}`, checked = false }) =>
      `- [${checked ? "x" : " "}] **Phase ${id}: ${name}**`,
  );

  return `# Roadmap\n\n${list.join("\n")}\n\n${phases.map(section).join("")}`;
}

export const planOf = (id: string, more = ""): string => `| Requirement | Task(s) |
|---|---|
| R-${id} | 0${id}-01 |

## Success Criteria
1. ${id}.txt is written :: ${commandOf(id)}

## Wave 1
<task id="0${id}-01" type="auto" complexity="simple">
### Task 0${id}-01: Write it
**Files:** ${id}.txt
**Action:** Write number ${id} into ${id}.txt.
**Verify:**
- it says so :: ${commandOf(id)}
**Done:** ${id}.txt says its number.
</task>
${more}`;

export const checkpoint = (id: string): string => `
## Wave 2
<task id="0${id}-02" type="checkpoint:human-verify" complexity="simple">
### Task 0${id}-02: Look at it
**Action:** Look whether it reads well.
**Verify:**
- it reads well
**Done:** A person has looked.
</task>
`;

/** A project whose phases are all planned already; `human` leaves something to a person. */
export function projectOf(
  phases: readonly PhaseSpec[],
  { human = [], files = {} }: { readonly human?: readonly string[]; readonly files?: Files } = {},
): Files {
  const plans = phases.map(({ id }): [string, string] => [
    `.planning/phases/${id}/PLAN.md`,
    planOf(id, human.includes(id) ? checkpoint(id) : ""),
  ]);

  return {
    "README.md": "# project\n",
    ".planning/ROADMAP.md": roadmapOf(phases),
    ".planning/REQUIREMENTS.md": `# Requirements\n${phases.map(({ id }) => `- R-${id}: ${id}.txt says number ${id}\n`).join("")}`,
    ...Object.fromEntries(plans),
    ...files,
  };
}

const usage = { usage: { input: 900, output: 100 } };

/** Turns that cursor any phase; those of `wrong` never write what they should. */
export function turnsFor(
  ids: readonly string[],
  { wrong = [] as readonly string[] } = {},
): readonly object[] {
  return [
    {
      when: { role: "plan_checker" },
      do: [usage],
      returns: { pass: true, issues: [], confidence: 9, blocker_count: 0, warning_count: 0 },
      repeat: 0,
    },
    ...ids.flatMap((id) => phaseTurns(id, wrong.includes(id))),
    {
      when: { role: "auditor" },
      do: [usage],
      returns: {
        audit_results: [],
        aggregate: {
          total_requirements_checked: 0,
          passed_on_first_check: 0,
          gaps_found: 0,
          gap_details: [],
        },
      },
      repeat: 0,
    },
  ];
}

function phaseTurns(id: string, isWrong: boolean): readonly object[] {
  const text = isWrong ? "something else\n" : `number ${id}\n`;
  const of = (role: string, step?: string) => ({
    role,
    phase: id,
    ...(step === undefined ? {} : { step }),
  });

  const evidence = [
    {
      task_id: `0${id}-01`,
      criteria_met: [`written -- ${id}.txt:1 -- number ${id}`],
      commands_run: [`${commandOf(id)} -> exit 0`],
    },
  ];

  return [
    {
      when: of("executor"),
      do: [{ write: { path: `${id}.txt`, text } }, usage],
      returns: {
        tasks_completed: "1/1",
        tasks_failed: "0/1",
        commit_shas: [],
        evidence,
        deviations: [],
      },
      repeat: 0,
    },
    {
      when: of("debugger"),
      do: [{ append: { path: `${id}.txt`, text: "more of it\n" } }, usage],
      returns: {
        fixed: true,
        changes: [`${id}.txt -- more`],
        commits: [],
        remaining_issues: [],
        failure_categories: [],
      },
      repeat: 0,
    },
    {
      when: of("verifier"),
      do: [usage],
      returns: {
        pass: true,
        automated_checks: {},
        criteria_results: [
          {
            criterion: `${id}.txt is written`,
            status: "verified",
            evidence: `${id}.txt:1 says number ${id}`,
          },
        ],
        alignment_score: 8,
        verification_duration_seconds: 3,
        commands_run: [`${commandOf(id)} -> exit 0`],
        failures: [],
        failure_categories: [],
        scope_creep: [],
      },
      repeat: 0,
    },
    {
      when: of("judge", "judge_blind"),
      do: [
        {
          write: {
            path: `.planning/phases/${id}/JUDGE-REPORT.md`,
            text: `# Judge\n\nScore: 9\n\nI read ${id}.txt:1 myself, and it says number ${id}, as the requirement asks.\n`,
          },
        },
        usage,
      ],
      repeat: 0,
    },
    {
      when: of("judge", "judge"),
      do: [usage],
      returns: {
        alignment_score: 9,
        recommendation: "proceed",
        concerns: ["nothing tests the last line"],
        independent_evidence: [`${id}.txt:1 -- number ${id}`],
        verifier_agreement: true,
        verifier_missed: [],
        scope_creep: [],
        missing_requirements: [],
        notes: "",
      },
      repeat: 0,
    },
  ];
}

export const env = { AUTOPILOT_ON_LIMIT: "never" };

/** `roadmap` with an agent that cursors it, acknowledged. */
export function walk(
  folder: string,
  args: readonly string[],
  turns: readonly object[],
): Promise<Ended> {
  return autopilot(
    checkedOnce(folder),
    ["roadmap", ...args, "--yes", "--json", "--isolation", "clone", ...scripted(folder, turns)],
    {
      env,
    },
  );
}

export type Problem = {
  readonly file: string;
  readonly line: number;
  readonly rule: string;
  readonly severity: string;
};
export const problemsOf = ({ json }: Pick<Ended, "json">): readonly string[] =>
  ((json["problems"] ?? []) as readonly Problem[]).map(
    ({ file, line, rule }) => `${file}:${line} ${rule}`,
  );
