// planned-portfolios: lists the portfolios of a store and who plans each. In the store a portfolio
// is two rows: its journal, and the lease on planning it.

import type { Holder, StoredRun } from "../ports/run-store.ts";
import { isPlannerKey, plannerKey } from "./shared-mark.ts";

export type PlannedPortfolio = {
  readonly key: string;
  readonly lines: number;
  /** Who plans it; null while nobody does. */
  readonly holder: Holder | null;
  /** Of the lease on planning. */
  readonly epoch: number;
  readonly takeOvers: number;
};

export function listPlannedPortfolios(rows: readonly StoredRun[]): readonly PlannedPortfolio[] {
  const portfolios = rows.filter(({ kind }) => kind === "portfolio");
  const rowsByKey = new Map(portfolios.map((row) => [row.run, row]));
  return portfolios
    .filter(({ run }) => !isPlannerKey(run))
    .map(({ run, seq }) => {
      const planner = rowsByKey.get(plannerKey(run));
      return {
        key: run,
        lines: seq,
        holder: planner?.holder ?? null,
        epoch: planner?.epoch ?? 0,
        takeOvers: planner?.takeOvers ?? 0,
      };
    });
}
