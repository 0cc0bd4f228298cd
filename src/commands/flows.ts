// flows: `autopilot flow`: lists flows, shows one, lints one.

import { stringify } from "yaml";
import type { CommandResponse } from "../contracts/command-response.ts";
import { lintFlow } from "../flows/lint.ts";
import { loadFlow, type LoadedFlow, listFlowNames } from "../flows/load.ts";
import type { Finding } from "../kit/finding.ts";
import type { CommandContext } from "../project/command-context.ts";
import { catchRefusals, refuse, respond } from "../project/respond.ts";
import { buildLintRegistry } from "../runner/draft/called-flows.ts";
import {
  formatFinding,
  loadCheckedFlow,
  findProjectRoot,
  checkFlow,
} from "../runner/draft/load-checked-flow.ts";

/** Lists every flow that can be run here. */
export function listFlows(context: CommandContext, _input: object): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const root = findProjectRoot(context);
    const names = await listFlowNames(root);
    const flows = await Promise.all(names.map((name) => describeFlow(root, name)));

    return respond("ok", {
      message: `${flows.length} flows.`,
      page: flows.map(({ name, about, source }) => `${name.padEnd(16)} ${about}  (${source})`),
      data: { flows },
    });
  });
}

async function describeFlow(root: ReturnType<typeof findProjectRoot>, name: string) {
  const loaded = await loadFlow(root, name);
  if (loaded.kind === "loaded") {
    return { name, about: loaded.flow.about ?? "", source: loaded.source };
  }

  const about = `cannot be read; autopilot flow lint ${name} says why`;
  return { name, about, source: loaded.kind === "missing" ? "" : loaded.source };
}

/** Shows a flow as it is loaded: its YAML, and with `--json` its prompts too. */
export function showFlow(
  context: CommandContext,
  input: { readonly name?: string | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const { flow, prompts, hash, source } = await loadCheckedFlow(
      context,
      input.name ?? "objective",
    );

    return respond("ok", {
      message: `Flow ${flow.flow}.`,
      page: [`# ${source}`, ...stringify(flow).split("\n")],
      data: { flow, prompts, hash, source },
    });
  });
}

/**
 * Reports everything wrong with one flow or all, by file and line; a sound flow of the user's has
 * its paths explored, up to a limit.
 */
export function lintFlows(
  context: CommandContext,
  input: { readonly name?: string | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const names =
      input.name === undefined ? await listFlowNames(findProjectRoot(context)) : [input.name];
    const findings: Finding[] = [];
    const warnings: string[] = [];
    const explored: string[] = [];

    for (const name of names) {
      const lint = await lintOne(context, name);
      findings.push(...lint.findings);
      warnings.push(...lint.warnings);
      if (lint.explored !== null) explored.push(lint.explored);
    }

    const page = [...findings.map(formatFinding), ...explored];
    if (findings.length > 0) {
      return respond("flow_invalid", {
        message:
          findings.length === 1 ? "1 thing is wrong." : `${findings.length} things are wrong.`,
        page,
        warnings,
        remediation: ["fix the lines named above, then lint again", "autopilot help flow lint"],
        data: { findings },
      });
    }

    const message =
      names.length === 1 ? `Flow ${names[0]} is fine.` : `${names.length} flows are fine.`;
    return respond("ok", { message, page: [...page, message], warnings, data: { findings: [] } });
  });
}

/** `explored`: how much of the flow was walked; null if it is wrong. */
type FlowLint = {
  readonly findings: readonly Finding[];
  readonly warnings: readonly string[];
  readonly explored: string | null;
};

async function lintOne(context: CommandContext, name: string): Promise<FlowLint> {
  const loaded = await loadFlow(findProjectRoot(context), name);
  if (loaded.kind === "missing") return refuse("flow_missing", { message: loaded.message });
  if (loaded.kind === "invalid") {
    return { findings: loaded.findings, warnings: [], explored: null };
  }

  const { findings, states, gaveUp } = await checkFlow(context, loaded);
  const warnings = await findWarnings(context, loaded);
  if (gaveUp) {
    warnings.push(
      `${name} has more paths than are walked: those beyond the limit may still be wrong.`,
    );
  }

  const walked = states === null ? "built in, walked when it was built" : `${states} states walked`;
  return { findings, warnings, explored: findings.length === 0 ? `${name}: ${walked}` : null };
}

/** Lint warnings: they don't prevent running the flow. */
async function findWarnings(context: CommandContext, loaded: LoadedFlow): Promise<string[]> {
  const registry = await buildLintRegistry(findProjectRoot(context), loaded.flow);
  const findings = lintFlow({ ...loaded, registry });
  const warnings = findings.filter(({ severity }) => severity === "warning");
  return warnings.map(formatFinding);
}
