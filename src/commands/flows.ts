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
    const flows = await Promise.all(
      (await listFlowNames(findProjectRoot(context))).map(async (name) => {
        const loaded = await loadFlow(findProjectRoot(context), name);
        return {
          name,
          about:
            loaded.kind === "loaded"
              ? (loaded.flow.about ?? "")
              : `cannot be read; autopilot flow lint ${name} says why`,
          source: loaded.kind === "missing" ? "" : loaded.source,
        };
      }),
    );

    return respond("ok", {
      message: `${flows.length} flows.`,
      page: flows.map(({ name, about, source }) => `${name.padEnd(16)} ${about}  (${source})`),
      data: { flows },
    });
  });
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
      const loaded = await loadFlow(findProjectRoot(context), name);
      if (loaded.kind === "missing") return refuse("flow_missing", { message: loaded.message });
      if (loaded.kind === "invalid") {
        findings.push(...loaded.findings);
        continue;
      }

      const { findings: errors, states, gaveUp } = await checkFlow(context, loaded);
      findings.push(...errors);
      warnings.push(...(await findWarnings(context, loaded)));

      if (gaveUp) {
        warnings.push(
          `${name} has more paths than are walked: those beyond the limit may still be wrong.`,
        );
      }

      if (errors.length === 0) {
        explored.push(
          states === null
            ? `${name}: built in, walked when it was built`
            : `${name}: ${states} states walked`,
        );
      }
    }

    const page = [...findings.map(formatFinding), ...explored];
    if (findings.length > 0) {
      const message =
        findings.length === 1 ? "1 thing is wrong." : `${findings.length} things are wrong.`;
      const remediation = [
        "fix the lines named above, then lint again",
        "autopilot help flow lint",
      ];

      return respond("flow_invalid", { message, page, warnings, remediation, data: { findings } });
    }

    const message =
      names.length === 1 ? `Flow ${names[0]} is fine.` : `${names.length} flows are fine.`;
    return respond("ok", { message, page: [...page, message], warnings, data: { findings: [] } });
  });
}

/** Lint warnings: they don't prevent running the flow. */
const findWarnings = async (
  context: CommandContext,
  loaded: LoadedFlow,
): Promise<readonly string[]> =>
  lintFlow({ ...loaded, registry: await buildLintRegistry(findProjectRoot(context), loaded.flow) })
    .filter(({ severity }) => severity === "warning")
    .map(formatFinding);
