// adopt: makes a portfolio that came from elsewhere this user's, once they have seen what it would
// do.
//
// Invariants:
//   A1. Every line of its journal is first checked against its schema; nothing of it is executed.
//   A2. It is paused, so that nothing starts before this user says `resume`.
//   A3. Only the journal is taken over. Copies, git directories and notes beside it could be
//       anything, and are set aside.
//   A4. Agents and isolation of open tasks, hubs and the right to land unproved work are dropped:
//       this user gives them anew. So is a repository whose path leads elsewhere.
//   A5. A portfolio in a store is not changed by an adoption, because other machines use it too.
//       Consent covers what it is and what it becomes there (decision 0097): its workers' configs
//       say what agents may do, this machine's config what proves a merge.

import { existsSync, realpathSync } from "node:fs";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { readPortfolioMark } from "../../fleet/shared-mark.ts";
import { omitUndefined } from "../../kit/omit-undefined.ts";
import type { PortfolioView, ProjectView } from "../../portfolio/planner/state.ts";
import { findClone, readClones, writeClones } from "../../portfolio/store/clones.ts";
import { readCheckedPortfolio } from "../../portfolio/store/checked.ts";
import {
  bindPortfolio,
  findPortfolio,
  type PortfolioPaths,
  refuseMissing,
  whyForeign,
} from "../../portfolio/store/folder.ts";
import { withPortfolio } from "../../portfolio/store/open.ts";
import { toActor, type CommandContext } from "../../project/command-context.ts";
import { catchRefusals, refuse, respond } from "../../project/respond.ts";
import { setAsideUntrustedFiles } from "../adopt.ts";
import { whyUnusable } from "../../project/runs/run-binding.ts";
import { oneLine } from "../../views/wording.ts";

const rowsMax = 40;

/** Shows what the portfolio would do, asks, and binds it to this user. */
export function adoptPortfolio(
  context: CommandContext,
  input: { readonly yes?: boolean | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = findPortfolio(context.cwd);
    if (paths === null) return refuseMissing(context.cwd);
    if (whyForeign(context, paths) === null) {
      return respond("ok", {
        message: "This portfolio is yours already.",
        data: { root: paths.root },
      });
    }

    refuseUnusable(context, paths);
    const state = await readCheckedPortfolio(paths); // A1
    const isShared = readPortfolioMark(paths.ownFolder) !== null;
    const cloneOfShared = (repository: string): string => findClone(paths, repository);
    const page = describePortfolio(state, isShared ? cloneOfShared : null);

    const isAgreed =
      input.yes === true || (context.isTerminal && (await askToAdopt(context, page)));
    if (!isAgreed) {
      return respond("portfolio_foreign", {
        page,
        message: "This is what the portfolio would do. Nothing was changed.",
        remediation: ["autopilot portfolio adopt --yes"],
      });
    }

    return isShared ? adoptShared(context, paths) : adoptOwn(context, paths);
  });
}

function refuseUnusable(context: CommandContext, { root, ownFolder }: PortfolioPaths): void {
  const problem = whyUnusable(context.env, { root, folder: `${root}/.autopilot` }, ownFolder);
  if (problem !== null) {
    refuse("portfolio_foreign", {
      message: `The portfolio in ${root} cannot be adopted: ${problem}.`,
    });
  }
}

/** Adopts a portfolio of a store: only what this machine keeps of it changes (A5). */
function adoptShared(context: CommandContext, paths: PortfolioPaths): CommandResponse {
  const clones = readClones(paths);
  setAsideUntrustedFiles(paths.ownFolder); // A3
  writeClones(paths, clones);
  bindPortfolio(context, paths);

  return respond("ok", {
    message: "The portfolio is yours on this machine too.",
    remediation: ["autopilot portfolio status", "autopilot portfolio run --fleet waits to plan it"],
    data: { root: paths.root },
  });
}

async function adoptOwn(context: CommandContext, paths: PortfolioPaths): Promise<CommandResponse> {
  setAsideUntrustedFiles(paths.ownFolder); // A3
  const operator = { actor: toActor(context), reason_code: "ok" } as const;

  await withPortfolio(context, paths, async (portfolio) => {
    await portfolio.write({ ...operator, event: "portfolio_updated", paused: true }); // A2
    const revocations = listRevocations(portfolio.state);
    await portfolio.write(...revocations.map((change) => ({ ...operator, ...change }))); // A4
    bindPortfolio(context, paths); // last, so that a crash before it leaves the portfolio foreign
  });

  return respond("ok", {
    message: "The portfolio is yours now, and paused.",
    remediation: ["autopilot portfolio status", "autopilot portfolio resume"],
    data: { root: paths.root },
  });
}

