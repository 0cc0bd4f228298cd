// Gates in whole runs of a flow that has no checks at all: what holds, what is hollow, who may
// judge, and what an agent is told.

import { describe, expect, test } from "vitest";
import { autopilot, eventsOf, goScripted } from "../support/autopilot.ts";
import { git, scratch, write } from "../support/scratch-repository.ts";
import { gatesGap } from "../../src/core/verdict.ts";
import { aFew, longTest } from "../support/sampled.ts";

/** A flow of one phase with these steps, which lands. */
function flowOf(steps: string): Readonly<Record<string, string>> {
  return {
    ".autopilot/flows/audit/flow.yaml": `flow: audit
version: 1
about: Audits.
${steps.includes("again") ? "counts:\n  again: { at_most: 3, per: phase, spent: { end: failed, because: rounds_spent } }\n" : ""}phases:
  - id: "1"
    name: Explore
    steps:
${steps}
after:
  - { id: land, steps: [{ id: merge, run: land, otherwise: [{ end: completed, because: branch_kept }] }] }
`,
    ".autopilot/flows/audit/prompts/do.md": "Explore.\n{goal}\n{previous}\n",
  };
}
const explore = `      - id: do
        agent: explorer
        prompt: do.md
        proof: [{ file: quality/EXPLORATION.md, min_lines: 120, matches: '^##\\s+(Finding|\\d+\\.)|^$' }]
        otherwise: [{ go: do, count: again }]`;
const wrote = (text: string, path = "quality/EXPLORATION.md") => ({ write: { path, text } });
const exploration = (line: (n: number) => string): string =>
  [
    "# Exploration",
    "",
    ...Array.from(
      { length: 20 },
      (_, n) =>
        `## Finding ${n + 1}\n\n${line(n)}\n\nIt lies in src/${"abcdefghijklmnopqrst"[n] ?? "z"}.ts.\n`,
    ),
  ].join("\n");
const args =
  "parser printer reader writer cache clock queue ring map tree list heap index lock lease log pool port host playbook".split(
    " ",
  );
const audited = (folder: string, turns: readonly object[], more: readonly string[] = []) =>
  goScripted(folder, turns, ["--flow", "audit", ...more]);
const place = (steps: string, files: Readonly<Record<string, string>> = {}): string => {
  const folder = scratch({ files: { "README.md": "# scratch\n", ...files } });
  write(folder, flowOf(steps));
  return folder;
};

