import { describe, expect, test } from "vitest";
import { Flow } from "../contracts/flow.ts";
import { findingText, type Finding } from "../kit/finding.ts";
import { isRefused, readLocated } from "../kit/located.ts";
import { computeAttemptsMax, computePhaseBounds } from "./bound.ts";
import type { LintRegistry } from "./lint-subject.ts";
import { lintFlow } from "./lint.ts";

const registry: LintRegistry = {
  run: ["land", "look", "judge_it"],
  proof: ["plan_lint", "tests"],
  readers: { phases: ["roadmap"], tasks: ["plan"] },
  schemas: ["work", "review"],
  checks: ["criteria", "project"],
  playbooks: ["quality", "staged"],
  factFieldsBySchema: {
    work: { confidence: "number", done: "flag", kind: ["bug", "feature"] },
    review: { pass: "flag" },
  },
};

const good = `flow: small
version: 1
options:
  rounds: { type: count, default: 3 }
  mode: { type: word, one_of: [fast, slow], default: fast }
  deep: { type: flag }
counts:
  debug: { at_most: 2, per: phase, spent: { go: plan, count: replan } }
  replan: { at_most: option.rounds, per: phase, spent: { end: failed, because: spent } }
when_step_fails: [{ end: failed }]
before:
  - id: survey
    steps: [{ id: see, run: look }]
phases:
  - id: "1"
    steps:
      - { id: plan, agent: planner, prompt: plan.md, returns: work, proof: [plan_lint] }
      - { id: work, agent: executor, prompt: work.md, returns: work, sees: [plan, checks], otherwise: [{ go: checks }] }
      - { id: checks, check: [criteria, "npm test"], otherwise: [{ go: work, count: debug }] }
      - { id: ask, human: { question: "Good?", options: { A: yes, B: no }, recommend: A }, then: [{ when: { ask.answer: B }, go: work, count: debug }] }
  - id: "2"
    only_if: { option.deep: true }
    steps:
      - id: spread
        tasks: { read: plan, parallel: 2, each: [{ id: do, agent: executor, prompt: work.md, returns: work, proof: [tests], retry: 1 }] }
      - { id: gate, run: judge_it, proof: [{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }], then: [{ when: { gate.again: true }, go: { phase: "1" }, count: replan }] }
after:
  - { id: land, steps: [{ id: merge, run: land, otherwise: [{ end: completed, because: branch_kept }] }] }
`;
const prompts = {
  "plan.md": "Plan {goal}\n{previous}\n{return_schema}",
  "work.md": "Work on {criterion}\n{previous}\n{return_schema}",
};

type Changed = {
  prompts?: Record<string, string>;
  promptFiles?: readonly string[];
  registry?: Partial<LintRegistry>;
};

function lint(text: string, changed: Changed = {}): readonly Finding[] {
  const read = readLocated("flow.yaml", text, Flow);
  if (isRefused(read)) return read.findings;
  return lintFlow({
    flow: read.value,
    positions: read.positions,
    prompts: changed.prompts ?? prompts,
    ...(changed.promptFiles === undefined ? {} : { promptFiles: changed.promptFiles }),
    registry: { ...registry, ...changed.registry },
  });
}
/** The good flow with one text replaced; the text must be there. */
function without(from: string, to: string): string {
  if (!good.includes(from)) throw new Error(`not in the flow: ${from}`);
  return good.replace(from, () => to);
}
const lineOf = (text: string): number => good.slice(0, good.indexOf(text)).split("\n").length;

test("the small flow is clean", () => {
  expect(lint(good).map(findingText)).toEqual([]);
});

