// prove-artifacts: judges artifact rules on a commit's tree, round by round: the facts that a rule needs are looked up, then it is judged
// again.
//
// Invariants:
//   A1. A gate's command runs with the base's protected files, as a check does: the agent may not change what judges it.
//   A2. A file that satisfies a gate without real content is reported and decides nothing: the gate is what its author wrote.
//   A3. Only what the run itself changed is measured: earlier content is not its claim.
//   A4. A document fails if it names a file position, a commit, a log or a project command that does not exist and did not exist before the
//       work.
// Invariants V1 and on: verify/verifier.ts.

import { createHash } from "node:crypto";
import type { Check, CheckResult } from "../../contracts/evidence.ts";
import type { GitSha } from "../../contracts/ids.ts";
import type { PlaceholderFile, ProofFailure, ProofResult, Verifier } from "../../ports/verifier.ts";
import { findCitations, findCommitNames, missingCitations, findMissingLogs } from "./citations.ts";
import type { FilePair, GateFacts } from "./gate-facts.ts";
import { type GateRequirement, judgeGates } from "./gates.ts";
import { type CommandTree, findMissingCommands, scriptsIn, targetsIn } from "./named-commands.ts";
import { placeholderReason, promptLines } from "./placeholder.ts";
import type { OpenParts } from "../parts.ts";
import { openMatcher } from "./pattern.ts";
import { runChecks } from "../run-checks.ts";
import { type Listing, listTree, textReader } from "./tree-facts.ts";

type ProveRequest = Parameters<Verifier["prove"]>[0];

const ordersMax = 500;
const filesMax = 500;

const cancelledResult = (checks: readonly CheckResult[]): ProofResult => ({
  holds: false,
  failures: [{ rule: "gate", file: null, found: "called off", expected: "judged" }],
  checks,
});

export async function prove(parts: OpenParts, request: ProveRequest): Promise<ProofResult> {
  if (request.cancel.aborted) return cancelledResult([]);
  const folder = await parts.workspace.checkout(request.commit, "proof"); // V4
  try {
    return await judgeUntilDecided(parts, request, await listTree(parts.workspace.foldersOf(folder)));
  } finally {
    await parts.workspace.dropCheckout(folder);
  }
}

async function judgeUntilDecided(parts: OpenParts, request: ProveRequest, listing: Listing): Promise<ProofResult> {
  const checks: CheckResult[] = [];
  const commands = new Map<string, { readonly hasPassed: boolean; readonly found: string }>();
  const orders = new Map<string, boolean | null>();
  const facts: GateFacts = {
    files: listing.entries,
    isWhole: listing.isWhole,
    read: textReader(listing),
    match: openMatcher(),
    changed: new Set(request.changed),
    isNewer: (path, than) => orders.get(pairKey([path, than])),
    commandResult: (command) => commands.get(command),
  };
  // Each round looks up everything that was missing, and the rules name finitely many facts, so this ends.
  for (;;) {
    const { holds, failures, missing, satisfied } = judgeGates(request.gates, facts);
    if (missing.commands.length === 0 && missing.orders.length === 0) {
      const citationFailures = holds ? await findDanglingReferences(parts, request, satisfied, facts) : [];
      if (citationFailures.length > 0) return { holds: false, failures: citationFailures, checks };
      return { holds, failures, checks, ...(holds ? await classifyContent(parts, request, satisfied, facts) : {}) };
    }
    for (const pair of missing.orders)
      orders.set(pairKey(pair), orders.size < ordersMax ? await isNewer(parts, request.commit, pair) : null);
    for (const command of missing.commands) {
      const results = await runChecks(parts, { ...request, checks: [buildProofCheck(command)] }); // A1
      checks.push(...results);
      const result = results.find(({ check: { kind } }) => kind === "proof");
      if (result === undefined || request.cancel.aborted) return cancelledResult(checks);
      commands.set(command, { hasPassed: result.status === "passed", found: describeResult(result, request) });
    }
  }
}

