// pull-request-body: renders the title and text of a pull request from a run's report: the goal,
// the proof, its gaps, how to check it again.
//
// Invariants:
//   B1. Text of people, agents and checks is in code, where a code host reads no markup, no mention
//       and no `fixes #1`. A title has no code: what a host would read in it as a reference, a
//       mention or a draft is broken up.
//   B2. What the runner proved and what is open are separate sections, and the verdict is the first
//       line.

import { couldNotRun } from "../../contracts/evidence.ts";
import type { Verdict } from "../../contracts/objective.ts";
import { isSecretFromAgent } from "../../contracts/secret-checks.ts";
import { visible } from "../../kit/visible.ts";
import type { ReportedCheck, ReportView } from "../report.ts";
import { describeProof } from "../sentences/verdict-sentences.ts";
import { formatAmount, formatNumber, formatMoney, oneLine, plural } from "../wording.ts";

const titleCharsMax = 100;
const bodyCharsMax = 60_000;
const checksMax = 40;
const criteriaMax = 40;
const lookMax = 20;
const goalCharsMax = 4_000;
const commandCharsMax = 2_000;
const codeCharsMax = 1_000;

/** `#12`, `@kim`, `!7`, `GH-12`, `issues/12`. */
const reference =
  /([#@!])(?=\w)|\b(GH-)(?=\d)|\b((?:issues|pull|merge_requests|work_items)\/)(?=\d)/gi;
/** `[WIP]`, `(draft)`, `Draft:`: a host would open the pull request as a draft. */
const draftPrefix = /^(?:\[(?:draft|wip)\]|\((?:draft|wip)\)|(?:draft|wip):)/i;

export const pullRequestTitle = ({ goal }: Pick<ReportView, "goal">): string =>
  oneLine(goal.split("\n", 1)[0] ?? goal, titleCharsMax)
    .replaceAll(reference, "$1$2$3 ")
    .replace(draftPrefix, '"$&"'); // B1

export function pullRequestBody(view: ReportView, commit: string): string {
  const { verdict, gaps } = view.judgement;
  const lookLines = [
    ...view.look_at
      .slice(0, lookMax)
      .map(({ path, what }) => `- ${asCode(path)}: ${asCode(`it ${what}`)}`),
    ...(view.look_at.length > lookMax
      ? [`- and ${formatNumber(view.look_at.length - lookMax)} more`]
      : []),
  ];

  const sections = [
    [`**${verdictHeadings[verdict]}** ${asCode(describeProof(verdict, gaps))}`], // B2
    ["## Asked", asCodeBlock(view.goal.slice(0, goalCharsMax)), ...criteriaLines(view)],
    [
      "## Proof",
      `What autopilot ran itself, in a clean checkout of ${asCode(commit)}:`,
      "",
      ...checkLines(view.evidence),
    ],
    ...(gaps.length === 0 ? [] : [["## Not proved", ...gaps.map((gap) => `- ${asCode(gap)}`)]]),
    ...(lookLines.length === 0 ? [] : [["## Look at", ...lookLines]]),
    ["## Check it again", ...recheckLines(view)],
    ["---", footer(view)],
  ];
  const body = sections.map((lines) => lines.join("\n")).join("\n\n");
  return body.length <= bodyCharsMax
    ? body
    : `${body.slice(0, body.lastIndexOf("\n", bodyCharsMax))}\n\n(cut: the whole is in the run's report)`;
}

const verdictHeadings: Readonly<Record<Verdict, string>> = {
  verified: "Verified.",
  verified_with_gaps: "Verified with gaps.",
  unverified: "Not verified.",
  refuted: "Refuted.",
};

function criteriaLines({ criteria }: ReportView): readonly string[] {
  if (criteria.length === 0) return [];
  const lines = criteria
    .slice(0, criteriaMax)
    .map(({ text, proved }) => `- ${proved ? "proved" : "**not proved**"}: ${asCode(text)}`);

  const moreLines =
    criteria.length > criteriaMax
      ? [`- and ${formatNumber(criteria.length - criteriaMax)} more`]
      : [];
  return ["", ...lines, ...moreLines];
}

function checkLines(evidence: readonly ReportedCheck[]): readonly string[] {
  if (evidence.length === 0) return ["No check was run."];
  const rows = evidence.slice(0, checksMax).map(({ command, kind, before, status }) => {
    const name = isSecretFromAgent({ kind })
      ? "(a check the agent was not told about)"
      : asCode(command);
    return `| ${escapeCell(name)} | ${before.replace("_", " ")} | ${couldNotRun({ status }) ? "could not run" : status.replace("_", " ")} |`;
  });

  const moreLines =
    evidence.length > checksMax
      ? ["", `And ${formatNumber(evidence.length - checksMax)} more.`]
      : [];
  return ["| check | before | now |", "|---|---|---|", ...rows, ...moreLines];
}

function recheckLines({ run_id, evidence }: ReportView): readonly string[] {
  const commands = [
    ...new Set(evidence.filter((check) => !isSecretFromAgent(check)).map(({ command }) => command)),
  ].slice(0, checksMax);
  return [
    ...(commands.length === 0
      ? []
      : [asCodeBlock(commands.map((command) => oneLine(command, commandCharsMax)).join("\n")), ""]),
    `Where the run lies, \`autopilot verify --run ${run_id}\` runs all of it again and compares.`,
  ];
}

function footer({ run_id, changes, cost }: ReportView): string {
  const work = `${plural(changes.files, "file")} in ${plural(changes.commits.length, "commit")}`;
  const usage = [
    formatAmount("tokens", cost.tokens),
    formatAmount("minutes", cost.minutes),
    formatMoney(cost.usd),
  ].join(", ");

  return `Made by autopilot in \`${run_id}\`: ${work}, ${usage}.`;
}

/** The longest run of backticks in a text. */
const countLongestTicks = (text: string): number =>
  Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));

/** One line as code. B1 */
function asCode(text: string): string {
  const line = oneLine(text, codeCharsMax);
  const ticks = "`".repeat(countLongestTicks(line) + 1);
  return line === "" ? "" : `${ticks} ${line} ${ticks}`;
}

/** Several lines as code, in a fence longer than any inside. B1 */
function asCodeBlock(text: string): string {
  const lines = text.split(/\r?\n/).map((line) => visible(line));
  const ticks = "`".repeat(Math.max(3, countLongestTicks(text) + 1));
  return [`${ticks}text`, ...lines, ticks].join("\n");
}

/** A bar would end the cell of a table, in code too. */
const escapeCell = (text: string): string => text.replaceAll("|", "\\|");
