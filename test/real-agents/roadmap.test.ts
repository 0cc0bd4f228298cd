// A roadmap of two phases, walked by a real agent in all of its roles against the scripted model:
// researched, planned, checked, executed, verified, judged, audited, landed.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type Asked, lastPromptOf } from "../model-server/conversation.ts";
import { type ModelServer, openModelServer } from "../model-server/model-server.ts";
import { autopilot, eventsOf } from "../support/autopilot.ts";
import { git, scratch } from "../support/scratch-repository.ts";
import { agentsToTry, realKey, userEnvironment } from "./installed.ts";

const phases = ["1", "2"] as const;
type PhaseId = (typeof phases)[number];
const words: Readonly<Record<PhaseId, string>> = { "1": "first", "2": "second" };

const roadmap = `# Roadmap

- [ ] **Phase 1: First** - the first file
- [ ] **Phase 2: Second** - the second file

### Phase 1: First
**Goal**: first.txt says first
**Depends on**: Nothing
**Success Criteria**:
1. it says so :: grep -q first first.txt

### Phase 2: Second
**Goal**: second.txt says second
**Depends on**: Phase 1
**Success Criteria**:
1. it says so :: grep -q second second.txt
`;

const planOf = (phase: PhaseId): string =>
  `# Plan\\n\\n<task id="0${phase}-01" type="auto" complexity="simple">\\n### Task 0${phase}-01: Write it\\n**Files:** ${words[phase]}.txt\\n**Action:** Write the word ${words[phase]} into ${words[phase]}.txt.\\n**Verify:**\\n- the file says so :: grep -q ${words[phase]} ${words[phase]}.txt\\n**Done:** The file is there.\\n</task>\\n`;

const handedBack = (value: object): string =>
  `[[say Finished.\\n\\n\`\`\`json\\n${JSON.stringify(value)}\\n\`\`\`]]`;

type Role = { readonly begins: string; readonly plays: (phase: PhaseId) => string };
/** Who is asked is told by how the prompt begins; the more particular first. */
const roles: readonly Role[] = [
  {
    begins: "You are the researcher",
    plays: (phase) =>
      `[[write .planning/phases/${phase}/RESEARCH.md|# Research\\nThere is a README.md and nothing else; ${words[phase]}.txt is to be made at the top.\\n]] ${handedBack(
        {
          key_findings: [`${words[phase]}.txt is not there yet`],
          recommended_approach: "Write the file.",
          risks: [],
          open_questions: [],
        },
      )}`,
  },
  {
    begins: "You are the plan checker",
    plays: () =>
      handedBack({ pass: true, issues: [], confidence: 9, blocker_count: 0, warning_count: 0 }),
  },
  {
    begins: "You are the planner",
    plays: (phase) =>
      `[[write .planning/phases/${phase}/PLAN.md|${planOf(phase)}]] ${handedBack({
        plans_created: 1,
        waves: 1,
        total_tasks: 1,
        complexity: "simple",
        dependencies: [],
        concerns: [],
      })}`,
  },
  {
    begins: "You are the executor",
    plays: (phase) =>
      `[[write ${words[phase]}.txt|${words[phase]}]] ${handedBack({
        tasks_completed: "1/1",
        tasks_failed: "0/1",
        commit_shas: [],
        evidence: [
          {
            task_id: `0${phase}-01`,
            criteria_met: [`says it -- ${words[phase]}.txt:1 -- the word`],
            commands_run: [],
          },
        ],
        deviations: [],
      })}`,
  },
  {
    begins: "You are the verifier",
    plays: (phase) =>
      `[[bash grep ${words[phase]} ${words[phase]}.txt]] ${handedBack({
        pass: true,
        automated_checks: {},
        criteria_results: [
          {
            criterion: "it says so",
            status: "verified",
            evidence: `${words[phase]}.txt:1 says ${words[phase]}`,
          },
        ],
        alignment_score: 9,
        verification_duration_seconds: 20,
        commands_run: [`grep -q ${words[phase]} ${words[phase]}.txt -> exit 0`],
        failures: [],
        failure_categories: [],
        scope_creep: [],
      })}`,
  },
  {
    begins: "You are the judge, and your report",
    plays: (phase) =>
      handedBack({
        alignment_score: 8,
        recommendation: "proceed",
        concerns: ["The file has no newline at its end."],
        independent_evidence: [
          `${words[phase]}.txt:1 -- I read it before I knew what others found`,
        ],
        verifier_agreement: true,
        verifier_missed: [],
        scope_creep: [],
        missing_requirements: [],
        notes: "",
      }),
  },
  {
    begins: "You are the judge",
    plays: (phase) =>
      `[[write .planning/phases/${phase}/JUDGE-REPORT.md|# Judge report\\n\\n## Independent Evidence\\n- ${words[phase]}.txt:1 says ${words[phase]}\\n\\n## Concerns\\n1. The file has no newline at its end.\\n\\n## Score\\n8\\n]] [[say The report is written.]]`,
  },
];

