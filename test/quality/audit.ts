// audit: a whole quality run as a script for the embedded agent, phase by phase, each part of which
// a story may change.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { autopilot, type Ended, isolation, scripted } from "../support/autopilot.ts";
import { checkedOnce, scratch } from "../support/scratch-repository.ts";

export const sources = {
  "README.md": "# Shop\n\nAdds prices.\n",
  "src/sum.js": "export const sum = (prices) => prices.reduce((a, b) => a + b);\n",
  "reference_docs/prices.md": "# Prices\n\nA sum of no prices is zero.\n",
};
export const shop = (more: Readonly<Record<string, string>> = {}): string =>
  scratch({ files: { ...sources, ...more } });
/** The same without documentation. */
export const bare = (): string =>
  scratch({ files: { "README.md": "# Shop\n", "src/sum.js": sources["src/sum.js"] } });

const subjects = [
  "fallback",
  "dispatcher",
  "contract",
  "enumeration",
  "surface",
  "parser",
  "mount",
];
const verbs = [
  "rounds",
  "drops",
  "repeats",
  "swallows",
  "reorders",
  "loses",
  "inverts",
  "hides",
  "doubles",
  "skips",
  "cuts",
];
const sentence = (n: number): string =>
  `The ${subjects[n % 7] ?? ""} in src/sum.js ${verbs[n % 11] ?? ""} what ${subjects[(n * 3 + 1) % 7] ?? ""} ${String.fromCharCode(97 + (n % 26))} hands over when ${verbs[(n * 5 + 2) % 11] ?? ""}-case ${String.fromCharCode(97 + ((n * 7) % 26))}${String.fromCharCode(97 + ((n * 11) % 26))} comes first.`;

/** An exploration of exactly so many lines, with three findings and seven patterns. */
export function exploration(lines = 130): string {
  const head = [
    "# Exploration",
    "",
    "## Finding F-1: an empty list throws",
    "",
    "## Finding F-2: no currency",
    "",
    "## Finding F-3: floats",
    "",
  ];

  const patterns = subjects.flatMap((subject, n) => [`### Pattern ${n + 1}: ${subject}`, ""]);
  const all = [...head, ...patterns];
  for (let n = 0; all.length < lines; n++) all.push(sentence(n));

  return `${all.slice(0, lines).join("\n")}\n`;
}

export const nine = [
  "REQUIREMENTS",
  "QUALITY",
  "CONTRACTS",
  "COVERAGE_MATRIX",
  "COMPLETENESS_REPORT",
  "RUN_CODE_REVIEW",
  "RUN_INTEGRATION_TESTS",
  "RUN_SPEC_AUDIT",
  "RUN_TDD_TESTS",
] as const;
const requirements = `# Requirements

### REQ-001: a sum of no prices is zero
From reference_docs/prices.md.

### REQ-002: prices are whole cents
### UC-01: a customer pays
`;

export type Files = Readonly<Record<string, string>>;
export const wrote = (files: Files): object[] =>
  Object.entries(files).map(([path, text]) => ({ write: { path: `quality/${path}`, text } }));

/**
 * What each phase leaves under quality/ where nothing is amiss: two bugs, each with all that
 * belongs to it.
 */
export const left: Readonly<Record<string, Files>> = {
  "1": { "EXPLORATION.md": exploration() },
  "2": {
    ...Object.fromEntries(
      nine.map((name) => [
        `${name}.md`,
        name === "REQUIREMENTS" ? requirements : `# ${name}\n\nWhat ${name} says of the sum.\n`,
      ]),
    ),
    "test_functional.js": "import { sum } from '../src/sum.js';\nconsole.assert(sum([]) === 0);\n",
  },
  "3": {
    "code_reviews/2026-05-15-review.md":
      "# Review\n\nsrc/sum.js was read whole; an empty list throws.\n",
    "BUGS.md":
      "# Bugs\n\n### BUG-001: an empty list throws\nsrc/sum.js:1\n\n### BUG-002: floats\nsrc/sum.js:1\n",
    "patches/BUG-001-regression-test.patch": "+console.assert(sum([]) === 0);\n",
    "patches/BUG-002-regression-test.patch": "+console.assert(sum([0.1, 0.2]) === 0.3);\n",
  },
  "4": {
    "spec_audits/2026-05-15-auditor-1.md": "REQ-001 is not met: src/sum.js:1.\n",
    "spec_audits/2026-05-15-auditor-2.md": "Nothing is done that nobody asked for.\n",
    "spec_audits/2026-05-15-auditor-3.md": "At the edges: the empty list.\n",
    "spec_audits/2026-05-15-triage.md": "All three agree on the empty list.\n",
  },
  "5": {
    "writeups/BUG-001.md": "reduce has no first value.\n",
    "writeups/BUG-002.md": "Prices are floats.\n",
    "results/BUG-001.red.log": "TypeError: Reduce of empty array\n",
    "results/BUG-002.red.log": "AssertionError: 0.30000000000000004\n",
    "results/tdd-results.json": '{"BUG-001":"red","BUG-002":"red"}\n',
  },
  "6": {},
};

