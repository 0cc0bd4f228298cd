// agents: lists every known agent: whether it is installed, how it is isolated, what it reports and
// what is missing.

import { describeUsage } from "../agents/profiles/describe-usage.ts";
import type { CommandResponse } from "../contracts/command-response.ts";
import type { Config } from "../contracts/config.ts";
import {
  type AgentAvailability,
  listAvailability,
  toShownCommand,
  isUsable,
} from "../runner/draft/agent-availability.ts";
import { findProject } from "../project/runs/project-paths.ts";
import {
  type WantedIsolation,
  inspectWantedIsolation,
  describeNetwork,
} from "../runner/inspect-isolation.ts";
import type { CommandContext } from "../project/command-context.ts";
import { product } from "../project/runs/product.ts";
import { catchRefusals, refuse, respond } from "../project/respond.ts";
import { describeInvalidConfig, readSettings } from "../project/config/settings.ts";
import { rehearse } from "./rehearse.ts";

/**
 * Every agent with a profile or a setting: whether it is installed, how it would be isolated, what
 * it reports, what is missing.
 */
export function agents(context: CommandContext, _input: object): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const settings = readSettings(context, findProject(context.cwd)?.root ?? context.cwd);
    if (settings.kind !== "settings") {
      return refuse("config_invalid", describeInvalidConfig(settings.findings));
    }

    const [availability, isolation] = await Promise.all([
      listAvailability(context, settings.config),
      inspectWantedIsolation(settings.isolation),
    ]);
    const usableFirst = availability.toSorted((a, b) => usabilityRank(a) - usabilityRank(b));
    const rows = usableFirst.map((agent) => agentRow(agent, isolation, settings.config));

    const usable = availability.filter(
      (agent) => isUsable(agent) && agent.profile.found !== "embedded",
    );
    const usableNames = usable.map(({ name }) => name).join(", ");
    const message =
      usable.length === 0 ? "No agent can be used here yet." : `${usableNames} can be used here.`;

    return respond("ok", {
      message,
      warnings: settings.warnings,
      page: [...agentLines(rows), "", `Contained by ${isolation.level}: ${isolation.found}.`],
      data: { agents: rows, isolation },
    });
  });
}

/** Runs one harmless turn with an agent and reports the result. */
export function tryAgent(
  context: CommandContext,
  input: { readonly name: string },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    if (input.name === "custom") {
      return refuse("agent_unavailable", {
        message: "custom is a kind of agent: name one from the config instead.",
      });
    }

    return rehearse(context, input.name);
  });
}

/** Usable agents first, then installed ones, then the rest; each in the order of the table. */
function usabilityRank(agent: AgentAvailability): number {
  if (isUsable(agent)) return 0;
  return agent.state === "missing" ? 2 : 1;
}

type Row = ReturnType<typeof agentRow>;

function agentRow(agent: AgentAvailability, isolation: WantedIsolation, config: Config) {
  const { name, profile, state, realPath, version, login, problem, fix } = agent;
  const loginHosts = login.kind === "own" ? login.hosts : [];
  const hosts = [...loginHosts, ...profile.hosts, ...(config.network?.agents ?? [])];
  const usage = describeUsage(profile);

  return {
    name,
    title: profile.title,
    is_installed: state !== "missing",
    is_usable: isUsable(agent),
    version: profile.found === "embedded" ? product.replace(/^\S+ /, "") : version,
    command: toShownCommand(agent),
    program: realPath,
    speaks: profile.protocol,
    containment: {
      level: isolation.level,
      network: describeNetwork(isolation.level, login.kind, hosts),
      hosts,
    },
    login: describeLogin(agent),
    mode: profile.mode,
    usage: profile.usage,
    reports: login.kind === "key" ? `counted by the meter; it reports ${usage}` : usage,
    missing: problem === null ? [] : [problem],
    fix: fix === null ? [] : [fix],
  };
}

/** Which login would be used; never its value. */
function describeLogin({ login }: AgentAvailability): {
  readonly kind: string;
  readonly from: readonly string[];
  readonly words: string;
} {
  switch (login.kind) {
    case "key":
      return {
        kind: "key",
        from: [login.variable],
        words: `key ${login.variable}, through the meter to ${login.upstream.base}`,
      };
    case "own": {
      const from = [...login.files.map(({ path }) => `~/${path}`), ...login.variables];
      return {
        kind: "own",
        from,
        words: `its own login (${from.join(", ")}), past the meter's count`,
      };
    }
    case "none":
      return { kind: "none", from: [], words: "needs none" };
    case "missing":
      return { kind: "missing", from: [], words: "not logged in" };
  }
}

function agentLines(rows: readonly Row[]): readonly string[] {
  const width = Math.max(...rows.map(({ name }) => name.length));
  return rows.flatMap((row) => linesOfAgent(row, width));
}

function linesOfAgent(row: Row, width: number): readonly string[] {
  const name = row.name.padEnd(width);
  if (!row.is_installed) return [`· ${name}  not installed     ${row.fix.join("; ")}`];

  const mark = row.is_usable ? "✓" : "!";
  const version = (row.version ?? "").padEnd(16);
  const indent = " ".repeat(width + 4);

  return [
    `${mark} ${name}  ${version}  ${row.command.join(" ")}`,
    `${indent}login: ${row.login.words}`,
    `${indent}network: ${row.containment.network}`,
    `${indent}usage: ${row.reports}`,
    ...row.missing.map((problem) => `${indent}missing: ${problem}`),
    ...row.fix.map((step) => `${indent}to fix: ${step}`),
  ];
}