describe("every break has its finding, on its own line", () => {
  const checks =
    '- { id: checks, check: [criteria, "npm test"], otherwise: [{ go: work, count: debug }] }';
  const cases: readonly (readonly [
    title: string,
    from: string,
    to: string,
    rule: string,
    message: RegExp,
  ])[] = [
    ["no kind", "{ id: see, run: look }", "{ id: see }", "not_one_kind", /no kind/],
    [
      "two kinds",
      "{ id: see, run: look }",
      "{ id: see, run: look, check: [project] }",
      "not_one_kind",
      /run and check/,
    ],
    [
      "an agent without a prompt",
      "agent: planner, prompt: plan.md,",
      "agent: planner,",
      "agent_without_prompt",
      /no prompt/,
    ],
    [
      "a target that is not there",
      "otherwise: [{ go: checks }]",
      "otherwise: [{ go: chekcs }]",
      "unknown_target",
      /Did you mean checks\?/,
    ],
    [
      "two steps with one id",
      "{ id: ask, human",
      "{ id: plan, human",
      "duplicate_step",
      /second step "plan"/,
    ],
    ["two phases with one id", 'id: "2"', 'id: "1"', "duplicate_phase", /second phase/],
    [
      "a ring without a count",
      "otherwise: [{ go: work, count: debug }]",
      "otherwise: [{ go: work }]",
      "ring_without_count",
      /work -> checks -> work|checks -> work -> checks/,
    ],
    [
      "a way back to a phase without a count",
      'go: { phase: "1" }, count: replan',
      'go: { phase: "1" }',
      "ring_without_count",
      /phase "1"/,
    ],
    [
      "again without a count",
      "otherwise: [{ go: checks }]",
      "otherwise: [{ again: true }]",
      "ring_without_count",
      /work -> work/,
    ],
    [
      "spent counts that go round",
      "spent: { end: failed, because: spent }",
      "spent: { go: plan, count: debug }",
      "spent_round",
      /debug -> replan -> debug/,
    ],
    [
      "a count nobody uses",
      "counts:\n",
      "counts:\n  idle: { at_most: 1, per: run, spent: { end: failed } }\n",
      "count_unused",
      /"idle"/,
    ],
    [
      "a count without a declaration",
      "{ when: { ask.answer: B }, go: work, count: debug }",
      "{ when: { ask.answer: B }, go: work, count: debig }",
      "unknown_count",
      /Did you mean debug\?/,
    ],
    [
      "a count that nothing bounds",
      "rounds: { type: count, default: 3 }",
      "rounds: { type: count }",
      "count_bound",
      /no default/,
    ],
    [
      "a count bounded by a word",
      "at_most: option.rounds",
      "at_most: option.mode",
      "count_bound",
      /is a word/,
    ],
    [
      "a count per task outside a task",
      "debug: { at_most: 2, per: phase",
      "debug: { at_most: 2, per: task",
      "count_scope",
      /outside/,
    ],
    [
      "an option without a declaration",
      "only_if: { option.deep: true }",
      "only_if: { option.depe: true }",
      "unknown_option",
      /Did you mean deep\?/,
    ],
    [
      "an option that cannot have that value",
      "only_if: { option.deep: true }",
      "only_if: { option.mode: medium }",
      "fact_value",
      /one of fast, slow/,
    ],
    [
      "a default that does not fit",
      "type: word, one_of: [fast, slow], default: fast",
      "type: word, one_of: [fast, slow], default: quick",
      "option_default",
      /one of fast, slow/,
    ],
    [
      "a fact of no step",
      "{ when: { ask.answer: B }",
      "{ when: { aks.answer: B }",
      "unknown_fact",
      /Did you mean ask\?/,
    ],
    [
      "a fact of no before phase",
      "only_if: { option.deep: true }",
      "only_if: { before.survey.sea.ok: true }",
      "unknown_fact",
      /before\.survey\.see/,
    ],
    [
      "an answer that is not offered",
      "{ when: { ask.answer: B }",
      "{ when: { ask.answer: C }",
      "fact_value",
      /one of A, B/,
    ],
    [
      "an outcome that is none",
      "{ when: { ask.answer: B }",
      "{ when: { checks: green }",
      "fact_value",
      /passed, failed, skipped/,
    ],
    [
      "says of a step that returns nothing",
      "{ when: { ask.answer: B }",
      "{ when: { checks.says.pass: false }",
      "says_nothing",
      /checks returns nothing/,
    ],
    [
      "says of a field that is no fact",
      "{ when: { ask.answer: B }",
      "{ when: { work.says.summary: x }",
      "says_unknown",
      /confidence, done, kind/,
    ],
    [
      "says with a word the schema does not list",
      "{ when: { ask.answer: B }",
      "{ when: { work.says.kind: chore }",
      "fact_value",
      /bug, feature/,
    ],
    [
      "a condition on a later step",
      "{ id: see, run: look }",
      "{ id: see, run: look, only_if: { see2: passed } }, { id: see2, run: look }",
      "fact_of_later_step",
      /comes later/,
    ],
    [
      "a function nobody has",
      "{ id: see, run: look }",
      "{ id: see, run: lok }",
      "unknown_function",
      /Did you mean look\?/,
    ],
    [
      "a proof nobody has",
      "proof: [plan_lint]",
      "proof: [plan_lnit]",
      "unknown_proof",
      /Did you mean plan_lint\?/,
    ],
    [
      "a reader nobody has",
      "tasks: { read: plan,",
      "tasks: { read: plans,",
      "unknown_reader",
      /Did you mean plan\?/,
    ],
    [
      "a schema nobody has",
      "prompt: plan.md, returns: work",
      "prompt: plan.md, returns: wrok",
      "unknown_schema",
      /Did you mean work\?/,
    ],
    [
      "a group of checks nobody has",
      "check: [criteria,",
      "check: [critera,",
      "unknown_check",
      /Did you mean criteria\?/,
    ],
    [
      "a prompt that is not there",
      "prompt: plan.md",
      "prompt: plna.md",
      "prompt_missing",
      /Did you mean plan.md\?/,
    ],
    [
      "a step nothing leads to",
      checks,
      `${checks.slice(0, -2)}, then: [{ end: completed }] }`,
      "unreachable",
      /"ask"/,
    ],
    [
      "a step that is never wanted",
      "{ id: see, run: look }",
      "{ id: see, run: look, only_if: { option.deep: true }, unless: [{ option.deep: true }] }",
      "unreachable",
      /"see", which is never run/,
    ],
    [
      "a phase that is never wanted",
      "only_if: { option.deep: true }",
      "only_if: { option.deep: true }\n    unless: [{ option.deep: true }]",
      "unreachable",
      /phase "2"/,
    ],
    [
      "a row behind one that always matches",
      "otherwise: [{ go: checks }]",
      "otherwise: [{ go: checks }, { end: failed }]",
      "row_never_read",
      /always matches/,
    ],
    [
      "a row that leads nowhere",
      "otherwise: [{ go: checks }]",
      "otherwise: [{ when: { work: failed } }]",
      "no_target",
      /leads nowhere/,
    ],
    [
      "a row with two targets",
      "otherwise: [{ go: checks }]",
      "otherwise: [{ go: checks, end: failed }]",
      "two_targets",
      /go and end/,
    ],
    [
      "a house rule that does not catch every failure",
      "when_step_fails: [{ end: failed }]",
      "when_step_fails: [{ when: { option.deep: true }, end: failed }]",
      "house_not_total",
      /catches every failure/,
    ],
    [
      "sees of no step",
      "sees: [plan, checks]",
      "sees: [plan, cheks]",
      "sees_unknown",
      /Did you mean checks\?/,
    ],
    [
      "a session of a step that is no agent",
      "sees: [plan, checks]",
      "continues: checks",
      "continues_no_agent",
      /an agent/,
    ],
    [
      "a session of another role",
      "sees: [plan, checks]",
      "continues: plan",
      "continues_other_role",
      /planner/,
    ],
    [
      "a word on a step that cannot have it",
      "{ id: see, run: look }",
      "{ id: see, run: look, masks: [a] }",
      "word_out_of_place",
      /belongs to agent/,
    ],
    [
      "a question without an answer",
      "options: { A: yes, B: no }, recommend: A",
      "meanwhile: hold",
      "human_options",
      /without an answer/,
    ],
    [
      "a recommendation that is not offered",
      "recommend: A }",
      "recommend: Z }",
      "recommend_unknown",
      /"Z"/,
    ],
    [
      "a phase that is not there",
      'go: { phase: "1" }',
      'go: { phase: "9" }',
      "unknown_target",
      /"9"/,
    ],
    [
      "a flow that lands nothing",
      "{ id: merge, run: land,",
      "{ id: merge, run: look,",
      "lands_nothing",
      /lands_nothing: true/,
    ],
    [
      "a flow that lands and says it does not",
      "version: 1\n",
      "version: 1\nlands_nothing: true\n",
      "lands_anyway",
      /says lands_nothing/,
    ],
    [
      "completed on the agent's word",
      "otherwise: [{ go: checks }]",
      "then: [{ when: { work.says.done: true }, end: completed }], otherwise: [{ go: checks }]",
      "completed_on_says",
      /work\.says\.done/,
    ],
    [
      "completed past a failed gate",
      checks,
      "- { id: checks, check: [criteria], otherwise: [{ go: ask }] }",
      "completed_past_gate",
      /while checks has failed/,
    ],
    [
      "completed without a proof since the turn",
      checks,
      "- { id: checks, run: look }",
      "completed_without_proof",
      /since the last agent turn/,
    ],
    [
      "a spent count that completes a gate",
      "spent: { end: failed, because: spent }",
      "spent: { end: completed }",
      "spent_completes_gate",
      /checks has failed/,
    ],
    [
      "a ring in the closing steps",
      "steps: [{ id: see, run: look }]",
      "steps: [{ id: see, run: look }]\nclosing: [{ id: c, run: look, then: [{ go: c }] }]",
      "ring_without_count",
      /c -> c/,
    ],
    [
      "a gate that looks at nothing",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ min_lines: 3 }",
      "gate_without_subject",
      /min_lines/,
    ],
    [
      "a word without its subject",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ any: 'out/*', exists: true }",
      "gate_word_alone",
      /exists without file/,
    ],
    [
      "at_least without any",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ file: a, at_least: 3 }",
      "gate_word_alone",
      /at_least without any/,
    ],
    [
      "an exception that leaves nothing",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ any: 'out/*test*.md', at_least: 1, except: ['out/*.md'] }",
      "gate_never_holds",
      /leaves nothing/,
    ],
    [
      "a file both absent and long",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ file: a, exists: false, min_lines: 3 }",
      "gate_never_holds",
      /absent/,
    ],
    [
      "a file both wanted and said to be absent",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ file: out/A.md }, { file: out/A.md, exists: false }",
      "gate_never_holds",
      /exists: false in the same proof/,
    ],
    [
      "a path that is both a file and a folder",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ file: out }, { file: out/A.md }",
      "gate_never_holds",
      /a file and a folder/,
    ],
    [
      "two files of one name",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ any: out/A.md, at_least: 2 }",
      "gate_never_holds",
      /the name of one file/,
    ],
    [
      "a pattern and none of it in one gate",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ any: 'out/*.md', none: ['out/**'] }",
      "gate_never_holds",
      /none in the same proof forbids/,
    ],
    [
      "a number of files that is none",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ any: 'out/*', at_least: 0 }",
      "wrong_value",
      />=1/,
    ],
    [
      "an absent file for every match",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ for_each: { file: a, matches: '(x)' }, files: ['{1}.md'], exists: false }",
      "gate_never_holds",
      /beside for_each/,
    ],
    [
      "a file that must be newer than itself",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ file: a, after: a }",
      "gate_never_holds",
      /newer than itself/,
    ],
    [
      "an artifact among installed packages",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ file: node_modules/a.md }",
      "gate_never_holds",
      /node_modules is no artifact/,
    ],
    [
      "an artifact in the runner's own folder",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ file: .autopilot/a.md }",
      "gate_never_holds",
      /the runner's own/,
    ],
    [
      "a pattern behind a line's end",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ file: a, matches: 'end$ of' }",
      "gate_never_holds",
      /behind a line's end/,
    ],
    [
      "a pattern before a line's beginning",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ file: a, min_lines: 3, matches: 'x^# ' }",
      "gate_never_holds",
      /before a line's beginning/,
    ],
    [
      "a pattern with a part that fits nothing",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ file: a, matches: 'a(?!)' }",
      "gate_never_holds",
      /fits nothing/,
    ],
    [
      "no files",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ files: [] }",
      "gate_without_subject",
      /no files/,
    ],
    [
      "no patterns that may not match",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ none: [] }",
      "gate_without_subject",
      /no none/,
    ],
    [
      "a path with a dot before it",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ file: ./a.md }",
      "bad_path",
      /without \.\//,
    ],
    [
      "a folder where a file belongs",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ file: out/ }",
      "bad_path",
      /folder/,
    ],
    [
      "two bars in a path",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ file: out//a.md }",
      "bad_path",
      /one \/ between/,
    ],
    [
      "a task where there is none",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ file: 'out/{task}.md' }",
      "unknown_placeholder",
      /outside the steps that a task runs/,
    ],
    [
      "a file both wanted and forbidden",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ file: out/A.md, exists: true }, { none: ['out/**'] }",
      "gate_never_holds",
      /forbids/,
    ],
    [
      "a pattern that is none",
      "matches: '^# '",
      "matches: '^(# '",
      "bad_regex",
      /Unterminated group/,
    ],
    [
      "a pattern that takes for ever",
      "matches: '^# '",
      "matches: '(a+)+$'",
      "slow_regex",
      /for ever/,
    ],
    [
      "a pattern where a file belongs",
      "{ file: out/REPORT.md,",
      "{ file: out/*.md,",
      "glob_in_file",
      /any/,
    ],
    ["a path that climbs", "{ file: out/REPORT.md,", "{ file: ../REPORT.md,", "bad_path", /climb/],
    [
      "a command that proves nothing",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ command: 'true' }",
      "gate_always_holds",
      /proves nothing/,
    ],
    [
      "a group that for_each has not",
      "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }",
      "{ for_each: { file: a, matches: '(x)' }, files: ['{2}.md'] }",
      "unknown_placeholder",
      /1 groups/,
    ],
    [
      "a placeholder no path has",
      "{ file: out/REPORT.md,",
      '{ file: "{phasedir}/REPORT.md",',
      "unknown_placeholder",
      /Did you mean phase_dir\?/,
    ],
    [
      "a playbook nobody has",
      "version: 1\n",
      "version: 1\nplaybook: qualty\n",
      "unknown_playbook",
      /expected one of quality, staged.*Did you mean quality\?/,
    ],
    [
      "keeps on a step that is no agent",
      "{ id: see, run: look }",
      "{ id: see, run: look, keeps: [a] }",
      "word_out_of_place",
      /belongs to agent/,
    ],
    [
      "keeps of a path that climbs",
      "returns: work, proof: [plan_lint]",
      "returns: work, keeps: ['../x'], proof: [plan_lint]",
      "bad_path",
      /climb/,
    ],
    [
      "keeps with a placeholder nobody fills",
      "returns: work, proof: [plan_lint]",
      "returns: work, keeps: ['{task}.md'], proof: [plan_lint]",
      "unknown_placeholder",
      /task/,
    ],
    [
      "a gate on what keeps leaves out",
      "returns: work, proof: [plan_lint]",
      "returns: work, keeps: ['{phase_dir}/PLAN.md'], proof: [{ file: out/A.md }]",
      "gate_outside_keeps",
      /out\/A\.md/,
    ],
    [
      "a pattern of a gate on what keeps leaves out",
      "returns: work, proof: [plan_lint]",
      "returns: work, keeps: ['docs/**'], proof: [{ any: 'out/*.md' }]",
      "gate_outside_keeps",
      /out/,
    ],
    [
      "tasks inside tasks",
      "each: [{ id: do,",
      "each: [{ id: more, tasks: { read: plan, each: [{ id: x, run: look }] } }, { id: do,",
      "tasks_nested",
      /each list/,
    ],
  ];
  test.each(cases)("%s", (_title, from, to, rule, message) => {
    const found = lint(without(from, to)).filter((finding) => finding.rule === rule);
    expect(found.map(({ message: text }) => text).join("\n")).toMatch(message);
    expect(found.every(({ line }) => line > 0 && line <= good.split("\n").length + 1)).toBe(true);
  });

  test("the line is the one a person must change", () => {
    const [found] = lint(without("otherwise: [{ go: checks }]", "otherwise: [{ go: chekcs }]"));
    expect(found).toMatchObject({
      file: "flow.yaml",
      line: lineOf("id: work, agent"),
      path: "phases[0].steps[1].otherwise[0].go",
    });
  });

  test("a misspelt reason code is a warning, an own one is none", () => {
    expect(
      lint(
        without("otherwise: [{ go: checks }]", "otherwise: [{ go: checks, pause: agent_faild }]"),
      ),
    ).toMatchObject([{ rule: "reason_misspelt", severity: "warning" }]);

    expect(
      lint(
        without("otherwise: [{ go: checks }]", "otherwise: [{ go: checks, pause: my_own_code }]"),
      ),
    ).toEqual([]);
  });

  test("an unknown placeholder is told in the prompt's own file", () => {
    expect(
      lint(good, {
        prompts: { ...prompts, "work.md": "Hello\n  {gaol} {{free}} {previous} {return_schema}" },
      }),
    ).toMatchObject([
      {
        file: "prompts/work.md",
        line: 2,
        column: 3,
        rule: "unknown_placeholder",
        message: expect.stringMatching(/Did you mean goal\?/) as string,
      },
    ]);
  });

  test("a gate on what keeps lets through is clean, and so is a named proof as a check", () => {
    const kept =
      "returns: work, keeps: ['{phase_dir}/PLAN.md', 'docs/', '!docs/x'], proof: [plan_lint, { file: '{phase_dir}/PLAN.md' }, { any: 'docs/*.md' }]";
    const text = without("returns: work, proof: [plan_lint]", kept).replace(
      'check: [criteria, "npm test"]',
      "check: [criteria, tests]",
    );
    expect(lint(text).map(findingText)).toEqual([]);
    expect(
      lint(without("version: 1\n", "version: 1\nplaybook: staged\n")).map(findingText),
    ).toEqual([]);
  });

  test("what may well hold is not refused: words of files on any, an exception to none, an end of line with something optional behind it", () => {
    const from = "{ file: out/REPORT.md, min_lines: 3, matches: '^# ' }";
    for (const gate of [
      "{ any: 'out/*.md', min_lines: 3, matches: '^x$|^y' }",
      "{ none: ['*.log'], except: [keep.log] }",
      "{ file: a, matches: 'end$\\\\n?x' }",
      "{ file: a, matches: 'end$x?' }",
      "{ any: a.md }",
      "{ file: 'out/{phase}.md' }, { file: out/x, exists: false }",
      "{ file: out/a }, { none: ['out/**'], except: ['out/a'] }",
    ]) {
      expect(lint(without(from, gate)).map(findingText)).toEqual([]);
    }
  });

  test("a prompt that no step names, one that shows no failures, and a task where there is none are warnings in their own place", () => {
    const files = { ...prompts, "plan.md": "Plan {goal} for {task}\n{return_schema}" };
    expect(
      lint(good, { prompts: files, promptFiles: ["plan.md", "plan-old.md", "work.md"] }).map(
        findingText,
      ),
    ).toEqual([
      "prompts/plan-old.md:1:1: warning: found prompts/plan-old.md, which no step names (prompt_unused)",
      `flow.yaml:${lineOf("id: plan, agent")}:37: warning: phases[0].steps[0].prompt: found {task} in prompts/plan.md, and no task runs this step (placeholder_empty)`,
      `flow.yaml:${lineOf("id: plan, agent")}:37: warning: phases[0].steps[0].prompt: found no {previous} in prompts/plan.md, so an agent whose proof did not hold is not told why (failure_not_shown)`,
    ]);
  });

  test("a function that does not say its effect is refused where effects are asked for", () => {
    expect(
      lint(good, { registry: { effectsByFunction: { land: "keyed", look: "none" } } }),
    ).toMatchObject([{ rule: "effect_undeclared", path: "phases[1].steps[1].run" }]);
  });

  test("a phase with no way to completed", () => {
    const text = without("{ when: { ask.answer: B }, go: work, count: debug }", "{ end: failed }");
    expect(lint(text)).toMatchObject([{ rule: "never_completes" }]);
  });

  test("the runner's own verdict may complete, whatever the gate said", () => {
    const judged = `- { id: checks, check: [criteria], otherwise: [{ go: ask }] }`;
    const asked = `- { id: ask, human: { question: "Good?", options: { A: yes, B: no }, recommend: A }, then: [{ when: { ask.answer: B }, go: work, count: debug }] }`;

    const text = without(
      '- { id: checks, check: [criteria, "npm test"], otherwise: [{ go: work, count: debug }] }',
      judged,
    ).replace(
      asked,
      "- { id: ask, run: judge_it, then: [{ when: { ask.complete: true }, end: completed }, { go: work, count: debug }] }",
    );
    expect(lint(text).map(findingText)).toEqual([]);
  });
});

