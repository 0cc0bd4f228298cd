// dangling-references: finds references in documents to things that do not exist: positions in
// files, commits, logs, commands of the project.
//
// Invariants:
//   D1. Only documents that the run itself changed are judged.
//   D2. A reference to something that existed before the work is not dangling.

import { listSome } from "../../kit/list-some.ts";
import type { GitSha } from "../../contracts/ids.ts";
import type { ProofFailure, ProveRequest } from "../../ports/verifier.ts";
import { extractReturnClaims } from "../claims/return-claims.ts";
import type { OpenParts } from "../verifier-parts.ts";
import {
  type Citation,
  findCitedFiles,
  findCitations,
  findInventedQuotes,
  findMissingLogs,
  findMissingCitations,
} from "./citations.ts";
import { findCommitNames } from "./commit-names.ts";
import type { GateFacts } from "./gate-facts.ts";
import { type CommandTree, findMissingCommands } from "./named-commands.ts";
import { readProjectCommands } from "./project-commands.ts";

type DanglingRequest = Pick<ProveRequest, "attempt" | "base" | "commit" | "changed">;

const documentsMax = 500;
const citedShownMax = 10;
const citedBytesMax = 512 * 1024;
/** So many cited paths are searched in the history; each costs a process. */
const historyMax = 50;
/**
 * Files that people read as text. Logs are what a tool printed, and a program's comments are no
 * report.
 */
const isDocument = (path: string): boolean =>
  /\.(?:md|markdown|mdx|rst|adoc|org|txt|text|html?|json)$|(?:^|\/)[^./]+$/i.test(path);

/**
 * One failure for each document of the run that names something nonexistent. `judged`: the files
 * that decided a gate.
 */
export async function findDanglingReferences(
  parts: OpenParts,
  request: DanglingRequest,
  judged: readonly string[],
  facts: GateFacts,
): Promise<readonly ProofFailure[]> {
  const { workspace } = parts;
  const { attempt, base, commit, changed } = request;
  const { files, isWhole, read } = facts;
  const documents = judged.filter(isDocument);
  if (documents.length === 0 || !isWhole) return [];

  const changedByRun = new Set(
    base === undefined
      ? changed
      : (await workspace.differences(base, commit)).map(({ path }) => path),
  );
  const documentsOfRun = documents.filter((path) => changedByRun.has(path)).slice(0, documentsMax); // D1
  if (documentsOfRun.length === 0) return [];
  const commands = await readCommands(workspace, base, files, read);
  const currentPaths = new Set(files.keys());
  const citedFiles = await openCitedFiles(parts, request, facts);
  const failures: ProofFailure[] = [];

  for (const file of documentsOfRun) {
    const document = read(file);
    const text = document === null || document.fault !== undefined ? "" : document.text;
    const citations = [
      ...findCitations(text),
      ...(file.endsWith(".json") ? findJsonCitations(text) : []),
    ];
    await citedFiles.load(citations);
    const unknownCommits: string[] = [];

    for (const name of findCommitNames(text)) {
      if ((await workspace.hasCommit(attempt, name)) === false) {
        unknownCommits.push(`commit ${name}`);
      }
    }

    const dangling = [
      ...findMissingCitations(citations, citedFiles.tree),
      ...findInventedQuotes(text, citedFiles.tree),
      ...findMissingLogs(file, text, currentPaths),
      ...unknownCommits,
      ...findMissingCommands(text, commands),
    ];
    if (dangling.length > 0) failures.push(describeDangling(file, dangling));
  }

  return failures;
}

const describeDangling = (file: string, dangling: readonly string[]): ProofFailure => ({
  rule: "citations",
  file,
  found: `names what is not there (${listSome(dangling, citedShownMax)})`,
  expected:
    "places, commits, logs and commands that exist; what a tool printed belongs in a code block",
});

type CitedFiles = {
  /** Reads the files that these citations name into `tree`. */
  readonly load: (citations: readonly Citation[]) => Promise<void>;
  readonly tree: Parameters<typeof findMissingCitations>[1];
};

/**
 * The files that documents cite, as they are now and were before the work; each is looked up once.
 * D2
 */
async function openCitedFiles(
  { workspace, isLater }: OpenParts,
  { base, commit }: DanglingRequest,
  facts: GateFacts,
): Promise<CitedFiles> {
  const { files, read } = facts;
  const paths = new Set([
    ...files.keys(),
    ...(base === undefined ? [] : await workspace.pathsAt(base)),
  ]);

  const texts = new Map<string, readonly string[] | null>();
  const history = new Map<string, boolean>();

  const readTexts = async (path: string): Promise<readonly string[] | null> => {
    const textNow = files.has(path) ? read(path) : null;
    const textBefore =
      base === undefined ? null : await workspace.textAt(base, path, citedBytesMax);

    if (files.has(path) && (textNow === null || textNow.fault !== undefined || !textNow.isWhole)) {
      return null;
    }

    const versions = [textNow?.text ?? null, textBefore].filter((text) => text !== null);
    return versions.length === 0 ? null : versions;
  };

  const load = async (citations: readonly Citation[]): Promise<void> => {
    for (const [path, candidates] of findCitedFiles(citations, paths)) {
      for (const candidate of candidates) {
        if (!texts.has(candidate)) texts.set(candidate, await readTexts(candidate));
      }

      if (
        candidates.length === 0 &&
        !history.has(path) &&
        history.size < historyMax &&
        isLater !== undefined
      ) {
        history.set(path, await existedBefore(isLater, commit, path.replace(/^\.\//, "")));
      }
    }
  };

  return {
    load,
    tree: {
      paths,
      texts: (path) => texts.get(path) ?? null,
      hadBefore: (path) => history.get(path) === true,
    },
  };
}

/**
 * A path is never later than itself: the answer is null only if no commit of the history has the
 * path.
 */
const existedBefore = async (
  isLater: NonNullable<OpenParts["isLater"]>,
  commit: GitSha,
  path: string,
): Promise<boolean> => (await isLater(commit, path, path)) !== null;

/** Positions in fields: `{ "file": "src/sum.js", "line": 12 }`. */
function findJsonCitations(text: string): readonly Citation[] {
  try {
    return extractReturnClaims({ all: [JSON.parse(text)] }).flatMap((claim) =>
      claim.kind === "file_line"
        ? [{ path: claim.path, lines: [claim.firstLine ?? claim.line, claim.line] as const }]
        : [],
    );
  } catch {
    return [];
  }
}

/** The project's own commands, now and before the work. */
function readCommands(
  workspace: OpenParts["workspace"],
  base: GitSha | undefined,
  files: GateFacts["files"],
  read: GateFacts["read"],
): Promise<CommandTree> {
  const readNow = async (path: string): Promise<string | null> => {
    const entryText = files.has(path) ? read(path) : null;
    return entryText === null || entryText.fault !== undefined ? null : entryText.text;
  };
  const readBase = async (path: string): Promise<string | null> =>
    base === undefined ? null : workspace.textAt(base, path, citedBytesMax);

  return readProjectCommands({ paths: [...files.keys()], read: readNow }, readBase);
}
