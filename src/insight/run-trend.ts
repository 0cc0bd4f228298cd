// run-trend: compares the runs of a flow: their figures, and what changed between each and the one
// before: flow, prompts, agents, models. A figure that moved without a change is probably noise;
// one that moved with a change may be because of it.

import { roundToHundredths } from "./metrics.ts";

/** Two runs with the same values are the same experiment. */
export type RunSetup = {
  readonly flow: string;
  readonly flow_hash: string;
  /** Hashes by the prompt's name. */
  readonly prompts: Readonly<Record<string, string>>;
  /** By role. */
  readonly agents: Readonly<Record<string, string>>;
  readonly models: Readonly<Record<string, string>>;
};

export type RunPoint = RunSetup & {
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
  readonly latest: {
    readonly tokens: number;
    readonly usd: number;
    readonly minutes: number;
    readonly changed: readonly string[];
  } | null;
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
  const rows = runs.map((run, index) => ({
    ...run,
    changed: describeChanges(runs[index - 1] ?? null, run),
  }));
  const [previous, current] = rows.slice(-2);
  const spread = (select: (run: RunPoint) => number): Spread | null =>
    computeSpread(runs.map(select));

  return {
    rows,
    latest:
      previous === undefined || current === undefined
        ? null
        : {
            tokens: current.tokens - previous.tokens,
            usd: roundToHundredths(current.usd - previous.usd),
            minutes: roundToHundredths(current.minutes - previous.minutes),
            changed: current.changed,
          },
    historical: {
      total_runs: runs.length,
      success_rate:
        runs.length === 0
          ? null
          : roundToHundredths(runs.filter(({ isDone }) => isDone).length / runs.length),
      tokens: spread(({ tokens }) => tokens),
      usd: spread(({ usd }) => usd),
      minutes: spread(({ minutes }) => minutes),
    },
  };
}

/**
 * As text. The flow itself is last: its hash changes with every prompt, so it is named only if no
 * prompt changed.
 */
export function describeChanges(before: RunSetup | null, now: RunSetup): readonly string[] {
  if (before === null) return [];
  const prompts = listKeys(before.prompts, now.prompts).filter(
    (name) => before.prompts[name] !== now.prompts[name],
  );
  return [
    ...describeDifferences("agent", before.agents, now.agents),
    ...describeDifferences("model", before.models, now.models),
    ...prompts.map((name) => `prompt ${name}`),
    ...(before.flow_hash !== now.flow_hash && prompts.length === 0 ? ["flow"] : []),
  ];
}

/** `agent codex, was claude`; by role only if roles differ. */
function describeDifferences(
  subject: string,
  before: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): readonly string[] {
  const roles = listKeys(before, now).filter((role) => before[role] !== now[role]);
  const changes = roles.map(
    (role) => `${now[role] ?? "default"}, was ${before[role] ?? "default"}`,
  );
  const [first] = changes;
  if (first === undefined) return [];
  const isWhole = roles.length === listKeys(before, now).length && new Set(changes).size === 1;

  return isWhole
    ? [`${subject} ${first}`]
    : roles.map((role, index) => `${subject} of ${role}: ${changes[index] ?? ""}`);
}

const listKeys = (...records: readonly Readonly<Record<string, unknown>>[]): readonly string[] => [
  ...new Set(records.flatMap((record) => Object.keys(record)).toSorted()),
];

function computeSpread(values: readonly number[]): Spread | null {
  if (values.length === 0) return null;
  return {
    min: Math.min(...values),
    max: Math.max(...values),
    avg: roundToHundredths(values.reduce((sum, value) => sum + value, 0) / values.length),
  };
}