describe("a flow that calls others", () => {
  const flowOf = (text: string): Flow => {
    const read = readLocated("flow.yaml", text, Flow);
    if (isRefused(read)) throw new Error(read.findings.map(findingText).join("\n"));
    return read.value;
  };

  const calling = (name: string, called: string, more = ""): string =>
    `flow: ${name}\nversion: 1\nlands_nothing: true\nphases: [{ id: "1", steps: [{ id: kid, flow: ${called}${more} }] }]\n`;
  const notes = flowOf(
    "flow: notes\nversion: 1\nlands_nothing: true\noptions: { tone: { type: word, one_of: [dry, warm] } }\nphases: [{ id: n, steps: [{ id: c, check: [project] }] }]\n",
  );

  const flows = { notes, back: flowOf(calling("back", "small")), broken: null };
  const rulesOf = (text: string): readonly string[] =>
    lint(text, { registry: { flows } }).map(
      ({ line, rule, message }) => `${line} ${rule} ${message}`,
    );

  test("is clean where each is there and takes what it is given", () => {
    expect(rulesOf(calling("small", "notes", ", with: { tone: warm }"))).toEqual([]);
  });

  test("may ask a person: its questions are asked in its parent's name", () => {
    const asks = flowOf(
      calling("asks", "notes").replace(
        "{ id: kid",
        '{ id: ask, human: { question: "Go?", options: { A: yes } } }, { id: kid',
      ),
    );
    expect(lint(calling("small", "asks"), { registry: { flows: { ...flows, asks } } })).toEqual([]);
  });

  test.each([
    [
      "one that nobody has",
      calling("small", "note"),
      /^4 unknown_flow .*expected one of notes, back, broken\. Did you mean notes\?/,
    ],
    [
      "one that cannot be read",
      calling("small", "broken"),
      /^4 called_invalid .*autopilot flow lint broken/,
    ],
    [
      "an option it does not have",
      calling("small", "notes", ", with: { tune: warm }"),
      /^4 unknown_option .*Did you mean tone\?/,
    ],
    [
      "a value its option cannot have",
      calling("small", "notes", ", with: { tone: hot }"),
      /^4 option_value .*expected one of dry, warm/,
    ],
    ["itself", calling("small", "small"), /^4 flow_ring .*small -> small/],
    ["one that calls it back", calling("small", "back"), /^4 flow_ring .*small -> back -> small/],
  ])("%s is told with its line", (_title, text, expected) => {
    const reported = lint(text, {
      registry: {
        flows: { ...flows, ...(text.includes("flow: small }") ? { small: flowOf(text) } : {}) },
      },
    });
    const found = reported.map(({ line, rule, message }) => `${line} ${rule} ${message}`);
    expect(found).toEqual([expect.stringMatching(expected)]);
  });
});

