// dependency-cycles: finds tasks that would depend on themselves, among new tasks and those there.

import type { PortfolioChange } from "../../contracts/portfolio/portfolio-journal.ts";
import { findCycles } from "../../documents/graph.ts";
import type { PortfolioView } from "./state.ts";

/**
 * Cycles of dependencies among new tasks, by their ids, in the order of the list: one for each
 * group of tasks that depend on each other.
 */
export function findNewCycles(changes: readonly PortfolioChange[]): readonly (readonly string[])[] {
  const created = changes.filter((change) => change.event === "task_created");
  const nodes = created.map(({ task_id, fields }) => ({ id: task_id, after: fields.dependencies }));

  const order = new Map(nodes.map(({ id }, index) => [id, index]));
  const compare = (a: string, b: string): number => (order.get(a) ?? 0) - (order.get(b) ?? 0);

  const cycles = findCycles(nodes, compare);
  return cycles.toSorted(([a = ""], [b = ""]) => compare(a, b));
}

/** Why an existing task may not depend on these: it would depend on itself. Null if it may. */
export function whyCyclic(
  state: PortfolioView,
  task_id: string,
  dependencies: readonly string[],
): string | null {
  const visited = new Set<string>();
  const toVisit = [...dependencies];

  for (let id = toVisit.pop(); id !== undefined; id = toVisit.pop()) {
    if (id === task_id) return `${task_id} would depend on itself`;
    if (visited.has(id)) continue;

    visited.add(id);
    toVisit.push(...(state.tasks[id]?.dependencies ?? []));
  }

  return null;
}