const roles: Readonly<Record<string, string>> = {
  "1": "explorer",
  "2": "generator",
  "3": "reviewer",
  "4": "auditor",
  "5": "reconciler",
  "6": "verifier",
};

export const returned: Readonly<Record<string, object>> = {
  "1": {
    findings: [
      {
        id: "F-1",
        category: "code-bug",
        file: "src/sum.js",
        line: 1,
        title: "an empty list throws",
      },
      {
        id: "F-2",
        category: "missing-citation",
        file: "src/sum.js",
        line: 1,
        title: "no currency is named",
      },
      {
        id: "F-99",
        category: "code-bug",
        file: "src/sum.js",
        line: 9,
        title: "not in the document",
      },
    ],
    patterns: subjects.map((_, n) => ({ pattern: n + 1, findings_count: n === 0 ? 2 : 0 })),
  },
  "2": { promoted: ["F-1", "F-3"], dropped: ["F-2: nobody asked for it"] },
  "3": {
    bugs: [
      { id: "BUG-001", title: "an empty list throws", file: "src/sum.js", line: 1 },
      { id: "BUG-002", title: "floats", file: "src/sum.js", line: 1 },
    ],
    writeups: [],
  },
  "4": {
    passes: [
      { pass: "A", output_artifact: "quality/spec_audits/2026-05-15-auditor-1.md" },
      { pass: "B", output_artifact: "quality/spec_audits/2026-05-15-auditor-2.md" },
      { pass: "C", output_artifact: "quality/spec_audits/2026-05-15-auditor-3.md" },
      { pass: "D", output_artifact: "quality/spec_audits/2026-05-15-triage.md" },
    ],
    req_count: 99,
    uc_count: 1,
  },
  "5": {
    reconciled: [
      { id: "BUG-001", red_log: "quality/results/BUG-001.red.log" },
      { id: "BUG-002", red_log: "quality/results/BUG-002.red.log" },
    ],
  },
  "6": { notes: ["The two bugs share one cause."] },
};

/** One phase's turn: what it leaves, and what it hands back. */
export const turn = (
  phase: string,
  files: Files = left[phase] ?? {},
  more: { readonly do?: readonly object[]; readonly returns?: object | null } = {},
): object => ({
  when: { flow: "quality", phase, step: "do", role: roles[phase] },
  do: [...wrote(files), ...(more.do ?? [{ say: `phase ${phase} is done` }])],
  ...(more.returns === null ? {} : { returns: more.returns ?? returned[phase] }),
});

/** Every phase once, with these in place of their own. */
export const turns = (
  changed: Readonly<Record<string, object | readonly object[]>> = {},
): readonly object[] => Object.keys(left).flatMap((phase) => changed[phase] ?? [turn(phase)]);

export const args = (
  folder: string,
  played: readonly object[],
  more: readonly string[] = [],
): readonly string[] => [
  "quality",
  "--yes",
  "--json",
  "--isolation",
  isolation,
  ...scripted(checkedOnce(folder), played),
  ...more,
];

export const audit = (
  folder: string,
  played: readonly object[] = turns(),
  more: readonly string[] = [],
): Promise<Ended> => autopilot(folder, args(folder, played, more));

export type Line = Readonly<Record<string, unknown>> & {
  readonly event: string;
  readonly ts: string;
};

export const logText = (folder: string): string =>
  readFileSync(join(folder, "quality/run_state.jsonl"), "utf8");
export const linesIn = (text: string): readonly Line[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
export const log = (folder: string): readonly Line[] => linesIn(logText(folder));
export const named = (lines: readonly Line[], event: string): readonly Line[] =>
  lines.filter((line) => line.event === event);
export const progress = (folder: string): string =>
  readFileSync(join(folder, "quality/PROGRESS.md"), "utf8");
export const history = (folder: string): readonly string[] =>
  existsSync(join(folder, "quality/history"))
    ? readdirSync(join(folder, "quality/history")).toSorted()
    : [];

/** A log in short: `start 1`, `end 1`, `error 2`, `run_end success`. */
export const inShort = (lines: readonly Line[]): readonly string[] =>
  lines.flatMap((line) => {
    const { event } = line;
    if (event === "phase_start") return [`start ${String(line["phase"])}`];
    if (event === "phase_end") return [`end ${String(line["phase"])}`];
    if (event === "error") {
      return [
        `error ${typeof line["phase"] === "number" ? line["phase"] : "-"} ${line["recoverable"] === true ? "recoverable" : "final"}`,
      ];
    }

    if (event === "run_end") return [`run_end ${String(line["status"])}`];
    return ["_index", "run_start", "documentation_state", "aborted_missing_docs"].includes(event)
      ? [event]
      : [];
  });
