// tree-lookups: compares claims about commits, files and lines with the commit that the agent's
// turn led to.
//
// Invariants:
//   T1. What cannot be looked up decides nothing.
//   T2. Lookups in git are bounded, and cached.

import type { AttemptId, GitSha } from "../../contracts/ids.ts";
import type { Workspace } from "../../ports/workspace.ts";
import {
  claimLimits,
  type CommitClaim,
  type CountClaim,
  type FileChangedClaim,
  type FileLineClaim,
  refuted,
  confirmed,
  type NamedClaim,
  unverifiable,
  type ClaimVerdict,
} from "./reported-claim.ts";
import { containsId, countListedItems } from "./listed-items.ts";
import { countTests } from "./test-counts.ts";

export type ClaimsWorkspace = Pick<Workspace, "textAt" | "hasCommit" | "inspect" | "differences">;

export type TreeInput = {
  readonly attempt: AttemptId;
  /** The commit that the turn led to, and the paths it changed. */
  readonly commit: GitSha;
  readonly changed: readonly string[];
  /** The commits before the turn and before the run. */
  readonly parent?: GitSha;
  readonly base?: GitSha;
  /** How many changed files git ignores: they are in no commit. */
  readonly ignored?: number;
};

/** A name counts as being on a line if it is so many lines away at most. */
const linesNear = 3;
const tooMany = "There was too much to look up in one turn.";
const liesElsewhere = "It lies outside the repository's own files.";

/** Looks up the claims of one turn. */
export class TreeLookups {
  readonly #workspace: ClaimsWorkspace;
  readonly #input: TreeInput;
  readonly #texts = new Map<string, Promise<string | null>>();
  #commitLookups = 0;

  constructor(workspace: ClaimsWorkspace, input: TreeInput) {
    this.#workspace = workspace;
    this.#input = input;
  }

