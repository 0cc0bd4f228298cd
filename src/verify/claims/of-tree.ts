// of-tree: compares claims about commits, files and lines with the commit the turn led to.
//
// Invariants:
//   T1. A failed lookup decides nothing.
//   T2. Lookups in git are bounded, and cached.

import type { AttemptId, GitSha } from "../../contracts/ids.ts";
import type { Workspace } from "../../ports/workspace.ts";
import {
  claimLimits,
  type CommitClaim,
  type CountClaim,
  type FileChangedClaim,
  type FileLineClaim,
  isFalse,
  isTrue,
  type NamedClaim,
  unverifiable,
  type Verdict,
} from "./said-claim.ts";
import { isNamedIn, listedIn } from "./listed-in.ts";
import { testsIn } from "./test-counts.ts";

export type ClaimsWorkspace = Pick<Workspace, "textAt" | "hasCommit" | "inspect" | "differences">;

export type TreeInput = {
  readonly attempt: AttemptId;
  readonly commit: GitSha;
  readonly changed: readonly string[];
  readonly parent?: GitSha;
  readonly base?: GitSha;
  readonly ignored?: number;
};

export type TreeLooks = {
  readonly commit: (claim: CommitClaim) => Promise<Verdict>;
  readonly fileLine: (claim: FileLineClaim) => Promise<Verdict>;
  readonly fileChanged: (claim: FileChangedClaim) => Promise<Verdict>;
  readonly count: (claim: CountClaim) => Promise<Verdict>;
  readonly named: (claim: NamedClaim) => Promise<Verdict>;
};

const linesNear = 3;
const tooMany = "There was too much to look up in one turn.";

export function openLooks(workspace: ClaimsWorkspace, input: TreeInput): TreeLooks {
  const texts = new Map<string, Promise<string | null>>();
  const textAt = (commit: GitSha, path: string): Promise<string | null> | null => {
    const key = `${commit} ${path}`;
    const known = texts.get(key);
    if (known !== undefined) return known;
    if (texts.size >= claimLimits.filesMax) return null; // T2
    const reading = workspace.textAt(commit, path, claimLimits.fileBytesMax);
    texts.set(key, reading);
    return reading;
  };
  const listed = once(async () => (await workspace.differences(emptyTreeFor(input.commit), input.commit)).map(({ path }) => path));
  const sinceBase = once(async () =>
    input.base === undefined ? [] : (await workspace.differences(input.base, input.commit)).map(({ path }) => path),
  );
  /** The texts of those among the paths that are documents. */
  const documents = async (paths: readonly string[]): Promise<Documents> => {
    const wanted = [...new Set(paths)].filter((path) => /\.(?:md|markdown|mdx|txt|rst|adoc)$/i.test(path));
    const readings = wanted.map((path) => textAt(input.commit, path) ?? Promise.resolve(null));
    const texts = (await Promise.all(readings)).filter((text) => text !== null);
    return { texts, isWhole: texts.length === wanted.length };
  };
  const hasLayer = once(async () => (await workspace.inspect(input.attempt, null)).layer !== "absent");
  let commits = 0;

  return {
    commit: async ({ sha }) => {
      if (!/^[0-9a-f]{7,64}$/.test(sha)) return isFalse("This is no name of a commit.");
      if (input.commit.startsWith(sha)) return isTrue("It is the commit the runner made of this turn.");
      if ((commits += 1) > claimLimits.commitsMax) return unverifiable(tooMany); // T2
      if (await workspace.hasCommit(input.attempt, sha)) return isTrue("The commit is there.");
      if (!(await hasLayer())) return unverifiable("The agent's own repository is no longer there."); // T1
      return isFalse("Neither the agent's own repository nor yours holds such a commit.");
    },

    fileLine: async (claim) => {
      const found = await placed(claim.path, input.changed, listed);
      if (found === "elsewhere") return unverifiable("It lies outside the repository's own files.");
      if (found === null) return isFalse(`There is no file ${claim.path} in the commit.`);
      const { path } = found;
      const reading = textAt(input.commit, path);
      if (reading === null) return unverifiable(tooMany);
      const text = await reading;
      if (text === null) return unverifiable(`${path} is no text, or is too large to be looked at.`); // T1
      return lineIn(path, text, claim);
    },

    fileChanged: async ({ path: named }) => {
      if (matching(named, input.changed).length > 0) return isTrue("This turn changed it.");
      if (matching(named, await sinceBase()).length > 0) return isTrue("This run changed it, in an earlier turn.");
      const found = await placed(named, input.changed, listed);
      if (found === "elsewhere") return unverifiable("It lies outside the repository's own files.");
      if (found === null && (input.ignored ?? 0) > 0) return unverifiable("It may be among the files git ignores, which are not kept.");
      return isFalse(found === null ? `There is no ${named} in the commit.` : `${found.path} is as it was.`);
    },

    named: async ({ id }) => {
      const { texts, isWhole } = await documents([...input.changed, ...(await sinceBase())]);
      if (texts.some((text) => isNamedIn(text, id))) return isTrue("A document of this run names it.");
      if (texts.length === 0 || !isWhole) return unverifiable("No document of this run could be looked at for it.");
      return isFalse("No document of this run names it.");
    },

    count: async ({ what, n, noun = "" }) => {
      if (what === "listed") return ofList(n, noun, await documents(input.changed));
      if (what === "files_changed") return counted(n, input.changed.length, false, "files", "changed");
      if (what === "tests_added") return testsAdded(n, input, textAt);
      return unverifiable("The runner does not count this.");
    },
  };
}

