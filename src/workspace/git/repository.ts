// repository: finds the user's repository and tells whether a run can work in it. It only reads.

import { constants, statSync } from "node:fs";
import { access, realpath } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import type { GitSha } from "../../contracts/ids.ts";
import type { ReasonCode } from "../../contracts/reason.ts";
import { isAttributesFile } from "./attributes.ts";
import { type BytePath, displayPath } from "./byte-path.ts";
import { WorkspaceFailed } from "../failure.ts";
import { git, requireSafeRepository } from "./git.ts";
import type { GitAnswer } from "./safe-git-call.ts";
import { alwaysOwnedPaths } from "../owned-paths.ts";
import { compileOwnedPaths } from "../layers/scope-globs.ts";
import { readChangedFiles, describeUncommitted } from "./checkout-status.ts";
import { isGitlink, cacheTree, type ObjectFormat, type TreeEntry } from "./tree.ts";
import { listTree } from "./tree-list.ts";
import { type GitPlaces, findGitPlaces } from "./git-places.ts";
import { readHeadBranch, readHeadCommit } from "./refs.ts";

export type Repository = {
  /** The top of the user's checkout, links resolved. */
  readonly root: string;
  readonly gitDir: string;
  /** Where objects and branches are; differs from gitDir in a linked worktree. */
  readonly commonDir: string;
  readonly format: ObjectFormat;
  /** The branch's short name; null when HEAD is detached. */
  readonly branch: string | null;
  readonly head: { readonly commit: GitSha; readonly tree: GitSha };
};

/** A repository with what a new run should know of its checkout. */
export type SurveyedRepository = Repository & {
  /** Whether tracked files, other than the runner's own, have uncommitted changes. */
  readonly isDirty: boolean;
  readonly submodules: number;
  /** Sentences for the preview: what exists but is not part of a run. */
  readonly warnings: readonly string[];
  /** The warning about uncommitted changes, if there are any. */
  readonly uncommitted: readonly string[];
};

export type RepositoryFailure = {
  readonly reason: Extract<
    ReasonCode,
    "not_a_repository" | "no_commits_yet" | "repository_bare" | "workspace_unusable"
  >;
  readonly detail: string;
  /** Replaces the reason's own hint. */
  readonly hint?: string;
};

type FailedLookup = { readonly failure: RepositoryFailure };

const createFailure = (
  reason: RepositoryFailure["reason"],
  detail: string,
  hint?: string | null,
): FailedLookup => ({
  failure: { reason, detail, ...(hint == null ? {} : { hint }) },
});

export type RepositoryLookup<Kind extends Repository> =
  | { readonly repository: Kind }
  | FailedLookup;

/** The innermost repository around a folder, or why it cannot hold a run. */
export function findRepository(folder: string): Promise<RepositoryLookup<Repository>> {
  return withFailures(() => locate(resolve(folder)));
}

/** The same, with its checkout surveyed. `ownedPaths` don't count as dirty. */
export function openRepository(
  folder: string,
  ownedPaths: readonly string[] = [],
): Promise<RepositoryLookup<SurveyedRepository>> {
  return withFailures(async () => {
    const lookup = await locate(resolve(folder));
    return "failure" in lookup
      ? lookup
      : { repository: await survey(lookup.repository, [...alwaysOwnedPaths, ...ownedPaths]) };
  });
}

/**
 * The survey alone, for callers that have found the repository: it takes time in proportion to the
 * checkout.
 */
export const surveyRepository = (
  repository: Repository,
  ownedPaths: readonly string[] = [],
): Promise<RepositoryLookup<SurveyedRepository>> =>
  withFailures(async () => ({
    repository: await survey(repository, [...alwaysOwnedPaths, ...ownedPaths]),
  }));

/** Turns a WorkspaceFailed into a failed lookup. */
async function withFailures<Kind extends Repository>(
  work: () => Promise<RepositoryLookup<Kind>>,
): Promise<RepositoryLookup<Kind>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WorkspaceFailed) {
      return createFailure("workspace_unusable", error.message, error.hint);
    }

    throw error;
  }
}

