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

export function replayPage({
  attempt,
  run,
  commit,
  recorded,
  replayed,
  changed,
}: ReplayView): readonly string[] {
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

  const commands = [
    ...new Set([...recorded.checks, ...replayed.checks].map(({ command }) => command)),
  ];

  const commandStatus = (command: string) => (facts: AttemptFacts) =>
    facts.checks.find((check) => check.command === command)?.status ?? "not run";
  const comparison =
    recorded.outcome === "unfinished"
      ? unfinishedSentence
      : comparisonSentences[compareProof(recorded, replayed)];

  return [
    `${describeAttempt(attempt)} of ${run}, again from ${commit.slice(0, 10)}${changed.length === 0 ? "" : ` with ${changed.join(", ")}`}`,
    "",
    ...alignColumns([
      ["", "RECORDED", "REPLAYED", ""],
      row("agent", ({ agent }) => agent ?? "-"),
      row("outcome", describeOutcome),
      ...commands
        .slice(0, checksMax)
        .map((command) => row(`  ${oneLine(command, commandCharsMax)}`, commandStatus(command))),
      ...(commands.length > checksMax
        ? [[`  … ${formatNumber(commands.length - checksMax)} more`, "", "", ""]]
        : []),
      row(
        "tokens",
        ({ tokens }) => formatNumber(tokens),
        describeChange(recorded.tokens, replayed.tokens),
      ),
      row("cost", ({ usd }) => formatMoney(usd), describeChange(recorded.usd, replayed.usd)),
      row(
        "time",
        ({ minutes }) => formatAmount("minutes", minutes),
        describeChange(recorded.minutes, replayed.minutes),
      ),
    ]),
    "",
    ...workLines("recorded", recorded),
    ...workLines(
      "replayed",
      replayed,
      recorded.tree === replayed.tree && recorded.tree !== null ? " (the same content)" : "",
    ),
    "",
    `${comparison} One replay is one sample: autopilot calibrate measures over many.`,
  ];
}

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
const workLines = (name: string, { paths, said }: AttemptFacts, more = ""): readonly string[] => [
  `  ${name}  changed ${paths.length === 0 ? "nothing" : firstFew(paths, 3)}${more}`,
  ...(said === null || said === "" ? [] : [`            “${oneLine(said, saidCharsMax)}”`]),
];

const describeOutcome = ({ outcome, reason }: AttemptFacts): string =>
  outcome === "passed" || reason === null ? outcome : `${outcome}: ${reason.replaceAll("_", " ")}`;

/** `+12 %`, `−3 %`; empty if nothing changed, or there is nothing to compare with. */
function describeChange(before: number, now: number): string {
  if (before === 0 || before === now) return "";
  const points = Math.round(((now - before) / before) * 100);
  if (points === 0) return "";

  return `${points > 0 ? "+" : "−"}${formatNumber(Math.abs(points))} %`;
}