function lineIn(path: string, text: string, { line, name, isOfRemoval }: FileLineClaim): Verdict {
  const lines = text.split("\n");
  const last = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  if (line < 1 || line > last) return isFalse(`${path} has ${last} lines.`);
  if (name === null) return isTrue(`${path} has such a line.`);
  const near = lines.slice(Math.max(0, line - 1 - linesNear), line + linesNear);
  const word = new RegExp(`(?<![\\w$])${name.replaceAll("$", "\\$")}(?![\\w$])`);
  if (near.some((one) => word.test(one))) return isTrue(`${name} is there.`);
  if (isOfRemoval) return unverifiable(`The line is there, ${name} is not; it may be what was taken away.`);
  const elsewhere = lines.findIndex((one) => word.test(one));
  return isFalse(`${name} is not there${elsewhere < 0 ? ", nor anywhere in the file" : `; it is on line ${elsewhere + 1}`}.`);
}

type Documents = { readonly texts: readonly string[]; readonly isWhole: boolean };

/** A claimed number of findings, compared with what the turn's documents list, in any style. */
function ofList(n: number, noun: string, { texts, isWhole }: Documents): Verdict {
  if (texts.length === 0 || !isWhole) return unverifiable("No document of this turn could be looked at for them.");
  const { counts, entries } = listedIn(texts, noun);
  if (counts.includes(n)) return isTrue(`The documents of this turn list ${n}.`);
  const most = Math.max(0, ...counts);
  if (most > 0 && most < n) return isFalse(`The documents of this turn list ${most}.`);
  return entries < n
    ? isFalse(`The documents of this turn hold ${entries} headings and entries in all.`)
    : unverifiable("The documents of this turn do not list them in a way that can be counted.");
}

type TextAt = (commit: GitSha, path: string) => Promise<string | null> | null;

async function testsAdded(n: number, { commit, parent, changed }: TreeInput, textAt: TextAt): Promise<Verdict> {
  if (parent === undefined) return unverifiable("What was there before the turn is not known.");
  let added = 0;
  let isLeast = false;
  for (const path of changed) {
    if (testsIn(path, "") === null) continue;
    const [now, before] = [textAt(commit, path), textAt(parent, path)];
    if (now === null || before === null) return unverifiable(tooMany);
    const [after, old] = [testsIn(path, (await now) ?? ""), testsIn(path, (await before) ?? "")];
    added += (after?.count ?? 0) - (old?.count ?? 0);
    isLeast ||= after?.isLeast ?? false;
  }
  return counted(n, Math.max(0, added), isLeast, "tests", "added");
}

function counted(said: number, found: number, isLeast: boolean, things: string, done: string): Verdict {
  if (found === said) return isTrue(`${found} ${things} were ${done}.`);
  if (found > said || isLeast) return unverifiable(`At least ${found} ${things} were ${done}.`);
  return isFalse(`${found} ${things} were ${done}.`);
}

/** The file of the commit that is meant: by its whole path, or by a suffix that only one path has. */
async function placed(
  named: string,
  changed: readonly string[],
  listed: () => Promise<readonly string[]>,
): Promise<{ readonly path: string } | "elsewhere" | null> {
  const [mine] = matching(named, changed);
  const all = await listed();
  const found = matching(named, all);
  if (mine !== undefined && found.includes(mine)) return { path: mine };
  const [first] = found;
  if (first !== undefined) return { path: first };
  return /^(?:\/|~|\.\.\/)|(?:^|\/)(?:node_modules|vendor|\.venv|site-packages|target|dist|build)\//.test(named) ? "elsewhere" : null;
}

function matching(named: string, paths: readonly string[]): readonly string[] {
  const path = named.replace(/^\.\//, "");
  if (paths.includes(path)) return [path];
  const isAbsolute = path.startsWith("/");
  return paths.filter((one) => (isAbsolute ? path.endsWith(`/${one}`) : one.endsWith(`/${path}`)));
}

/** The empty tree exists in every repository; the difference from it is everything. */
const emptyTreeFor = (commit: GitSha): GitSha =>
  commit.length === 64 ? "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321" : "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | null = null;
  return () => (made ??= make());
}
