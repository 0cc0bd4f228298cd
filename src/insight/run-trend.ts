// run-trend: the runs of a flow side by side, and what changed between each and the one before: flow, prompts, agents, models.
// A figure that moved without a change is noise until shown otherwise; one that moved with a change may be because of it.

import { rounded } from "./metrics.ts";

/** Two runs with the same values are the same experiment. */
export type RunMake = {
  readonly flow: string;
  readonly flow_hash: string;
  /** Hashes by the prompt's name. */
  readonly prompts: Readonly<Record<string, string>>;
  /** By role. */
  readonly agents: Readonly<Record<string, string>>;
  readonly models: Readonly<Record<string, string>>;
};

export type RunPoint = RunMake & {
  readonly run: string;
  readonly at: string;
  readonly verdict: string | null;
  readonly isDone: boolean;
  readonly tokens: number;
  readonly usd: number;
  readonly minutes: number;
};

export type TrendRow = RunPoint & {
  /** Against the run before; empty for the first. */
  readonly changed: readonly string[];
};

type Spread = { readonly min: number; readonly max: number; readonly avg: number };
export type RunTrend = {
  readonly rows: readonly TrendRow[];
  /** The newest run against the one before; null if there is only one. */
  readonly latest: { readonly tokens: number; readonly usd: number; readonly minutes: number; readonly changed: readonly string[] } | null;
  readonly historical: {
    readonly total_runs: number;
    readonly success_rate: number | null;
    readonly tokens: Spread | null;
    readonly usd: Spread | null;
    readonly minutes: Spread | null;
  };
};

/** `runs` of one flow, oldest first. */
export function buildRunTrend(runs: readonly RunPoint[]): RunTrend {
  const rows = runs.map((run, index) => ({ ...run, changed: changedBetween(runs[index - 1] ?? null, run) }));
  const [before, now] = rows.slice(-2);
  const spread = (of: (run: RunPoint) => number): Spread | null => spreadOf(runs.map(of));
  return {
    rows,
    latest:
      before === undefined || now === undefined
        ? null
        : {
            tokens: now.tokens - before.tokens,
            usd: rounded(now.usd - before.usd),
            minutes: rounded(now.minutes - before.minutes),
            changed: now.changed,
          },
    historical: {
      total_runs: runs.length,
      success_rate: runs.length === 0 ? null : rounded(runs.filter(({ isDone }) => isDone).length / runs.length),
      tokens: spread(({ tokens }) => tokens),
      usd: spread(({ usd }) => usd),
      minutes: spread(({ minutes }) => minutes),
    },
  };
}

/** In words, the flow itself last: its hash changes with every prompt, so it is named only if no prompt explains it. */
export function changedBetween(previousRunMake: RunMake | null, now: RunMake): readonly string[] {
  if (previousRunMake === null) return [];
  const prompts = recordKeys(previousRunMake.prompts, now.prompts).filter((name) => previousRunMake.prompts[name] !== now.prompts[name]);
  return [
    ...differences("agent", previousRunMake.agents, now.agents),
    ...differences("model", previousRunMake.models, now.models),
    ...prompts.map((name) => `prompt ${name}`),
    ...(previousRunMake.flow_hash !== now.flow_hash && prompts.length === 0 ? ["flow"] : []),
  ];
}

/** `agent codex, was claude`; by role only if roles differ. */
function differences(what: string, before: Readonly<Record<string, string>>, now: Readonly<Record<string, string>>): readonly string[] {
  const roles = recordKeys(before, now).filter((role) => before[role] !== now[role]);
  const words = roles.map((role) => `${now[role] ?? "as it comes"}, was ${before[role] ?? "as it comes"}`);
  const [first] = words;
  if (first === undefined) return [];
  const isWhole = roles.length === recordKeys(before, now).length && new Set(words).size === 1;
  return isWhole ? [`${what} ${first}`] : roles.map((role, index) => `${what} of ${role}: ${words[index] ?? ""}`);
}

const recordKeys = (...records: readonly Readonly<Record<string, unknown>>[]): readonly string[] => [
  ...new Set(records.flatMap((record) => Object.keys(record)).toSorted()),
];

function spreadOf(values: readonly number[]): Spread | null {
  if (values.length === 0) return null;
  return {
    min: Math.min(...values),
    max: Math.max(...values),
    avg: rounded(values.reduce((sum, value) => sum + value, 0) / values.length),
  };
}
