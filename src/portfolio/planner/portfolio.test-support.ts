// portfolio: a portfolio that tests write by hand.

import type {
  PortfolioChange,
  PortfolioEntry,
  ProjectFields,
  TaskFields,
} from "../../contracts/portfolio/portfolio-journal.ts";
import { formatIsoTime } from "../../kit/iso-time.ts";
import { reduce } from "./reduce.ts";
import { createEmptyPortfolio, type Portfolio } from "./state.ts";

const begun = 1_767_225_600_000;
export const project = (changes: Partial<ProjectFields> = {}): ProjectFields => ({
  name: "shop",
  objective: "sell",
  repository: "repo",
  target: "main",
  priority: 3,
  slots: 99,
  budget: {},
  accept_unproved: false,
  paused: false,
  ...changes,
});
export const task = (changes: Partial<TaskFields> = {}): TaskFields => ({
  objective: "do it",
  acceptance_criteria: [{ text: "it is done", command: "true" }],
  dependencies: [],
  touches: [],
  priority: 3,
  budget: {},
  agent: null,
  flow: null,
  isolation: null,
  ...changes,
});

export type Written = {
  readonly state: Portfolio;
  readonly entries: PortfolioEntry[];
  readonly write: (...changes: readonly Said[]) => void;
};
type Said = PortfolioChange extends infer Change
  ? Change extends PortfolioChange
    ? Omit<Change, "actor" | "reason_code"> & { readonly actor?: string }
    : never
  : never;

export function written(...changes: readonly Said[]): Written {
  const entries: PortfolioEntry[] = [];
  const state = createEmptyPortfolio();

  const write = (...more: readonly Said[]): void => {
    for (const change of more) {
      const entry = {
        actor: "operator:kim",
        reason_code: "ok",
        ...change,
        seq: entries.length + 1,
        ts: formatIsoTime(begun + entries.length * 1000),
      } as PortfolioEntry;
      entries.push(entry);
      reduce(state, entry);
    }
  };
  write({ event: "portfolio_created", name: "test", budget: {}, day_budget: {} }, ...changes);
  return { state, entries, write };
}

export const dispatched = (task_id: string, n: number): Said => ({
  event: "task_dispatched",
  task_id,
  run_id: `run-2026-01-01-${String(n).padStart(6, "0")}`,
  event_nonce: `n${n}`,
  worker_backend: "acp",
  worker_agent_id: "codex",
  worker_session_key: "s",
  base: "0".repeat(40),
  copy: "c",
});
