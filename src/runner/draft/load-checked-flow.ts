// load-checked-flow: loads a flow and checks it before it runs.

import { exploreFlow } from "../../engine/explore.ts";
import { lintFlow } from "../../flows/lint.ts";
import { listAllSteps } from "../../flows/step-lists.ts";
import { loadFlow, type LoadedFlow } from "../../flows/load.ts";
import type { Finding } from "../../kit/finding.ts";
import { callsFlows, buildLintRegistry } from "./called-flows.ts";
import { findProject } from "../../project/runs/project-paths.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { refuse } from "../../project/respond.ts";

export const findProjectRoot = (context: CommandContext): string =>
  findProject(context.cwd)?.root ?? context.cwd;

export const formatFinding = ({ file, line, message, rule }: Finding): string =>
  `${file}:${line}: ${message} (${rule})`;

/**
 * Loads a flow that may run: well-formed, without findings of lint or of exploring its paths.
 * Refuses any other.
 */
export async function loadCheckedFlow(context: CommandContext, name: string): Promise<LoadedFlow> {
  const loaded = await loadFlow(findProjectRoot(context), name);
  if (loaded.kind === "missing") return refuse("flow_missing", { message: loaded.message });
  const { findings } = loaded.kind === "invalid" ? loaded : await checkFlow(context, loaded);
  if (loaded.kind === "invalid" || findings.length > 0) {
    return refuse("flow_invalid", {
      message: `Flow ${name} cannot run: ${findings.map(formatFinding).join("; ")}`,
      data: { findings },
    });
  }

  return loaded;
}

/**
 * Lints a flow, then explores its paths. `states`: how many were explored; null if none. `gaveUp`:
 * there are more. A built-in flow is linted and explored by the tests; only what it calls may be
 * the user's own.
 */
export async function checkFlow(
  context: CommandContext,
  loaded: LoadedFlow,
): Promise<{
  readonly findings: readonly Finding[];
  readonly states: number | null;
  readonly gaveUp: boolean;
}> {
  const isBuiltIn = loaded.source.startsWith("built-in:");
  if (isBuiltIn && !callsFlows(loaded.flow)) return { findings: [], states: null, gaveUp: false };
  const registry = await buildLintRegistry(findProjectRoot(context), loaded.flow);
  const errors = lintFlow({ ...loaded, registry }).filter(({ severity }) => severity === "error");
  if (errors.length > 0 || isBuiltIn) return { findings: errors, states: null, gaveUp: false };
  const explored = exploreFlow(loaded.flow);

  const findings = explored.findings.map(({ phase, step, message }) => {
    const located = listAllSteps(loaded.flow).find(({ step: item }) => item.id === step);
    const position =
      located === undefined ? { line: 1, column: 1 } : loaded.positions.placeOf(located.path);
    return {
      file: loaded.source,
      ...position,
      path: step === null ? phase : `${phase}/${step}`,
      rule: "explore",
      message,
      severity: "error" as const,
    };
  });

  return { findings, states: explored.states, gaveUp: explored.gaveUp };
}
