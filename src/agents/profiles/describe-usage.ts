// describe-usage: describes in words what usage an agent reports, for `agents` and `doctor`.

import type { AgentProfile, UsageMeaning } from "./profile.ts";

const meanings: Readonly<Record<UsageMeaning, string>> = {
  turn: "the tokens of each turn",
  lastCall: "the tokens of a turn's last model call only",
  cumulative: "the tokens of its session so far",
  quotaMeta: "the tokens of each turn, beside its answer",
  chunkMeta: "the tokens of each model call",
  none: "no tokens",
};

export const describeUsage = ({
  usage,
  reportsCost,
}: Pick<AgentProfile, "usage" | "reportsCost">): string =>
  `${meanings[usage]}${reportsCost ? " and its session's cost" : ""}`;