/** The changes that drop what this user must give anew (A4). */
function listRevocations(state: PortfolioView) {
  const projects = Object.values(state.projects).map((project) => ({
    event: "project_updated" as const,
    project_id: project.project_id,
    changes: listProjectRevocations(project),
  }));
  const changedProjects = projects.filter(({ changes }) => Object.keys(changes).length > 0);

  const tasks = listOpenTasks(state).filter(
    ({ agent, isolation }) => agent !== null || isolation !== null,
  );
  const changedTasks = tasks.map(({ task_id }) => ({
    event: "task_updated" as const,
    task_id,
    changes: { agent: null, isolation: null },
  }));

  const hubs = Object.keys(state.hubs).map((repository) => ({
    event: "hub_set" as const,
    repository,
    hub: null,
  }));

  return [...changedProjects, ...changedTasks, ...hubs];
}

function listProjectRevocations({ accept_unproved, repository, agent = null }: ProjectView) {
  return omitUndefined({
    accept_unproved: accept_unproved ? (false as const) : undefined,
    repository: isElsewhere(repository) ? null : undefined,
    agent: agent === null ? undefined : null,
  });
}

const listOpenTasks = (state: PortfolioView) =>
  Object.values(state.tasks).filter(({ status }) => status !== "done" && status !== "canceled");

/** Whether the path goes through a link: what is there isn't the folder that was named. */
const isElsewhere = (repository: string | null): boolean =>
  repository !== null && existsSync(repository) && realpathSync(repository) !== repository;

async function askToAdopt(context: CommandContext, page: readonly string[]): Promise<boolean> {
  for (const line of page) context.show(line);
  return (await context.ask("Make this portfolio yours? It stays paused.", ["y", "n"])) === "y";
}

/**
 * Says where the portfolio would work, with what, and which commands it would run. `cloneOfShared`:
 * set if it is in a store.
 */
function describePortfolio(
  state: PortfolioView,
  cloneOfShared: ((repository: string) => string) | null,
): readonly string[] {
  const tasks = listOpenTasks(state);
  const projects = Object.values(state.projects);
  const agents = [...tasks, ...projects].map(({ agent = null }) => agent);
  const isolations = tasks.map(({ isolation }) => isolation);
  const describe = cloneOfShared === null ? describeOwn : describeShared;

  const criteria = tasks.flatMap((task) => task.acceptance_criteria);
  const commands = new Set(criteria.flatMap(({ command }) => command ?? []));
  const commandRows = [...commands].map((command) => `  ${oneLine(command, 100)}`);
  const projectRows = projects.map((project) =>
    describeProject(project, state.hubs, cloneOfShared),
  );

  return [
    `Portfolio ${oneLine(state.name, 60)}: ${projects.length} projects, ${tasks.length} open tasks`,
    `agents: ${describe(agents)}`,
    `isolation: ${describe(isolations)}`,
    "",
    cloneOfShared === null
      ? "It works in and merges into:"
      : "Whoever may write to the store may have commands run here, inside the isolation that your config names. It works with these clones, sends their commits to these hubs and merges there:",
    ...limitRows(projectRows),
    "",
    "It runs these commands:",
    ...limitRows(commandRows),
  ];
}

/**
 * Agents or isolation levels of a portfolio in a store, where its workers decide what they allow.
 */
function describeShared(values: readonly (string | null)[]): string {
  const names = joinDistinct(values);
  return names === "" ? "those of its workers" : `${names}, as its workers allow`;
}

function describeOwn(values: readonly (string | null)[]): string {
  const names = joinDistinct(values);
  return names === "" ? "yours" : `yours (it names ${names}, which is not taken over)`;
}

function joinDistinct(values: readonly (string | null)[]): string {
  const distinct = new Set(values.filter((value) => value !== null));
  return [...distinct].map((value) => oneLine(value, 60)).join(", ");
}

function describeProject(
  { repository: origin, target }: ProjectView,
  hubs: PortfolioView["hubs"],
  cloneOfShared: ((repository: string) => string) | null,
): string {
  if (origin === null) return "  no repository";

  const repository = cloneOfShared === null ? origin : cloneOfShared(origin);
  if (isElsewhere(repository)) {
    return `  no repository (${oneLine(repository, 60)} leads elsewhere and is not taken over)`;
  }

  const hub = cloneOfShared === null ? "" : `, ${oneLine(hubs[origin] ?? "no hub", 100)}`;
  return `  ${oneLine(repository, 100)} (${oneLine(target, 60)})${hub}`;
}

function limitRows(rows: readonly string[]): readonly string[] {
  if (rows.length <= rowsMax) return rows;
  return [...rows.slice(0, rowsMax), `… and ${rows.length - rowsMax} more`];
}
