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
import type { PortfolioView } from "../../portfolio/planner/state.ts";
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
    const namedClones = { ...readClones(paths), ...(await readNamedClones(context, state, repos)) };
    if (repos.length > 0) writeClones(paths, namedClones);
    const cloneFailures = await cloneHubs(paths, state, context);
    const clones = readClones(paths);
    const pageWarnings = isHere ? [] : drawNewCopy(paths, state, await readAllLines(paths));

    const unclonedProjects = Object.values(state.projects).filter(
      ({ repository }) =>
        repository !== null &&
        !cloneFailures.has(repository) &&
        !existsSync(findClone(paths, repository)),
    );

    return respond("ok", {
      message: isHere
        ? `${state.name} is here already; it is brought up to date when it is opened.`
        : `${state.name} is in ${paths.root}. Nothing of it was executed.`,
      warnings: [
        ...pageWarnings,
        ...cloneFailures.values(),
        ...unclonedProjects.map(
          ({ name, repository }) =>
            `${name}: ${repository ?? ""} isn't on this machine, and no clone of it is named`,
        ),
      ],
      remediation: [
        ...(cloneFailures.size === 0
          ? []
          : [`autopilot portfolio take ${key} --into ${paths.root}`]),
        ...unclonedProjects.map(
          ({ name }) =>
            `autopilot portfolio take ${key} --into ${paths.root} --repo ${JSON.stringify(name)}=DIR`,
        ),
        ...(isHere
          ? []
          : [`autopilot -C ${paths.root} portfolio adopt shows what it would do and asks`]),
      ],
      data: { key, root: paths.root, lines: state.seq, clones },
    });
  });
}

/**
 * Clones each repository from its hub, unless a clone was named. Returns why some failed, by
 * repository: those are cloned when needed.
 */
async function cloneHubs(
  paths: PortfolioPaths,
  state: PortfolioView,
  { live }: CommandContext,
): Promise<ReadonlyMap<string, string>> {
  const cloneFailures = new Map<string, string>();
  for (const [repository, hub] of Object.entries(state.hubs)) {
    if (
      Object.hasOwn(readClones(paths), repository) ||
      !Object.values(state.projects).some((project) => project.repository === repository)
    ) {
      continue;
    }

    live(`clones ${hub}`);
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
  const seq = isPortfolioKey(key) ? (await store.read(key, genesis, () => undefined)).seq : 0; // checked line by line before anything is written
  if (seq === 0) {
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
    const [name, folder] =
      equals === -1 ? [null, text] : [text.slice(0, equals), text.slice(equals + 1)];
    const matching = Object.values(projects).filter(
      (project) => name === null || project.project_id === name || project.name === name,
    );
    const repositories = new Set(matching.flatMap(({ repository }) => repository ?? []));
    const [repository] = repositories;
    if (repository === undefined || repositories.size > 1) {
      return refuse("portfolio_input_invalid", {
        message: `--repo ${text}: ${repository === undefined ? "no project is called so, or it has no repository" : "say whose it is"}.`,
        remediation: Object.values(projects).map(
          (project) => `--repo ${JSON.stringify(project.name)}=DIR`,
        ),
      });
    }

    const lookup = await findRepository(resolve(context.cwd, folder));
    if ("failure" in lookup) {
      return refuse(lookup.failure.reason, { message: `${folder}: ${lookup.failure.detail}` });
    }

    clones[repository] = lookup.repository.root;
  }

  return clones;
}
