// replay-page: renders a step as it was recorded beside the step as it was replayed.

import type { AttemptFacts } from "../../insight/attempt-facts.ts";
import { compareProof } from "../../insight/attempt-facts.ts";
import { alignColumns } from "../align-columns.ts";
import {
  formatAmount,
  describeAttempt,
  formatNumber,
  firstFew,
  formatMoney,
  oneLine,
} from "../wording.ts";

const cellCharsMax = 23;
const commandCharsMax = 18;
const checksMax = 6;
const saidCharsMax = 120;

export type ReplayView = {
  readonly attempt: string;
  readonly run: string;
  readonly commit: string;
  readonly recorded: AttemptFacts;
  readonly replayed: AttemptFacts;
  /** Overrides that the fork was given. */
  readonly changed: readonly string[];
};

export function replayPage(view: ReplayView): readonly string[] {
  const { attempt, run, commit, recorded, replayed, changed } = view;
  const withChanges = changed.length === 0 ? "" : ` with ${changed.join(", ")}`;
  const isSameTree = recorded.tree === replayed.tree && recorded.tree !== null;
  const comparison =
    recorded.outcome === "unfinished"
      ? unfinishedSentence
      : comparisonSentences[compareProof(recorded, replayed)];

  return [
    `${describeAttempt(attempt)} of ${run}, again from ${commit.slice(0, 10)}${withChanges}`,
    "",
    ...alignColumns(comparisonRows(view)),
    "",
    ...workLines("recorded", recorded),
    ...workLines("replayed", replayed, isSameTree ? " (the same content)" : ""),
    "",
    `${comparison} One replay is one sample: autopilot calibrate measures over many.`,
  ];
}

function comparisonRows({ recorded, replayed }: ReplayView): readonly (readonly string[])[] {
  const row = (
    name: string,
    cellOf: (facts: AttemptFacts) => string,
    change = "",
  ): readonly string[] => [
    name,
    oneLine(cellOf(recorded), cellCharsMax),
    oneLine(cellOf(replayed), cellCharsMax),
    change,
  ];

  const tokensChange = describeChange(recorded.tokens, replayed.tokens);
  const costChange = describeChange(recorded.usd, replayed.usd);
  const timeChange = describeChange(recorded.minutes, replayed.minutes);

  const commands = listCommands(recorded, replayed);
  const checkRows = commands
    .slice(0, checksMax)
    .map((command) => row(`  ${oneLine(command, commandCharsMax)}`, statusOf(command)));
  const hiddenCount = commands.length - checksMax;
  if (hiddenCount > 0) checkRows.push([`  … ${formatNumber(hiddenCount)} more`, "", "", ""]);

  return [
    ["", "RECORDED", "REPLAYED", ""],
    row("agent", ({ agent }) => agent ?? "-"),
    row("outcome", describeOutcome),
    ...checkRows,
    row("tokens", ({ tokens }) => formatNumber(tokens), tokensChange),
    row("cost", ({ usd }) => formatMoney(usd), costChange),
    row("time", ({ minutes }) => formatAmount("minutes", minutes), timeChange),
  ];
}

/** The commands of the checks in either, each once. */
function listCommands(recorded: AttemptFacts, replayed: AttemptFacts): readonly string[] {
  const checks = [...recorded.checks, ...replayed.checks];
  return [...new Set(checks.map(({ command }) => command))];
}

const statusOf =
  (command: string) =>
  ({ checks }: AttemptFacts): string =>
    checks.find((check) => check.command === command)?.status ?? "not run";

const unfinishedSentence =
  "! The recorded attempt never ended, so there is nothing to rank the replay against.";
const comparisonSentences = {
  better: "✓ The replay proved more than the recorded attempt.",
  worse: "✗ The replay proved less than the recorded attempt.",
  same: "· Both proved the same.",
  none: "! No check was run in either, so neither proved anything.",
  unclear: "! Different checks were run or pass, so the two can't be ranked.",
} as const;

/** On lines of their own: paths and summaries are too long for a column. */
function workLines(name: string, { paths, said }: AttemptFacts, more = ""): readonly string[] {
  const pathsText = paths.length === 0 ? "nothing" : firstFew(paths, 3);
  const line = `  ${name}  changed ${pathsText}${more}`;
  if (said === null || said === "") return [line];
  return [line, `            “${oneLine(said, saidCharsMax)}”`];
}

const describeOutcome = ({ outcome, reason }: AttemptFacts): string =>
  outcome === "passed" || reason === null ? outcome : `${outcome}: ${reason.replaceAll("_", " ")}`;

/** `+12 %`, `−3 %`; empty if nothing changed, or there is nothing to compare with. */
function describeChange(before: number, now: number): string {
  if (before === 0 || before === now) return "";
  const points = Math.round(((now - before) / before) * 100);
  if (points === 0) return "";

  return `${points > 0 ? "+" : "−"}${formatNumber(Math.abs(points))} %`;
}
