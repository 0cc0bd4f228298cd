// take-portfolio: copies a portfolio from a store into a folder of this machine, and clones its
// repositories from their hubs. Nothing of it is executed, and it is not this user's until they
// adopt it.

import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { isPortfolioKey, markShared, readPortfolioMark } from "../../fleet/shared-mark.ts";
import { bringCopy, openSharedStore } from "../../fleet/shared-run.ts";
import { journalFile } from "../../journal/journal.ts";
import { genesis } from "../../journal/line.ts";
import type { PortfolioView, ProjectView } from "../../portfolio/planner/state.ts";
import { readCheckedPortfolio } from "../../portfolio/store/checked.ts";
import { findClone, type Clones, readClones, writeClones } from "../../portfolio/store/clones.ts";
import { drawNewCopy } from "../../portfolio/store/draw.ts";
import { type PortfolioPaths, portfolioAt } from "../../portfolio/store/folder.ts";
import { readAllLines } from "../../portfolio/store/open.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { ensureFolderBelow, requireNoLink } from "../../project/own-folder.ts";
import { catchRefusals, refuse, respond } from "../../project/respond.ts";
import { makeClone } from "../../portfolio/worker/make-clone.ts";
import { WorkspaceFailed } from "../../workspace/failure.ts";
import { eraseSync } from "../../workspace/folder.ts";
import { findRepository } from "../../workspace/git/repository.ts";

export type TakePortfolioInput = {
  readonly key: string;
  readonly into?: string | undefined;
  /** `PROJECT=DIR`, or `DIR` if there is one repository. */
  readonly repos?: readonly string[] | undefined;
};

/**
 * Can be given again: a copy that is here already keeps its journal, and only missing clones are
 * made.
 */
export function takePortfolio(
  context: CommandContext,
  { key, into, repos = [] }: TakePortfolioInput,
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = portfolioAt(resolve(context.cwd, into ?? "."));
    const isHere = existsSync(join(paths.ownFolder, journalFile));
    if (isHere && readPortfolioMark(paths.ownFolder)?.key !== key) {
      return refuse("portfolio_input_invalid", {
        message: `Another portfolio is in ${paths.root}.`,
        remediation: [`autopilot portfolio take ${key} --into DIR`],
      });
    }

    if (!isHere) await bringPortfolio(context, paths, key);
    const state = await readCheckedPortfolio(paths);
    const namedClones = await readNamedClones(context, state, repos);
    if (repos.length > 0) writeClones(paths, { ...readClones(paths), ...namedClones });
    const cloneFailures = await cloneHubs(paths, state, context);
    const clones = readClones(paths);
    const pageWarnings = isHere ? [] : drawNewCopy(paths, state, await readAllLines(paths));
    const uncloned = listUncloned(paths, state, cloneFailures);

    return respond("ok", {
      message: isHere
        ? `${state.name} is here already; it is brought up to date when it is opened.`
        : `${state.name} is in ${paths.root}. Nothing of it was executed.`,
      warnings: [...pageWarnings, ...cloneFailures.values(), ...uncloned.map(describeUncloned)],
      remediation: listNextSteps(`autopilot portfolio take ${key} --into ${paths.root}`, {
        isHere,
        hasFailures: cloneFailures.size > 0,
        uncloned,
        root: paths.root,
      }),
      data: { key, root: paths.root, lines: state.seq, clones },
    });
  });
}

/** Projects whose repository isn't on this machine, although no clone of it failed. */
function listUncloned(
  paths: PortfolioPaths,
  { projects }: PortfolioView,
  cloneFailures: ReadonlyMap<string, string>,
): readonly ProjectView[] {
  return Object.values(projects).filter(({ repository }) => {
    if (repository === null || cloneFailures.has(repository)) return false;
    return !existsSync(findClone(paths, repository));
  });
}

const describeUncloned = ({ name, repository }: ProjectView): string =>
  `${name}: ${repository ?? ""} isn't on this machine, and no clone of it is named`;

type TakenPortfolio = {
  readonly isHere: boolean;
  readonly hasFailures: boolean;
  readonly uncloned: readonly ProjectView[];
  readonly root: string;
};