function played(asked: Asked): string | undefined {
  const prompt = lastPromptOf(asked);
  const role = roles.find(({ begins }) => prompt.includes(begins));
  const phase = /phases\/([12])\//.exec(prompt)?.[1] as PhaseId | undefined;

  return role === undefined || phase === undefined ? undefined : role.plays(phase);
}

let model: ModelServer | null = null;
afterEach(async () => {
  await model?.close();
  model = null;
});

/**
 * One is enough here: what differs from agent to agent is told by the other stories.
 * AUTOPILOT_ROADMAP_AGENTS=all takes each of them.
 */
const walking =
  process.env["AUTOPILOT_ROADMAP_AGENTS"] === "all"
    ? agentsToTry
    : [agentsToTry.find(({ isHere }) => isHere) ?? agentsToTry[0]].filter(isGiven);
function isGiven<Value>(value: Value | undefined): value is Value {
  return value !== undefined;
}

describe.each(walking)("$title", ({ name, isHere }) => {
  test.skipIf(!isHere)(
    "walks a roadmap of two phases from research to landing",
    { timeout: 600_000 },
    async () => {
      model = await openModelServer({ keys: [realKey], script: played });
      const folder = scratch({
        files: { "README.md": "# two words\n", ".planning/ROADMAP.md": roadmap },
      });

      const env = userEnvironment(name, model.url);
      const { json, err } = await autopilot(
        folder,
        ["roadmap", "all", "--agent", name, "--yes", "--json"],
        { env },
      );
      expect(json, err.slice(-2000)).toMatchObject({ result: "PASS", state: "completed" });

      for (const phase of phases) {
        expect(git(folder, "show", `HEAD:${words[phase]}.txt`)).toContain(words[phase]);
        expect(git(folder, "show", `HEAD:.planning/phases/${phase}/JUDGE-REPORT.md`)).toContain(
          "Independent Evidence",
        );
      }

      expect(eventsOf(folder, "phase_completed").map(({ walk }) => walk)).toEqual(
        expect.arrayContaining([...phases]),
      );

      const agents = new Set(eventsOf(folder, "turn_ended").map(({ agent }) => agent));
      expect([...agents]).toEqual([name]);
      const run = String(json.run_id);

      const state = JSON.parse(
        readFileSync(join(folder, ".autopilot/archive", `${run}.json`), "utf8"),
      ) as {
        readonly phases: Readonly<
          Record<
            string,
            {
              readonly status: string;
              readonly steps: { readonly judge?: { readonly alignment: number } };
            }
          >
        >;
      };

      for (const phase of phases) {
        expect(state.phases[`phase_${phase}`]).toMatchObject({
          status: "completed",
          steps: { judge: { alignment: 8 } },
        });
      }

      expect((await autopilot(folder, ["verify", "--json"], { env })).json).toMatchObject({
        result: "PASS",
      });
    },
  );
});
