// called-flows: loads the flows that a flow calls, directly or indirectly.

import type { Flow } from "../../contracts/flow.ts";
import type { LintRegistry } from "../../flows/lint-subject.ts";
import { listAllSteps } from "../../flows/step-lists.ts";
import { loadFlow, listFlowNames, type LoadedFlow } from "../../flows/load.ts";
import { lintRegistry } from "../../playbooks/registry/registry.ts";

const listCalledNames = (flow: Flow): readonly string[] =>
  listAllSteps(flow).flatMap(({ step }) => step.flow ?? []);

export const callsFlows = (flow: Flow): boolean => listCalledNames(flow).length > 0;

/** Loads every flow that one calls, directly or indirectly, each once. */
export async function loadCalledFlows(
  flow: Flow,
  load: (name: string) => Promise<LoadedFlow>,
): Promise<readonly LoadedFlow[]> {
  const loadedFlows: LoadedFlow[] = [];
  const visited = new Set([flow.flow]);
  const names = [...listCalledNames(flow)];
  for (const name of names) {
    if (visited.has(name)) continue;
    visited.add(name);
    const loaded = await load(name);
    loadedFlows.push(loaded);
    names.push(...listCalledNames(loaded.flow));
  }

  return loadedFlows;
}

/**
 * Builds the registry of names that lint accepts in a flow; other flows are read only if it calls
 * one.
 */
export async function buildLintRegistry(root: string, flow: Flow): Promise<LintRegistry> {
  if (!callsFlows(flow)) return lintRegistry;
  const flows: Record<string, Flow | null> = {};

  for (const name of await listFlowNames(root)) {
    const loaded = await loadFlow(root, name);
    if (loaded.kind !== "missing") flows[name] = loaded.kind === "loaded" ? loaded.flow : null;
  }

  return { ...lintRegistry, flows };
}