function listNextSteps(
  takeAgain: string,
  { isHere, hasFailures, uncloned, root }: TakenPortfolio,
): readonly string[] {
  const steps = hasFailures ? [takeAgain] : [];
  steps.push(...uncloned.map(({ name }) => `${takeAgain} --repo ${JSON.stringify(name)}=DIR`));
  if (!isHere) {
    steps.push(`autopilot -C ${root} portfolio adopt shows what it would do and asks`);
  }

  return steps;
}

/**
 * Clones each repository from its hub, unless a clone was named. Returns why some failed, by
 * repository: those are cloned when needed.
 */
async function cloneHubs(
  paths: PortfolioPaths,
  state: PortfolioView,
  { showLive }: CommandContext,
): Promise<ReadonlyMap<string, string>> {
  const cloneFailures = new Map<string, string>();
  for (const [repository, hub] of Object.entries(state.hubs)) {
    const isCloned = Object.hasOwn(readClones(paths), repository);
    const isUsed = Object.values(state.projects).some(
      (project) => project.repository === repository,
    );
    if (isCloned || !isUsed) continue;

    showLive(`clones ${hub}`);
    try {
      await makeClone(paths, state, repository, hub);
    } catch (error) {
      if (!(error instanceof WorkspaceFailed)) throw error;
      cloneFailures.set(repository, error.message);
    }
  }

  return cloneFailures;
}

/**
 * Copies the portfolio's journal, with the mark that it is a copy; if that fails, nothing is left
 * behind.
 */
async function bringPortfolio(
  context: CommandContext,
  paths: PortfolioPaths,
  key: string,
): Promise<void> {
  const store = await openSharedStore(context.env);
  const hasLines = isPortfolioKey(key) && (await store.read(key, genesis, () => undefined)).seq > 0; // checked line by line before anything is written
  if (!hasLines) {
    refuse("portfolio_missing", {
      message: `There is no portfolio ${key} in the store.`,
      remediation: ["autopilot fleet status"],
    });
  }

  mkdirSync(paths.root, { recursive: true });
  for (const folder of [paths.ownFolder, paths.pagesFolder]) {
    requireNoLink(paths.root, relative(paths.root, folder));
  }

  const occupiedFolder = [paths.ownFolder, paths.pagesFolder].find(
    (folder) => existsSync(folder) && readdirSync(folder).length > 0,
  );
  if (occupiedFolder !== undefined) {
    refuse("portfolio_input_invalid", {
      message: `${occupiedFolder} is not empty.`,
      remediation: [`autopilot portfolio take ${key} --into DIR`],
    });
  }

  ensureFolderBelow(paths.root, relative(paths.root, paths.ownFolder));
  try {
    markShared(paths.ownFolder, key);
    await bringCopy(store, key, paths.ownFolder);
  } catch (error) {
    eraseSync(paths.ownFolder);
    throw error;
  }
}

async function readNamedClones(
  context: CommandContext,
  { projects }: PortfolioView,
  repos: readonly string[],
): Promise<Clones> {
  const clones: Record<string, string> = {};
  for (const text of repos) {
    const equals = text.indexOf("=");
    const name = equals === -1 ? null : text.slice(0, equals);
    const folder = text.slice(equals + 1);
    const repository = requireOneRepository(Object.values(projects), name, text);

    const lookup = await findRepository(resolve(context.cwd, folder));
    if ("failure" in lookup) {
      return refuse(lookup.failure.reason, { message: `${folder}: ${lookup.failure.detail}` });
    }

    clones[repository] = lookup.repository.root;
  }

  return clones;
}

/** The repository of the named project, or the only one if no project is named. */
function requireOneRepository(
  projects: readonly ProjectView[],
  name: string | null,
  text: string,
): string {
  const matching = projects.filter(
    (project) => name === null || project.project_id === name || project.name === name,
  );
  const repositories = new Set(matching.flatMap(({ repository }) => repository ?? []));
  const [repository] = repositories;
  if (repository !== undefined && repositories.size === 1) return repository;

  const problem =
    repository === undefined
      ? "no project is called so, or it has no repository"
      : "say whose it is";
  return refuse("portfolio_input_invalid", {
    message: `--repo ${text}: ${problem}.`,
    remediation: projects.map((project) => `--repo ${JSON.stringify(project.name)}=DIR`),
  });
}
