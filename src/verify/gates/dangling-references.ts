// dangling-references: finds what documents name and what does not exist: positions in files, commits, logs, commands of the project.
//
// Invariants:
//   D1. Only documents that the run itself changed are judged.
//   D2. What exists now or existed before the work exists.

import type { GitSha } from "../../contracts/ids.ts";
import type { ProofFailure, Verifier } from "../../ports/verifier.ts";
import { returnClaims } from "../claims/handed.ts";
import type { OpenParts } from "../parts.ts";
import {
  type Citation,
  citedFiles,
  findCitations,
  findCommitNames,
  findInventedQuotes,
  findMissingLogs,
  missingCitations,
} from "./citations.ts";
import type { GateFacts } from "./gate-facts.ts";
import { type CommandTree, findMissingCommands, scriptsIn, targetsIn } from "./named-commands.ts";

type ProveRequest = Pick<Parameters<Verifier["prove"]>[0], "attempt" | "base" | "commit" | "changed">;

const documentsMax = 500;
const citedShownMax = 10;
const citedBytesMax = 512 * 1024;
const historyMax = 50;
/** What people read; a log is what a tool printed, and a program's comments aren't its report. */
const isDocument = (path: string): boolean => /\.(?:md|markdown|mdx|rst|adoc|org|txt|text|html?|json)$|(?:^|\/)[^./]+$/i.test(path);

/** What the documents of the run name and nobody can find, a failure for each document. */
export async function findDanglingReferences(
  parts: OpenParts,
  request: ProveRequest,
  judged: readonly string[],
  facts: GateFacts,
): Promise<readonly ProofFailure[]> {
  const { workspace } = parts;
  const { attempt, base, commit, changed } = request;
  const { files, isWhole, read } = facts;
  const documents = judged.filter(isDocument);
  if (documents.length === 0 || !isWhole) return [];
  const changedByRun = new Set(base === undefined ? changed : (await workspace.differences(base, commit)).map(({ path }) => path));
  const documentsOfRun = documents.filter((path) => changedByRun.has(path)).slice(0, documentsMax); // D1
  if (documentsOfRun.length === 0) return [];
  const commands = await readCommands(workspace, base, files, read);
  const now = new Set(files.keys());
  const cited = await openCitedFiles(parts, request, facts);
  const failures: ProofFailure[] = [];
  for (const file of documentsOfRun) {
    const document = read(file);
    const prose = document === null || document.fault !== undefined ? "" : document.text;
    const citations = [...findCitations(prose), ...(file.endsWith(".json") ? jsonCitations(prose) : [])];
    await cited.look(citations);
    const unknownCommits: string[] = [];
    for (const name of findCommitNames(prose)) if (!(await workspace.hasCommit(attempt, name))) unknownCommits.push(`commit ${name}`);
    const dangling = [
      ...missingCitations(citations, cited.tree),
      ...findInventedQuotes(prose, cited.tree),
      ...findMissingLogs(file, prose, now),
      ...unknownCommits,
      ...findMissingCommands(prose, commands),
    ];
    if (dangling.length > 0) failures.push(describeDangling(file, dangling));
  }
  return failures;
}

function describeDangling(file: string, dangling: readonly string[]): ProofFailure {
  const more = dangling.length > citedShownMax ? ` and ${dangling.length - citedShownMax} more` : "";
  return {
    rule: "citations",
    file,
    found: `names what is not there (${dangling.slice(0, citedShownMax).join(", ")}${more})`,
    expected: "places, commits, logs and commands that exist; what a tool printed belongs in a code block",
  };
}

type CitedFiles = {
  /** Reads what these citations name, so that the tree can answer for it. */
  readonly look: (citations: readonly Citation[]) => Promise<void>;
  readonly tree: Parameters<typeof missingCitations>[1];
};

/** The files that documents cite, as they are now and were before the work; each is looked up once. D2 */
async function openCitedFiles({ workspace, isLater }: OpenParts, { base, commit }: ProveRequest, facts: GateFacts): Promise<CitedFiles> {
  const { files, read } = facts;
  const paths = new Set([...files.keys(), ...(base === undefined ? [] : await workspace.pathsAt(base))]);
  const texts = new Map<string, readonly string[] | null>();
  const history = new Map<string, boolean>();
  const readTexts = async (path: string): Promise<readonly string[] | null> => {
    const textNow = files.has(path) ? read(path) : null;
    const textBefore = base === undefined ? null : await workspace.textAt(base, path, citedBytesMax);
    if (files.has(path) && (textNow === null || textNow.fault !== undefined || !textNow.isWhole)) return null;
    const found = [...(textNow === null ? [] : [textNow.text]), ...(textBefore === null ? [] : [textBefore])];
    return found.length === 0 ? null : found;
  };
  const look = async (citations: readonly Citation[]): Promise<void> => {
    for (const [path, candidates] of citedFiles(citations, paths)) {
      for (const candidate of candidates) if (!texts.has(candidate)) texts.set(candidate, await readTexts(candidate));
      if (candidates.length === 0 && !history.has(path) && history.size < historyMax && isLater !== undefined)
        history.set(path, await existedBefore(isLater, commit, path.replace(/^\.\//, "")));
    }
  };
  return { look, tree: { paths, texts: (path) => texts.get(path) ?? null, hadBefore: (path) => history.get(path) === true } };
}

/** A path is never later than itself: the answer is null only if no commit of the history has the path. */
const existedBefore = async (isLater: NonNullable<OpenParts["isLater"]>, commit: GitSha, path: string): Promise<boolean> =>
  (await isLater(commit, path, path)) !== null;

/** Positions in fields: `{ "file": "src/sum.js", "line": 12 }`. */
function jsonCitations(text: string): readonly Citation[] {
  try {
    return returnClaims({ all: [JSON.parse(text)] }).flatMap((claim) =>
      claim.kind === "file_line" ? [{ path: claim.path, lines: [claim.firstLine ?? claim.line, claim.line] as const }] : [],
    );
  } catch {
    return [];
  }
}

const manifestsMax = 50;
/** The project's own commands, now and before the work. */
async function readCommands(
  workspace: OpenParts["workspace"],
  base: GitSha | undefined,
  files: GateFacts["files"],
  read: GateFacts["read"],
): Promise<CommandTree> {
  const readBase = async (path: string): Promise<string> =>
    (base === undefined ? null : await workspace.textAt(base, path, citedBytesMax)) ?? "";
  const readNow = (path: string): string | null => {
    const entryText = files.has(path) ? read(path) : null;
    return entryText === null || entryText.fault !== undefined ? null : entryText.text;
  };
  const manifests = [...files.keys()].filter((path) => /(?:^|\/)package\.json$/.test(path));
  const scripts = manifests.slice(0, manifestsMax).map((path) => scriptsIn(readNow(path) ?? ""));
  const makefile = ["GNUmakefile", "makefile", "Makefile"].find((path) => files.has(path));
  const targets = makefile === undefined ? null : targetsIn(readNow(makefile) ?? "include unread");
  const baseNames = {
    scripts: scriptsIn(await readBase("package.json")) ?? [],
    targets: targetsIn(makefile === undefined ? "" : await readBase(makefile)) ?? [],
  };
  return {
    paths: new Set(files.keys()),
    scripts:
      scripts.length === 0 || manifests.length > manifestsMax || scripts.includes(null)
        ? null
        : new Set([...scripts.flatMap((names) => names ?? []), ...baseNames.scripts]),
    targets: targets === null ? null : new Set([...targets, ...baseNames.targets]),
  };
}