describe.concurrent("artifacts that hold their gates", () => {
  const hollow: readonly (readonly [title: string, text: string, why: string])[] = [
    ["120 empty lines", "\n".repeat(120), "nothing but 120 blank lines"],
    [
      "only the headings",
      Array.from({ length: 120 }, (_, n) => `## Finding ${n}`).join("\n"),
      "nothing but headings",
    ],
    [
      "one line over and over",
      `## Finding 1\n${"Something is wrong here.\n".repeat(130)}`,
      "the same line again and again, 130 times in all",
    ],
    [
      "what is still to be written",
      `## Finding 1\n${"TODO\n".repeat(130)}`,
      "nothing but headings and placeholders",
    ],
  ];
  aFew(1).each(hollow)(
    "%s: the gate holds as it is written, the file is told as hollow, and the run ends verified with gaps",
    async (_, text, why) => {
      const folder = place(explore);
      const { json, code } = await audited(folder, [{ do: [wrote(text)] }]);
      const gap = `quality/EXPLORATION.md is hollow: ${why}`;
      expect(json).toMatchObject({
        result: "WARN",
        reason_code: "completion_with_gaps",
        state: "completed",
        verdict: "verified_with_gaps",
        gaps: [gatesGap, gap],
      });

      expect(code).toBe(0);
      expect(eventsOf(folder, "step_completed")[0]).toMatchObject({
        facts: { hollow: 1, hollow_files: `quality/EXPLORATION.md (${why})` },
        hollow: [{ file: "quality/EXPLORATION.md", why }],
      });

      expect((await autopilot(folder, ["report"])).out).toContain(gap);
      expect((await autopilot(folder, ["verify", "--json"])).json).toMatchObject({
        result: "PASS",
      });
    },
  );

  test("with something in them: verified by the gates, but for what they say; what is said to be found and is not there is a false claim; 119 lines do not hold, and the agent is told so in its next prompt", async () => {
    const folder = place(explore);
    const good = exploration((n) => `The ${args[n]} forgets its last item.`);
    const short = good.split("\n").slice(0, 119).join("\n");
    const { json } = await audited(folder, [
      { do: [wrote(`${short}\n`)] },
      { do: [wrote(good), { say: "I found 32 findings." }] },
    ]);
    expect(json).toMatchObject({
      result: "WARN",
      reason_code: "completion_with_gaps",
      verdict: "verified_with_gaps",
      gaps: [gatesGap],
    });

    expect(eventsOf(folder, "step_failed").map(({ detail }) => detail)).toEqual([
      "min_lines quality/EXPLORATION.md: found 119 lines, expected at least 120",
    ]);

    expect(eventsOf(folder, "step_completed")[0]?.["facts"]).not.toHaveProperty("hollow");
    // What is said to be found and is not in the artifact is a false claim.
    expect(eventsOf(folder, "claims_checked").at(-1)).toMatchObject({
      claims: [
        {
          kind: "count",
          text: "I found 32 findings.",
          verdict: "false",
          why: "The documents of this turn list 20.",
        },
      ],
    });
  });

  test("a later step that fills what was hollow leaves no gap", async () => {
    const folder =
      place(`      - { id: outline, agent: a, prompt: do.md, proof: [{ file: docs/plan.md, matches: '^## ' }] }
      - { id: fill, agent: a, prompt: do.md, proof: [{ file: docs/plan.md, non_empty: true }] }`);

    const { json } = await audited(folder, [
      { do: [wrote("# Plan\n\n## Why\n", "docs/plan.md")] },
      { do: [wrote("# Plan\n\n## Why\n\nBecause it is needed.\n", "docs/plan.md")] },
    ]);

    expect(
      eventsOf(folder, "step_completed").map(({ hollow: reported }) => reported ?? null),
    ).toEqual([
      [{ file: "docs/plan.md", why: "nothing but headings" }],
      [{ file: "docs/plan.md", why: null }],
      null,
    ]);

    expect(json).toMatchObject({ gaps: [gatesGap] });
  });

  test("a row may send hollow work back, so that it does not pass", async () => {
    const folder = place(
      `${explore}\n        then: [{ when: { do.hollow: { min: 1 } }, go: do, count: again }]`,
    );

    const { json } = await audited(folder, [
      { do: [wrote("\n".repeat(120))] },
      { do: [wrote(exploration((n) => `The ${args[n]} leaks.`))] },
    ]);
    expect(json).toMatchObject({ gaps: [gatesGap] });
    expect(eventsOf(folder, "turn_ended")).toHaveLength(2);
  });
});