test("a fact that no step of this kind has is told: a row on it would never match", () => {
  const reported = (from: string, to: string): readonly string[] =>
    lint(without(from, to)).map(({ rule, message }) => `${rule} ${message}`);
  const work = "returns: work, sees: [plan, checks], otherwise: [{ go: checks }] }";
  const row = (fact: string) =>
    `returns: work, sees: [plan, checks], otherwise: [{ go: checks }], then: [{ when: { ${fact}: { min: 1 } }, go: work, count: debug }] }`;
  expect(reported(work, row("work.holow"))).toEqual([
    expect.stringMatching(/^unknown_fact .*Did you mean hollow\?/),
  ]);

  expect(reported(work, row("work.hollow"))).toEqual([]);
  expect(
    reported(
      '"npm test"], otherwise: [{ go: work, count: debug }]',
      '"npm test"], otherwise: [{ when: { checks.faling: { min: 1 } }, go: work, count: debug }]',
    ),
  ).toEqual([
    expect.stringMatching(/^unknown_fact .*expected one of checks\.ran, .*Did you mean failing\?/),
  ]);
});

test("where no known name is near an unknown one, all of them are listed", () => {
  const [found] = lint(without("run: look }", "run: zzzzzz }"));
  expect(found?.message).toContain("expected one of land, look, judge_it");
});

test("a question without answers is told once, not again by whoever names an answer", () => {
  const rules = lint(without("options: { A: yes, B: no }, recommend: A", "recommend: A")).map(
    ({ rule }) => rule,
  );
  expect(rules).toEqual(["human_options"]);
});

describe("how many attempts there can be", () => {
  const read = readLocated("flow.yaml", good, Flow);
  if (isRefused(read)) throw new Error("refused");
  const flow = read.value;
  test("ways back add up, they do not multiply", () => {
    expect(computePhaseBounds(flow)).toEqual({
      "before.survey": 1,
      "1": (1 + 2 + 3) * 4,
      "2": (1 + 3) * 2,
      "after.land": 1,
    });
  });

  test("an option of the run bounds it", () => {
    expect(computePhaseBounds(flow, { rounds: 0 })["1"]).toBe((1 + 2) * 4);
    expect(computeAttemptsMax(flow, [])).toBe(0);
  });
});