/** Documents among the accepted files with dangling references (A3, A4). */
async function findDanglingReferences(
  { workspace }: OpenParts,
  { attempt, base, commit, changed }: ProveRequest,
  satisfied: ReadonlyMap<string, GateRequirement>,
  { files, isWhole, read }: GateFacts,
): Promise<readonly ProofFailure[]> {
  const documents = [...satisfied.keys()].filter((path) => /\.(?:md|markdown|rst|adoc|txt)$/i.test(path));
  if (documents.length === 0 || !isWhole) return [];
  const changedByRun = new Set(base === undefined ? changed : (await workspace.differences(base, commit)).map(({ path }) => path));
  const failures: ProofFailure[] = [];
  const documentsOfRun = documents.filter((path) => changedByRun.has(path)).slice(0, filesMax);
  const commands = documentsOfRun.length === 0 ? null : await readCommands(workspace, base, files, read);
  for (const file of documentsOfRun) {
    const text = read(file);
    const prose = text === null || text.fault !== undefined ? "" : text.text;
    const citations = findCitations(prose);
    const linesBefore = new Map<string, number | null>();
    for (const path of new Set(citations.map((citation) => citation.path.replace(/^\.\//, ""))))
      linesBefore.set(path, await countLinesAt(workspace, base, path));
    const linesNow = (path: string): number | null => {
      const entryText = files.has(path) ? read(path) : null;
      return entryText === null || entryText.fault !== undefined ? null : countLines(entryText.text);
    };
    const lineCount = (path: string): number | null => {
      const [countNow, countBefore] = [linesNow(path), linesBefore.get(path) ?? null];
      return countNow === null || countBefore === null ? (countNow ?? countBefore) : Math.max(countNow, countBefore);
    };
    const paths = new Set(files.keys());
    const unknownCommits: string[] = [];
    for (const name of findCommitNames(prose)) if (!(await workspace.hasCommit(attempt, name))) unknownCommits.push(`commit ${name}`);
    const unknownCommands = commands === null ? [] : findMissingCommands(prose, commands);
    const dangling = [
      ...missingCitations(citations, { paths, lineCount }),
      ...findMissingLogs(file, prose, paths),
      ...unknownCommits,
      ...unknownCommands,
    ];
    if (dangling.length > 0) {
      const more = dangling.length > citedShownMax ? ` and ${dangling.length - citedShownMax} more` : "";
      const found = `names what is not there (${dangling.slice(0, citedShownMax).join(", ")}${more})`;
      failures.push({ rule: "citations", file, found, expected: "places, commits, logs and commands that exist" });
    }
  }
  return failures;
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

const citedShownMax = 10;
const citedBytesMax = 512 * 1024;
const countLines = (text: string): number => text.split("\n").length - (text.endsWith("\n") ? 1 : 0);

async function countLinesAt(workspace: OpenParts["workspace"], base: GitSha | undefined, path: string): Promise<number | null> {
  const text = base === undefined ? null : await workspace.textAt(base, path, citedBytesMax);
  return text === null ? null : countLines(text);
}

/** Which of the accepted files have real content (A2, A3). */
async function classifyContent(
  { workspace }: OpenParts,
  { base, commit, changed, prompt }: ProveRequest,
  satisfied: ReadonlyMap<string, GateRequirement>,
  { files, read }: GateFacts,
): Promise<Pick<ProofResult, "hollow" | "solid">> {
  if (satisfied.size === 0) return {};
  const changedByRun = new Set(base === undefined ? changed : (await workspace.differences(base, commit)).map(({ path }) => path));
  const promptContext = prompt === undefined ? {} : { promptLines: promptLines(prompt) };
  const hollow: PlaceholderFile[] = [];
  const solid: string[] = [];
  for (const [file, { asksContent, minLines }] of [...satisfied].filter(([path]) => changedByRun.has(path)).slice(0, filesMax)) {
    // A gate that only asks for a file's existence may mean a marker, which is empty.
    const text = files.get(file)?.size === 0 && !asksContent ? null : read(file);
    if (text === null || text.fault !== undefined) continue;
    const why = placeholderReason(text.text, { path: file, minLines, ...promptContext });
    if (why === null) solid.push(file);
    else hollow.push({ file, why });
  }
  return { hollow, solid };
}

function pairKey(pair: FilePair): string {
  return JSON.stringify(pair);
}

async function isNewer({ isLater }: OpenParts, commit: GitSha, [path, than]: FilePair): Promise<boolean | null> {
  return isLater === undefined ? null : isLater(commit, path, than);
}

function buildProofCheck(command: string): Check {
  const id = `proof:${createHash("sha256").update(command).digest("hex").slice(0, 12)}`;
  return { id, kind: "proof", title: command, command, source: "the flow's proof" };
}

const protectedShownMax = 3;

function describeResult({ status, exit_code }: CheckResult, { oracles }: ProveRequest): string {
  const end = exit_code === null ? status : `${status} (exit ${exit_code})`;
  const paths = (oracles?.changes ?? []).map(({ path }) => path);
  if (paths.length === 0) return end;
  const more = paths.length > protectedShownMax ? ` and ${paths.length - protectedShownMax} more` : "";
  return `${end} with the base's ${paths.slice(0, protectedShownMax).join(", ")}${more}`;
}
