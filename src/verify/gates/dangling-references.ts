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

export async function findDanglingReferences(
  { workspace, isLater }: OpenParts,
  { attempt, base, commit, changed }: ProveRequest,
  judged: readonly string[],
  { files, isWhole, read }: GateFacts,
): Promise<readonly ProofFailure[]> {
  const documents = judged.filter(isDocument);
  if (documents.length === 0 || !isWhole) return [];
  const changedByRun = new Set(base === undefined ? changed : (await workspace.differences(base, commit)).map(({ path }) => path));
  const documentsOfRun = documents.filter((path) => changedByRun.has(path)).slice(0, documentsMax); // D1
  if (documentsOfRun.length === 0) return [];
  const commands = await readCommands(workspace, base, files, read);
  const now = new Set(files.keys());
  const paths = new Set([...now, ...(base === undefined ? [] : await workspace.pathsAt(base))]); // D2
  const texts = new Map<string, readonly string[] | null>();
  const readTexts = async (path: string): Promise<readonly string[] | null> => {
    const [textNow, textBefore] = [
      now.has(path) ? read(path) : null,
      base === undefined ? null : await workspace.textAt(base, path, citedBytesMax),
    ];
    if (now.has(path) && (textNow === null || textNow.fault !== undefined || !textNow.isWhole)) return null;
    const found = [...(textNow === null ? [] : [textNow.text]), ...(textBefore === null ? [] : [textBefore])];
    return found.length === 0 ? null : found;
  };
  const history = new Map<string, boolean>();
  const failures: ProofFailure[] = [];
  for (const file of documentsOfRun) {
    const document = read(file);
    const prose = document === null || document.fault !== undefined ? "" : document.text;
    const citations = [...findCitations(prose), ...(file.endsWith(".json") ? jsonCitations(prose) : [])];
    for (const [path, candidates] of citedFiles(citations, paths)) {
      for (const candidate of candidates) if (!texts.has(candidate)) texts.set(candidate, await readTexts(candidate));
      if (candidates.length === 0 && !history.has(path) && history.size < historyMax && isLater !== undefined)
        history.set(path, (await isLater(commit, path.replace(/^\.\//, ""), path.replace(/^\.\//, ""))) !== null);
    }
    const unknownCommits: string[] = [];
    for (const name of findCommitNames(prose)) if (!(await workspace.hasCommit(attempt, name))) unknownCommits.push(`commit ${name}`);
    const tree = { paths, texts: (path: string) => texts.get(path) ?? null, hadBefore: (path: string) => history.get(path) === true };
    const dangling = [
      ...missingCitations(citations, tree),
      ...findInventedQuotes(prose, tree),
      ...findMissingLogs(file, prose, now),
      ...unknownCommits,
      ...findMissingCommands(prose, commands),
    ];
    if (dangling.length === 0) continue;
    const more = dangling.length > citedShownMax ? ` and ${dangling.length - citedShownMax} more` : "";
    const found = `names what is not there (${dangling.slice(0, citedShownMax).join(", ")}${more})`;
    failures.push({
      rule: "citations",
      file,
      found,
      expected: "places, commits, logs and commands that exist; what a tool printed belongs in a code block",
    });
  }
  return failures;
}

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
