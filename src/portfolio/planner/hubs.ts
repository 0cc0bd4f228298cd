// hubs: which hub each repository of a portfolio has: the git repository through which machines
// exchange its commits. A hub belongs to the repository, not to a project: projects that share a
// repository share its branches, and so its hub.
//
// Invariants:
//   H1. A repository has one hub: hubs are kept by repository.
//   H2. A hub has one repository: two would land on the same branches from two queues.

import { holdsPassword, isGitAddress } from "../../contracts/git-address.ts";
import { type PortfolioChangeOf } from "../../contracts/portfolio/portfolio-journal.ts";
import { invariant } from "../../kit/invariant.ts";
import type { Portfolio, PortfolioView, ProjectView } from "./state.ts";
import { type Stamp, markBlockedTasksChanged } from "./task-changes.ts";

export function setHub(
  state: Portfolio,
  { repository, hub }: PortfolioChangeOf<"hub_set">,
  stamp: Stamp,
): void {
  invariant(
    hub === null || findOtherRepository(state, hub, repository) === null,
    "H2: a hub has one repository",
  );

  if (hub === null) delete state.hubs[repository];
  else state.hubs[repository] = hub; // H1

  for (const project of Object.values(state.projects)) {
    if (project.repository !== repository) continue;
    project.changed = stamp.seq;
    markBlockedTasksChanged(state, project.tasks, stamp);
  }
}

/** A repository other than `except` that has this hub. */
function findOtherRepository(
  { hubs }: Pick<PortfolioView, "hubs">,
  hub: string,
  except: string,
): string | null {
  for (const [repository, address] of Object.entries(hubs)) {
    if (address === hub && repository !== except) return repository;
  }

  return null;
}

type Hubs = Pick<PortfolioView, "hubs" | "projects" | "tasks">;

/**
 * Why a repository can't have this address for its hub, as far as the portfolio itself says; null
 * if it can.
 */
export function whyNoHub(state: Hubs, repository: string, hub: string): string | null {
  if (!isGitAddress(hub)) {
    return `${JSON.stringify(hub)} is no address of a hub: expected an absolute path, or one that begins with https://, ssh://, file:// or USER@HOST:.`;
  }

  if (holdsPassword(hub)) {
    return "The address of a hub is written into the journal, so it can't hold a password: use a key of ssh, or a credential helper of git.";
  }

  const otherRepository = findOtherRepository(state, hub, repository);
  if (otherRepository !== null) {
    return `${hub} is the hub of ${otherRepository} already: let projects of one repository name the same folder.`;
  }

  const currentHub = state.hubs[repository];
  if (currentHub === undefined || currentHub === hub) return null;

  const [runningId] = listRunningIds(state, repository);
  if (runningId === undefined) return null;
  return `${runningId} is running, and its commits go to ${currentHub}: a hub moves while no task of its repository is running.`;
}

function listRunningIds({ tasks, projects }: Hubs, repository: string): readonly string[] {
  const running = Object.values(tasks).filter(
    ({ project_id, status }) =>
      status === "running" && projects[project_id]?.repository === repository,
  );
  return running.map(({ task_id }) => task_id);
}

/** One project of each repository that has no hub. */
export function listProjectsWithoutHub({
  projects,
  hubs,
}: Pick<PortfolioView, "hubs" | "projects">): readonly (ProjectView & { repository: string })[] {
  const projectsByRepository = new Map<string, ProjectView & { repository: string }>();

  for (const project of Object.values(projects)) {
    const { repository } = project;
    if (repository === null || hubs[repository] !== undefined) continue;
    if (projectsByRepository.has(repository)) continue;
    projectsByRepository.set(repository, { ...project, repository });
  }

  return [...projectsByRepository.values()];
}