describe.concurrent("what judges", () => {
  const gated = `      - id: do
        agent: a
        prompt: do.md
        proof: [{ file: out.txt, non_empty: true }, { command: "sh scripts/check.sh" }]
        otherwise: [{ when: { do.oracles: changed }, pause: oracle_changed, go: do }, { go: do, count: again }]`;

  const script = "grep -q right out.txt\n";

  test("a gate's command runs with the script as it was when the run began, and who rewrites it is told; a person may approve", async () => {
    const folder = place(gated, { "scripts/check.sh": script });
    const turns = [
      { do: [wrote("wrong\n", "out.txt"), wrote("true\n", "scripts/check.sh")] },
      { do: [wrote("right\n", "out.txt")] },
    ];
    const first = await audited(folder, turns);
    expect(first.json).toMatchObject({ state: "paused", reason_code: "oracle_changed" });
    const [failed] = eventsOf(folder, "step_failed");
    expect(failed).toMatchObject({ facts: { oracles: "changed" } });
    expect(failed?.["detail"]).toMatch(
      /^tests or settings that were there before were changed: scripts\/check\.sh \(redefined: /,
    );

    expect(failed?.["detail"]).toContain(
      "command: found failed (exit 1) with the base's scripts/check.sh: sh scripts/check.sh, expected exit 0",
    );

    expect(eventsOf(folder, "oracles_judged")).toMatchObject([
      { changes: [{ path: "scripts/check.sh", allowed: null }] },
    ]);

    await autopilot(folder, ["answer", "keep", "--json"]);
    expect((await autopilot(folder, ["resume", "--json"])).json).toMatchObject({
      state: "completed",
      verdict: "verified",
    });
  });

  longTest(
    "honest work passes by the same gate",
    "test/flows/gates-in-runs.test.ts › a gate's command runs with the script as it was when the run began, and who rewrites it is told; a person may approve",
    async () => {
      const folder = place(gated, { "scripts/check.sh": script });
      expect((await audited(folder, [{ do: [wrote("right\n", "out.txt")] }])).json).toMatchObject({
        verdict: "verified",
      });
    },
  );

  test("a script that a check of the flow names is an oracle as well", async () => {
    const folder = place(
      `      - { id: do, agent: a, prompt: do.md, proof: [{ file: out.txt }] }
      - { id: prove, check: ["sh scripts/check.sh"], otherwise: [{ end: failed, because: outcome }] }`,
      { "scripts/check.sh": script },
    );

    const { json } = await audited(folder, [
      { do: [wrote("wrong\n", "out.txt"), wrote("true\n", "scripts/check.sh")] },
    ]);
    expect(json).toMatchObject({ state: "paused" });
    expect(eventsOf(folder, "step_failed")).toMatchObject([{ reason_code: "oracle_changed" }]);
  });
});

describe.concurrent("which change counts", () => {
  test("fresh: what an earlier try of the same step left is still its work; once it has passed, it is not", async () => {
    const steps = `      - id: do
        agent: a
        prompt: do.md
        proof: [{ files: [a.md, b.md], fresh: true, non_empty: true }]
        otherwise: [{ go: do, count: again }]
      - { id: look, run: next_criterion, then: [{ when: { count.again: 1 }, go: do, count: again }] }`;
    const folder = place(steps);

    const { json } = await audited(folder, [
      { do: [wrote("one\n", "a.md")] },
      { do: [wrote("two\n", "b.md")] },
      { do: [wrote("more\n", "a.md")] },
      { do: [wrote("more\n", "b.md")] },
    ]);

    const failed = eventsOf(folder, "step_failed").map(({ detail }) => String(detail));
    expect(failed[0]).toMatch(/^exists b\.md: found nothing there/);
    expect(failed[1]).toBe(
      "fresh b.md: found not changed by this visit, expected changed by this visit",
    );

    expect(failed).toHaveLength(2);
    expect(json).toMatchObject({ state: "completed" });
  });

  longTest(
    "after: a report that is older than what it reports on does not count, and history decides",
    "test/verify/gates.test.ts › after goes by commits and never by the clock of the disk",
    async () => {
      const folder = place(`      - id: do
        agent: a
        prompt: do.md
        proof: [{ file: report.md, after: src/a.js }]
        otherwise: [{ go: do, count: again }]`);
      write(folder, { "report.md": "It is so.\n", "src/a.js": "1\n" });
      git(folder, "add", "report.md", "src");
      git(folder, "commit", "-qm", "both");
      const { json } = await audited(folder, [
        { do: [wrote("2\n", "src/a.js"), wrote("It was so.\n", "report.md")] },
        { do: [wrote("It is so now.\n", "report.md")] },
      ]);

      expect(eventsOf(folder, "step_failed").map(({ detail }) => detail)).toEqual([
        "after report.md: found not changed since, expected changed in a later commit than src/a.js",
      ]);

      expect(json).toMatchObject({ state: "completed" });
    },
  );
});

longTest(
  "a document may name commits of the project's history; one that was never made does not hold its gate",
  "test/verify/gates.test.ts › a document that names what is not there fails its gate with the list, also one that is only a condition or a list",
  async () => {
    const folder = place(`      - id: do
        agent: a
        prompt: do.md
        proof: [{ file: report.md, non_empty: true }]
        otherwise: [{ go: do, count: again }]`);
    const first = git(folder, "rev-parse", "HEAD");
    write(folder, { "src/a.js": "1\n" });
    git(folder, "add", "src");
    git(folder, "commit", "-qm", "second");

    const { json } = await audited(folder, [
      {
        do: [
          wrote(
            `It broke with commit ${first.slice(0, 10)} and was fixed by commit 0badc0de12.\n`,
            "report.md",
          ),
        ],
      },
      {
        do: [
          wrote(
            `It broke with commit ${first.slice(0, 10)} and with commit ${git(folder, "rev-parse", "HEAD")}.\n`,
            "report.md",
          ),
        ],
      },
    ]);

    expect(eventsOf(folder, "step_failed").map(({ detail }) => detail)).toEqual([
      "citations report.md: found names what is not there (commit 0badc0de12), expected places, commits, logs and commands that exist; what a tool printed belongs in a code block",
    ]);

    expect(json).toMatchObject({ state: "completed" });
  },
);