async function locate(folder: string): Promise<RepositoryLookup<Repository>> {
  const places = findGitPlaces(folder);
  if (places !== null) await requireSafeRepository(places);
  const facts =
    (await readCachedFacts(folder, places)) ??
    (await queryAtOnce(folder)) ??
    (await queryOneByOne(folder));
  if ("failure" in facts) return facts;
  if (cachedFacts.size >= cachedFactsMax) cachedFacts.clear();
  cachedFacts.set(folder, { stamp: readPlacesStamp(places), facts });
  cacheTree(facts.commit, facts.tree);
  const root = await realpath(facts.top);
  const gitDir = await realpath(facts.gitDir);
  const commonDir = await realpath(
    isAbsolute(facts.commonDir) ? facts.commonDir : join(folder, facts.commonDir),
  );

  // A repository's configuration may name any folder as its checkout, and landing would write
  // there.
  if (
    places === null ||
    (await realpath(places.root)) !== root ||
    (await realpath(places.gitDir)) !== gitDir
  ) {
    return createFailure(
      "workspace_unusable",
      `The repository at ${gitDir} says that its checkout is ${root} (core.worktree), where it does not lie.`,
    );
  }

  for (const path of [root, commonDir, join(commonDir, "objects")]) {
    if (!(await canWrite(path))) {
      return createFailure(
        "workspace_unusable",
        `${path} cannot be written to, so a run cannot keep its files there.`,
      );
    }
  }

  const format: ObjectFormat = facts.format === "sha256" ? "sha256" : "sha1";
  const branch = facts.ref === "HEAD" ? null : facts.ref.replace(/^refs\/heads\//, "");
  return {
    repository: {
      root,
      gitDir,
      commonDir,
      format,
      branch,
      head: { commit: facts.commit, tree: facts.tree },
    },
  };
}

/**
 * What `git rev-parse` says about a repository. `top`: its checkout; `ref`: the full name of HEAD's
 * branch, or `HEAD`.
 */
type RepositoryFacts = Readonly<
  Record<"gitDir" | "bare" | "commonDir" | "format" | "top" | "commit" | "tree" | "ref", string>
>;

/** A configuration can include a pipe, for which git would wait. */
const queryTimeoutMs = 60_000;
const acceptedExitCodes = [0, 128];
const query = (folder: string, ...args: string[]): Promise<GitAnswer> =>
  git({ cwd: folder, args: ["rev-parse", ...args], acceptedExitCodes, timeoutMs: queryTimeoutMs });
const toLine = (answer: GitAnswer): string => answer.out.toString("utf8").replace(/\n$/, "");

const cachedFacts = new Map<string, { readonly stamp: string; readonly facts: RepositoryFacts }>();
const cachedFactsMax = 1_000;

/** The facts that this process cached, if neither the configuration nor HEAD has changed. */
async function readCachedFacts(
  folder: string,
  places: GitPlaces | null,
): Promise<RepositoryFacts | null> {
  const cached = cachedFacts.get(folder);
  if (cached === undefined || places === null || cached.stamp !== readPlacesStamp(places)) {
    return null;
  }

  const isSameHead =
    ((await readHeadBranch(places)) ?? "HEAD") === cached.facts.ref &&
    (await readHeadCommit(places)) === cached.facts.commit;
  return isSameHead ? cached.facts : null;
}

/** The stat data of the files that say where a repository's parts are. */
function readPlacesStamp(places: GitPlaces | null): string {
  if (places === null) return "";
  const { root, gitDir, commonDir } = places;

  const files = [
    join(root, ".git"),
    join(commonDir, "config"),
    join(gitDir, "config.worktree"),
    join(gitDir, "commondir"),
  ];
  const stats = files.map((path) => statSync(path, { throwIfNoEntry: false, bigint: true }));
  return JSON.stringify([
    root,
    gitDir,
    commonDir,
    ...stats.map((stat) =>
      stat?.isFile() === true ? `${stat.ino} ${stat.ctimeNs} ${stat.size}` : `${stat?.ino}`,
    ),
  ]);
}

/** All facts with one git process; null if that fails, and they have to be queried one by one. */
async function queryAtOnce(folder: string): Promise<RepositoryFacts | null> {
  const placeOptions = [
    "--absolute-git-dir",
    "--is-bare-repository",
    "--git-common-dir",
    "--show-object-format",
    "--show-toplevel",
  ];
  const answer = await query(
    folder,
    ...placeOptions,
    "HEAD^{commit}",
    "HEAD^{tree}",
    "--symbolic-full-name",
    "HEAD",
  );
  const [gitDir, bare, commonDir, format, top, commit, tree, ref, ...moreLines] =
    toLine(answer).split("\n");
  const isWhole = answer.code === 0 && ref !== undefined && moreLines.length === 0; // a path with a line break gives more lines
  if (
    !isWhole ||
    gitDir === undefined ||
    bare !== "false" ||
    commonDir === undefined ||
    format === undefined
  ) {
    return null;
  }

  return top === undefined || commit === undefined || tree === undefined
    ? null
    : { gitDir, bare, commonDir, format, top, commit, tree, ref };
}

/** The same facts, one by one, so that the missing one can be named. */
async function queryOneByOne(folder: string): Promise<RepositoryFacts | FailedLookup> {
  const gitDir = await query(folder, "--absolute-git-dir");
  if (gitDir.code !== 0) {
    if (/not a git repository/i.test(gitDir.err)) {
      return createFailure("not_a_repository", `${folder} is not inside a git repository.`);
    }

    return createFailure(
      "workspace_unusable",
      `git cannot open the repository at ${folder}: ${gitDir.err.trim().slice(0, 500)}`,
    );
  }

  const bare = toLine(await query(folder, "--is-bare-repository"));
  if (bare === "true") {
    return createFailure(
      "repository_bare",
      `${toLine(gitDir)} is a bare repository: there is no checkout to work from.`,
    );
  }

  const top = await query(folder, "--show-toplevel");
  if (top.code !== 0) {
    return createFailure(
      "workspace_unusable",
      `${folder} is inside a git directory, not inside a checkout.`,
    );
  }

  const commit = await query(folder, "--verify", "HEAD^{commit}");
  if (commit.code !== 0) {
    return createFailure(
      "no_commits_yet",
      `The repository at ${toLine(top)} has no commit to start from.`,
    );
  }

  const [commonDir, format, tree, ref] = await Promise.all([
    query(folder, "--git-common-dir"),
    query(folder, "--show-object-format"),
    query(folder, "--verify", "HEAD^{tree}"),
    query(folder, "--symbolic-full-name", "HEAD"),
  ]);

  return {
    gitDir: toLine(gitDir),
    bare,
    commonDir: toLine(commonDir),
    format: toLine(format),
    top: toLine(top),
    commit: toLine(commit),
    tree: toLine(tree),
    ref: toLine(ref),
  };
}

async function survey(
  repository: Repository,
  owned: readonly string[],
): Promise<SurveyedRepository> {
  const { root, gitDir, head, branch } = repository;
  const call = { cwd: root, env: { GIT_DIR: gitDir, GIT_WORK_TREE: root } };
  const [changed, { notable }] = await Promise.all([
    readChangedFiles(repository, compileOwnedPaths(owned)),
    listTree(call, head.commit),
  ]);
  const submodules = notable.filter(([, entry]) => isGitlink(entry));
  const filters = await readFilters(
    { root, gitDir },
    notable.filter(([path, { mode }]) => mode.startsWith("100") && isAttributesFile(path)),
  );

  const uncommitted = changed.length > 0 ? [describeUncommitted(changed, head.commit)] : [];
  const warnings = [...uncommitted];

  if (branch === null) {
    warnings.push(
      "HEAD is detached, so the work stays on its own branch and will not be merged for you.",
    );
  }

  if (submodules.length > 0) {
    const paths = submodules.slice(0, submodulesShownMax).map(([path]) => displayPath(path));
    warnings.push(
      `Submodules are left as they are and stay empty for the agent: ${paths.join(", ")}.`,
    );
  }

  if (filters.length > 0) {
    warnings.push(
      `Content filters (${filters.join(", ")}) do not run for the agent: it sees such files as they lie in git, and what it writes there lands as it is.`,
    );
  }

  return {
    ...repository,
    isDirty: changed.length > 0,
    uncommitted,
    submodules: submodules.length,
    warnings,
  };
}

const submodulesShownMax = 5;

const attributeFilesMax = 10;
const attributesBytesMax = 1 << 20;
const filtersShownMax = 5;

/**
 * Filters that the tree's own attributes name, such as LFS: for a warning, so only some files are
 * read and some names shown.
 */
async function readFilters(
  { root, gitDir }: Pick<Repository, "root" | "gitDir">,
  files: readonly (readonly [BytePath, TreeEntry])[],
): Promise<readonly string[]> {
  const names = new Set<string>();
  for (const [, { sha }] of files.slice(0, attributeFilesMax)) {
    const call = {
      cwd: root,
      env: { GIT_DIR: gitDir },
      args: ["cat-file", "blob", sha],
      outputBytesMax: attributesBytesMax,
    };

    const text = (await git({ ...call, acceptedExitCodes })).out.toString("latin1"); // in a partial clone it may be missing
    for (const [, name = ""] of text.matchAll(/^(?!\s*#).*?\sfilter=([\w.-]{1,64})/gm)) {
      names.add(name);
    } // `*.psd filter=lfs -text`
  }

  return [...names].sort().slice(0, filtersShownMax);
}

async function canWrite(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