  async commit({ sha }: CommitClaim): Promise<ClaimVerdict> {
    const { attempt, commit } = this.#input;
    if (!/^[0-9a-f]{7,64}$/.test(sha)) return refuted("This is no name of a commit.");
    if (commit.startsWith(sha)) return confirmed("It is the commit the runner made of this turn.");

    this.#commitLookups += 1;
    if (this.#commitLookups > claimLimits.commitsMax) return unverifiable(tooMany); // T2

    const isThere = await this.#workspace.hasCommit(attempt, sha);
    if (isThere === true) return confirmed("The commit is there.");
    if (isThere === null) return unverifiable("The history here is cut off."); // T1
    if (await this.#hasLayer()) {
      return refuted("Neither the agent's own repository nor yours holds such a commit.");
    }

    return unverifiable("The agent's own repository is no longer there."); // T1
  }

  async fileLine(claim: FileLineClaim): Promise<ClaimVerdict> {
    const file = await this.#findFile(claim.path);
    if (file === "elsewhere") return unverifiable(liesElsewhere);
    if (file === null) return refuted(`There is no file ${claim.path} in the commit.`);

    const { path } = file;
    const reading = this.#textAt(this.#input.commit, path);
    if (reading === null) return unverifiable(tooMany);

    const text = await reading;
    if (text !== null) return judgeLine(path, text, claim);
    return unverifiable(`${path} is no text, or is too large to be looked at.`); // T1
  }

  async fileChanged({ path: claimedPath }: FileChangedClaim): Promise<ClaimVerdict> {
    const { changed, ignored = 0 } = this.#input;
    if (findMatchingPaths(claimedPath, changed).length > 0) {
      return confirmed("This turn changed it.");
    }

    if (findMatchingPaths(claimedPath, await this.#changedSinceBase()).length > 0) {
      return confirmed("This run changed it, in an earlier turn.");
    }

    const file = await this.#findFile(claimedPath);
    if (file === "elsewhere") return unverifiable(liesElsewhere);
    if (file !== null) return refuted(`${file.path} is as it was.`);
    if (ignored === 0) return refuted(`There is no ${claimedPath} in the commit.`);
    return unverifiable("It may be among the files git ignores, which are not kept.");
  }

  /** Whether a document of the run names what the agent says it wrote down. */
  async named({ id }: NamedClaim): Promise<ClaimVerdict> {
    const paths = [...this.#input.changed, ...(await this.#changedSinceBase())];
    const { texts, isWhole } = await this.#readDocuments(paths);
    if (texts.some((text) => containsId(text, id))) {
      return confirmed("A document of this run names it.");
    }

    if (texts.length === 0 || !isWhole) {
      return unverifiable("No document of this run could be looked at for it.");
    }

    return refuted("No document of this run names it.");
  }

  async count({ counted, claimedCount, noun = "" }: CountClaim): Promise<ClaimVerdict> {
    const { changed } = this.#input;
    switch (counted) {
      case "listed":
        return judgeListed(claimedCount, noun, await this.#readDocuments(changed));
      case "files_changed":
        return judgeCount({
          claimed: claimedCount,
          actual: changed.length,
          isMinimum: false,
          noun: "files",
          participle: "changed",
        });
      case "tests_added":
        return judgeTestsAdded(claimedCount, this.#input, (commit, path) =>
          this.#textAt(commit, path),
        );
      default:
        return unverifiable("The runner does not count this.");
    }
  }

  #findFile(claimedPath: string): Promise<FoundFile> {
    return findFile(claimedPath, this.#input.changed, () => this.#listPaths());
  }

  /** Reads those among the paths that are documents. */
  async #readDocuments(paths: readonly string[]): Promise<Documents> {
    const documentPaths = [...new Set(paths)].filter((path) => documentName.test(path));
    const { commit } = this.#input;
    const readings = documentPaths.map(async (path) => this.#textAt(commit, path));
    const texts = (await Promise.all(readings)).filter((text) => text !== null);

    return { texts, isWhole: texts.length === documentPaths.length };
  }

  /** Null if too much was read already; a promise of null if the file is no text. */
  #textAt(commit: GitSha, path: string): Promise<string | null> | null {
    const key = `${commit} ${path}`;
    const cached = this.#texts.get(key);
    if (cached !== undefined) return cached;
    if (this.#texts.size >= claimLimits.filesMax) return null; // T2

    const reading = this.#workspace.textAt(commit, path, claimLimits.fileBytesMax);
    this.#texts.set(key, reading);
    return reading;
  }

  readonly #listPaths = once(() => {
    const { commit } = this.#input;
    return this.#listChanges(getEmptyTree(commit), commit);
  });

  readonly #changedSinceBase = once(async () => {
    const { base, commit } = this.#input;
    return base === undefined ? [] : this.#listChanges(base, commit);
  });

  async #listChanges(from: GitSha, to: GitSha): Promise<readonly string[]> {
    const differences = await this.#workspace.differences(from, to);
    return differences.map(({ path }) => path);
  }

  /** Whether the layer (the folder in which the agent worked) is still there. */
  readonly #hasLayer = once(async () => {
    const { layer } = await this.#workspace.inspect(this.#input.attempt, null);
    return layer !== "absent";
  });
}

const documentName = /\.(?:md|markdown|mdx|txt|rst|adoc)$/i;

function judgeLine(
  path: string,
  text: string,
  { line, firstLine = line, name, isOfRemoval }: FileLineClaim,
): ClaimVerdict {
  const lines = text.split("\n");
  const lineCount = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  if (firstLine < 1 || line > lineCount) return refuted(`${path} has ${lineCount} lines.`);
  if (name === null) return confirmed(`${path} has such a line.`);

  const nearby = lines.slice(Math.max(0, firstLine - 1 - linesNear), line + linesNear);
  const namePattern = new RegExp(`(?<![\\w$])${name.replaceAll("$", "\\$")}(?![\\w$])`);

  if (nearby.some((text) => namePattern.test(text))) return confirmed(`${name} is there.`);
  if (isOfRemoval) {
    return unverifiable(`The line is there, ${name} is not; it may be what was taken away.`);
  }

  const otherIndex = lines.findIndex((text) => namePattern.test(text));
  const whereItIs =
    otherIndex < 0 ? ", nor anywhere in the file" : `; it is on line ${otherIndex + 1}`;
  return refuted(`${name} is not there${whereItIs}.`);
}

type Documents = { readonly texts: readonly string[]; readonly isWhole: boolean };

