// config-loosened: what the project's own config file may not decide. It travels with the repository, so whoever can write there could
// otherwise switch a safeguard off for everybody who runs it. Tightening is always allowed.

import { profiles } from "../contracts/budget.ts";
import type { Config } from "../contracts/config.ts";
import { approvalPolicies, riskLevels } from "../contracts/objective.ts";
import { limitDefaults } from "./config-defaults.ts";
import { agentsWithoutLoosening, boxWithoutLoosening, pricesWithoutLoosening } from "./config-loosened-agents.ts";
import { looserIn, readBudget } from "./objective-budget.ts";

const repeatDefault = 3;

export type Kept = { readonly config: Config; readonly ignored: readonly { readonly key: string; readonly why: string }[] };

/** The project's config without what would loosen safety, measured against what the user's own config and the defaults say. */
export function withoutLoosening(project: Config, own: Config): Kept {
  const ignored: { key: string; why: string }[] = [];
  const kept: Config = { ...project };
  const drop = (key: keyof Config, why: string): void => {
    ignored.push({ key, why });
    delete kept[key];
  };
  if (project.dry_run === "auto" && own.dry_run !== "auto") drop("dry_run", "it would start runs without showing them first");
  if ((project.isolation === "none" || project.isolation === "clone") && project.isolation !== own.isolation) {
    drop("isolation", `${project.isolation} does not hold the agent`);
  }
  const isAsked = (policy: string | undefined): boolean => policy !== undefined && policy !== approvalPolicies[0];
  if (project.approval_policy === "none" && isAsked(own.approval_policy))
    drop("approval_policy", "it would do without the approval you ask for");
  const rank = (level: Config["risk_level"]): number => riskLevels.indexOf(level ?? "medium");
  if (project.risk_level !== undefined && rank(project.risk_level) < rank(own.risk_level))
    drop("risk_level", "it would lower the confidence a turn needs");
  if (project.max_budget !== undefined) {
    const [asked, most] = [
      readBudget(project.max_budget),
      own.max_budget === undefined ? { budget: profiles.balanced } : readBudget(own.max_budget),
    ];
    const more = "budget" in asked && "budget" in most ? looserIn(asked.budget, most.budget) : [];
    if (more.length > 0) drop("max_budget", `it would allow more ${more.join(", ")}`);
  }
  if (project.limits !== undefined) {
    const [fine, raised] = limitsNotRaised(project.limits, own.limits ?? {});
    kept.limits = fine;
    for (const name of raised) ignored.push({ key: `limits.${name}`, why: "it would raise a cap" });
  }
  restore(project, kept, ignored);
  judges(project, own, kept, ignored);
  network(project, own, kept, ignored);
  ignored.push(
    ...agentsWithoutLoosening(project, own, kept),
    ...boxWithoutLoosening(project, own, kept),
    ...pricesWithoutLoosening(project, own, kept),
  );
  return { config: kept, ignored };
}

/** Of limits that travel with a project those that loosen nothing, and the names of the others. */
export function limitsNotRaised(
  project: Readonly<Record<string, number>>,
  own: Readonly<Record<string, number>>,
): [Record<string, number>, string[]] {
  const fine: Record<string, number> = {};
  const raised: string[] = [];
  for (const [name, value] of Object.entries(project)) {
    const known = Object.hasOwn(limitDefaults, name) ? limitDefaults[name] : undefined;
    const most = Object.hasOwn(own, name) ? own[name] : known?.value;
    const isLooser = most !== undefined && (known?.looser === "less" ? value < most : value > most);
    if (isLooser) raised.push(name);
    else fine[name] = value;
  }
  return [fine, raised];
}

/** What judges an agent's work is not for the project to loosen: fewer repeats, checks that do not count, oracles that are none. */
function judges(project: Config, own: Config, kept: Config, ignored: { key: string; why: string }[]): void {
  const { repeat, quarantine, ...rest } = kept.checks ?? {};
  const repeats = own.checks?.repeat ?? repeatDefault;
  if (repeat !== undefined && repeat < repeats) ignored.push({ key: "checks.repeat", why: "it would look less often for flaky checks" });
  const known = (own.checks?.quarantine ?? []).map(({ check }) => check);
  const further = (quarantine ?? []).filter(({ check }) => !known.includes(check));
  if (further.length > 0) ignored.push({ key: "checks.quarantine", why: "it would keep checks from counting" });
  if (kept.checks !== undefined)
    kept.checks = {
      ...rest,
      ...(repeat === undefined || repeat < repeats ? {} : { repeat }),
      ...(quarantine === undefined || further.length > 0 ? {} : { quarantine }),
    };
  const opened = (project.protect ?? []).filter((glob) => glob.startsWith("!") && !(own.protect ?? []).includes(glob));
  if (project.protect === undefined || opened.length === 0) return;
  ignored.push({ key: "protect", why: `it would take the protection from ${opened.join(", ")}` });
  const left = project.protect.filter((glob) => !opened.includes(glob));
  if (left.length > 0) kept.protect = left;
  else delete kept.protect;
}

/** Restoring runs commands with the network on, before anybody has looked. */
function restore(project: Config, kept: Config, ignored: { key: string; why: string }[]): void {
  if (project.checks?.restore === undefined || project.checks.restore === "copy") return;
  const { restore: _restore, ...rest } = project.checks;
  kept.checks = rest;
  ignored.push({ key: "checks.restore", why: "it would give a step the network" });
}

function network(project: Config, own: Config, kept: Config, ignored: { key: string; why: string }[]): void {
  if (project.network === undefined) return;
  const { checks, agents, ...rest } = project.network;
  kept.network = { ...rest };
  if (checks === true && own.network?.checks !== true) ignored.push({ key: "network.checks", why: "it would give checks the network" });
  else if (checks !== undefined) kept.network.checks = checks;
  const further = (agents ?? []).filter((host) => !(own.network?.agents ?? []).includes(host));
  if (agents !== undefined && further.length > 0)
    ignored.push({ key: "network.agents", why: `it would give agents ${further.join(", ")}` });
  else if (agents !== undefined) kept.network.agents = agents;
}
