// fork-origin: says where a forked run comes from and what is different in it, for every screen that
// shows a run.

import type { Forked } from "../../contracts/run-parts.ts";
import type { RunView } from "../../core/state.ts";
import { formatAmount, formatNumber, formatMoney, oneLine } from "../wording.ts";

export type OriginView = {
  readonly run: string;
  readonly at: number;
  /** Overrides that the fork was given: agents by role, prompts, limits. */
  readonly changed: readonly string[];
  /** Cost of the part that the fork took over from that run. */
  readonly taken: {
    readonly tokens: number;
    readonly calls: number;
    readonly minutes: number;
    readonly usd: number;
  };
};

/** Null for a run that is not a fork. */
export function findForkOrigin({ origins }: Pick<RunView, "origins">): OriginView | null {
  const origin = origins?.at(-1);
  if (origin === undefined) return null;
  return {
    run: origin.run,
    at: origin.at,
    changed: listForkChanges(origin),
    taken: { ...origin.taken },
  };
}

/** One line: the run, the line, what is different, what had been paid there. */
export function describeOrigin({ run, at, changed, taken }: OriginView): string {
  const price = taken.usd > 0 ? ` and ${formatMoney(taken.usd)}` : "";
  const paid = `${formatAmount("tokens", taken.tokens)}${price} paid there, not here`;
  return [
    `${run} after line ${formatNumber(at)}`,
    ...(changed.length === 0 ? [] : [changed.join(", ")]),
    paid,
  ].join("; ");
}

type ForkOverrides = {
  readonly cast?:
    | Readonly<
        Record<
          string,
          {
            readonly agent: string;
            readonly override?: { readonly model?: string | undefined } | undefined;
          }
        >
      >
    | undefined;
  readonly prompts?: Forked["prompts"];
  readonly limits?:
    | {
        readonly run?: Readonly<Record<string, number>> | undefined;
        readonly phase?: Readonly<Record<string, number>> | undefined;
      }
    | undefined;
};

export const describeForkChanges = (forked: ForkOverrides): string => {
  const changed = listForkChanges(forked);
  return changed.length === 0 ? "" : ` with ${changed.join(", ")}`;
};

/** `agent codex (gpt-5)`, `prompt plan.md`, `limit phase.tokens=300,000`. */
export function listForkChanges({ cast, prompts, limits }: ForkOverrides): readonly string[] {
  const agentLabel = (agent: string, model: string | undefined): string =>
    `agent ${oneLine(agent)}${model === undefined ? "" : ` (${oneLine(model)})`}`;
  const agents = [
    ...new Set(
      Object.values(cast ?? {}).map(({ agent, override }) => agentLabel(agent, override?.model)),
    ),
  ];

  const describeLimits = (
    scope: string,
    values: Readonly<Record<string, number>> | undefined,
  ): readonly string[] =>
    Object.entries(values ?? {}).map(
      ([name, to]) => `limit ${scope}${oneLine(name)}=${formatNumber(to)}`,
    );

  return [
    ...agents,
    ...Object.keys(prompts ?? {}).map((name) => `prompt ${oneLine(name)}`),
    ...describeLimits("", limits?.run),
    ...describeLimits("phase.", limits?.phase),
  ];
}
