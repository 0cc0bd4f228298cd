// prove-artifacts: judges the artifact rules of a flow on a commit's tree, in rounds: facts that a
// rule lacks are looked up, then all rules are judged again.
//
// Invariants:
//   A1. A gate's command runs with the base's protected files, as a check does: the agent may not
//       change what judges it.
//   A2. A file that satisfies a gate without real content is reported and decides nothing: the gate
//       is what its author wrote.
//   A3. Only what the run itself changed is measured: earlier content is not its claim.
//   A4. A document that decides a gate fails it if it names a file position, a commit, a log or a
//       project command that does not exist and did not exist before the work.
//   A5. The rules read a checkout in which no command runs.

import { listSome } from "../../kit/list-some.ts";
import { createHash } from "node:crypto";
import type { Check, CheckResult } from "../../contracts/evidence.ts";
import type { GitSha } from "../../contracts/ids.ts";
import type { PlaceholderFile, ProofResult, ProveRequest } from "../../ports/verifier.ts";
import { findDanglingReferences } from "./dangling-references.ts";
import type { FilePair, GateFacts } from "./gate-facts.ts";
import { type GateRequirement, type Judgement, judgeGates } from "./gates.ts";
import { explainPlaceholder, parsePromptLines } from "./placeholder.ts";
import type { OpenParts } from "../verifier-parts.ts";
import { openMatcher } from "./pattern.ts";
import { runChecks } from "../run-checks.ts";
import { type Listing, listTree, createTextReader } from "./tree-facts.ts";

const pairsMax = 500;
const filesMax = 500;

const cancelledResult = (checks: readonly CheckResult[]): ProofResult => ({
  holds: false,
  failures: [{ rule: "gate", file: null, found: "called off", expected: "judged" }],
  checks,
});

export async function proveArtifacts(
  parts: OpenParts,
  request: ProveRequest,
): Promise<ProofResult> {
  if (request.cancel.aborted) return cancelledResult([]);
  const folder = await parts.workspace.checkout(request.commit, "proof"); // A5

  try {
    const listing = await listTree(parts.workspace.foldersOf(folder));
    return await judgeUntilDecided(parts, request, listing);
  } finally {
    await parts.workspace.dropCheckout(folder);
  }
}

async function judgeUntilDecided(
  parts: OpenParts,
  request: ProveRequest,
  listing: Listing,
): Promise<ProofResult> {
  const checks: CheckResult[] = [];
  const commands = new Map<string, { readonly hasPassed: boolean; readonly ending: string }>();
  const decidedPairs = new Map<string, boolean | null>();

  const facts: GateFacts = {
    files: listing.entries,
    isWhole: listing.isWhole,
    read: createTextReader(listing),
    match: openMatcher(),
    changed: new Set(request.changed),
    isNewer: (path, than) => decidedPairs.get(pairKey([path, than])),
    commandResult: (command) => commands.get(command),
  };

  // Each round looks up everything that was missing, and the rules name finitely many facts, so
  // this ends.
  for (;;) {
    const judgement = judgeGates(request.gates, facts);
    const { missing } = judgement;
    const isDecided = missing.commands.length === 0 && missing.undecidedPairs.length === 0;
    if (isDecided) return { ...(await inspectDocuments(parts, request, judgement, facts)), checks };

    for (const pair of missing.undecidedPairs) {
      const isAsked = decidedPairs.size < pairsMax;
      decidedPairs.set(pairKey(pair), isAsked ? await isNewer(parts, request.commit, pair) : null);
    }

    for (const command of missing.commands) {
      const results = await runChecks(parts, { ...request, checks: [buildProofCheck(command)] }); // A1
      checks.push(...results);
      const result = results.find(({ check: { kind } }) => kind === "proof");
      if (result === undefined || request.cancel.aborted) return cancelledResult(checks);
      commands.set(command, {
        hasPassed: result.status === "passed",
        ending: describeResult(result, request),
      });
    }
  }
}

/** The final judgement. Gates that hold are held against what their documents say (A2, A4). */
async function inspectDocuments(
  parts: OpenParts,
  request: ProveRequest,
  { holds, failures, satisfied, read }: Judgement,
  facts: GateFacts,
): Promise<Omit<ProofResult, "checks">> {
  if (!holds) return { holds, failures };

  const dangling = await findDanglingReferences(parts, request, [...read], facts);
  if (dangling.length > 0) return { holds: false, failures: dangling };

  return { holds, failures, ...(await classifyContent(parts, request, satisfied, facts)) };
}

/** Which of the accepted files have real content (A2, A3). */
async function classifyContent(
  { workspace }: OpenParts,
  { base, commit, changed, prompt }: ProveRequest,
  satisfied: ReadonlyMap<string, GateRequirement>,
  { files, read }: GateFacts,
): Promise<Pick<ProofResult, "hollow" | "solid">> {
  if (satisfied.size === 0) return {};

  const differences = base === undefined ? null : await workspace.differences(base, commit);
  const changedByRun = new Set(differences?.map(({ path }) => path) ?? changed);
  const measured = [...satisfied].filter(([path]) => changedByRun.has(path)).slice(0, filesMax); // A3

  const promptContext = prompt === undefined ? {} : { promptLines: parsePromptLines(prompt) };
  const hollow: PlaceholderFile[] = [];
  const solid: string[] = [];

  for (const [file, { asksContent, minLines }] of measured) {
    // A gate that only asks for a file's existence may mean a marker, which is empty.
    const text = files.get(file)?.size === 0 && !asksContent ? null : read(file);
    if (text === null || text.fault !== undefined) continue;

    const why = explainPlaceholder(text.text, { path: file, minLines, ...promptContext });
    if (why === null) solid.push(file);
    else hollow.push({ file, why });
  }

  return { hollow, solid };
}

function pairKey(pair: FilePair): string {
  return JSON.stringify(pair);
}

async function isNewer(
  { isLater }: OpenParts,
  commit: GitSha,
  [path, than]: FilePair,
): Promise<boolean | null> {
  return isLater === undefined ? null : isLater(commit, path, than);
}

function buildProofCheck(command: string): Check {
  const id = `proof:${createHash("sha256").update(command).digest("hex").slice(0, 12)}`;
  return { id, kind: "proof", title: command, command, source: "the flow's proof" };
}

function describeResult({ status, exit_code }: CheckResult, { fromBase }: ProveRequest): string {
  const end = exit_code === null ? status : `${status} (exit ${exit_code})`;
  const paths = (fromBase?.changes ?? []).map(({ path }) => path);
  return paths.length === 0 ? end : `${end} with the base's ${listSome(paths)}`;
}