/** A claimed number of findings, compared with what the turn's documents list, in any style. */
function judgeListed(n: number, noun: string, { texts, isWhole }: Documents): ClaimVerdict {
  if (texts.length === 0 || !isWhole) {
    return unverifiable("No document of this turn could be looked at for them.");
  }

  const { counts, entries } = countListedItems(texts, noun);
  if (counts.includes(n)) return confirmed(`The documents of this turn list ${n}.`);
  const highest = Math.max(0, ...counts);
  if (highest > 0 && highest < n) return refuted(`The documents of this turn list ${highest}.`);

  return entries < n
    ? refuted(`The documents of this turn hold ${entries} headings and entries in all.`)
    : unverifiable("The documents of this turn do not list them in a way that can be counted.");
}

type TextAt = (commit: GitSha, path: string) => Promise<string | null> | null;

async function judgeTestsAdded(
  n: number,
  { commit, parent, changed }: TreeInput,
  textAt: TextAt,
): Promise<ClaimVerdict> {
  if (parent === undefined) return unverifiable("What was there before the turn is not known.");
  let added = 0;
  let isMinimum = false;

  for (const path of changed) {
    if (countTests(path, "") === null) continue;
    const textNow = textAt(commit, path);
    const textBefore = textAt(parent, path);
    if (textNow === null || textBefore === null) return unverifiable(tooMany);

    const testsNow = countTests(path, (await textNow) ?? "");
    const testsBefore = countTests(path, (await textBefore) ?? "");
    added += (testsNow?.count ?? 0) - (testsBefore?.count ?? 0);
    isMinimum ||= testsNow?.isMinimum ?? false;
  }

  return judgeCount({
    claimed: n,
    actual: Math.max(0, added),
    isMinimum,
    noun: "tests",
    participle: "added",
  });
}

type CountComparison = {
  readonly claimed: number;
  readonly actual: number;
  readonly isMinimum: boolean;
  readonly noun: string;
  readonly participle: string;
};

function judgeCount({
  claimed,
  actual,
  isMinimum,
  noun,
  participle,
}: CountComparison): ClaimVerdict {
  if (actual === claimed) return confirmed(`${actual} ${noun} were ${participle}.`);
  if (actual > claimed || isMinimum) {
    return unverifiable(`At least ${actual} ${noun} were ${participle}.`);
  }

  return refuted(`${actual} ${noun} were ${participle}.`);
}

/** Null if the commit has no such file; "elsewhere" if the path leads out of what git keeps. */
type FoundFile = { readonly path: string } | "elsewhere" | null;

/**
 * The file of the commit that a claim means: by its whole path, or the first whose path ends so,
 * changed files first.
 */
async function findFile(
  claimedPath: string,
  changed: readonly string[],
  listPaths: () => Promise<readonly string[]>,
): Promise<FoundFile> {
  const [changedPath] = findMatchingPaths(claimedPath, changed);
  const paths = await listPaths();
  const matches = findMatchingPaths(claimedPath, paths);
  if (changedPath !== undefined && matches.includes(changedPath)) return { path: changedPath };
  const [first] = matches;
  if (first !== undefined) return { path: first };

  return outsidePath.test(claimedPath) ? "elsewhere" : null;
}

/** A path of the machine, or of what is installed or built. */
const outsidePath =
  /^(?:\/|~|\.\.\/)|(?:^|\/)(?:node_modules|vendor|\.venv|site-packages|target|dist|build)\//;

function findMatchingPaths(claimedPath: string, paths: readonly string[]): readonly string[] {
  const path = claimedPath.replace(/^\.\//, "");
  if (paths.includes(path)) return [path];
  const isAbsolute = path.startsWith("/");

  return paths.filter((candidate) =>
    isAbsolute ? path.endsWith(`/${candidate}`) : candidate.endsWith(`/${path}`),
  );
}

/**
 * Git's empty tree, in SHA-256 or SHA-1. It exists in every repository; the difference from it is
 * every file.
 */
const getEmptyTree = (commit: GitSha): GitSha =>
  commit.length === 64
    ? "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
    : "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/** Calls `load` at the first call only, and returns its promise every time. */
function once<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let promise: Promise<Value> | null = null;
  return () => (promise ??= load());
}
