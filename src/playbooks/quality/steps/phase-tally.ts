// phase-tally: the result of a finished phase, counted by the runner in the commit it left.
//
// Invariants:
//   T1. A number that follows from a file is counted in the file; only others are taken from the agent's return.
//   T2. Of the agent's claims only what is on disk counts: a finding whose id the document names, a pass whose file exists.
//   T3. What was there before the run and was not touched by it is nothing that a phase has written.
//   T4. An earlier run's count for a phase that still holds is not replaced by zero.

import * as v from "valibot";
import type { Entry } from "../../../contracts/event.ts";
import { findFact, gateFact, GateFound, type PhaseTally, tallyFact } from "../../../contracts/quality-facts.ts";
import { terminalVerdicts } from "../../../contracts/quality-run.ts";
import { qualityReturns } from "../../../contracts/quality-returns.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import { keptReturn } from "./kept-return.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { countBugHeadings, findBugIds, countFindings, countIds, names, namesPattern } from "./counted-in.ts";
import { earlierEnd } from "./earlier-end.ts";
import { isClosedByEarlierDocuments, placeOfPhase } from "./phase-places.ts";
import { openQualityTree, type QualityTree } from "./quality-tree.ts";
import { treeReconciliation } from "./reconciliation.ts";

type StepInput = FunctionInput<RunView, CursorView>;
type Parts = {
  readonly workspace: Pick<Workspace, "pathsAt" | "textAt" | "differences">;
  readonly entries: () => readonly Entry[];
  readonly readBlob: (hash: string) => Buffer | null;
};
type Counted = Pick<PhaseTally, "key_counts"> & Partial<PhaseTally> & { readonly gate?: GateFound };
type Counting = { readonly tree: QualityTree; readonly claim: unknown; readonly input: StepInput };

export function phaseTally(parts: Parts) {
  return {
    version: 1,
    effect: "none" as const,
    async perform(input: StepInput): Promise<FunctionResult> {
      const tree = await openQualityTree(parts.workspace, input.commit);
      const claim = keptReturn(parts.readBlob, input.cursor);
      const { gate, ...counted } = (await countings[input.cursor.phase]?.({ tree, claim, input })) ?? { key_counts: {} };
      const key_counts = withEarlier(parts, input, counted.key_counts);
      const artifacts = await tree.sized(await artifactsOf(parts, input, tree));
      const tally: PhaseTally = { patterns: [], findings: [], passes: [], ...counted, key_counts, artifacts: [...artifacts] };
      const facts = { ...key_counts, [tallyFact]: JSON.stringify(tally) };
      return { ok: true, facts: gate === undefined ? facts : { ...facts, [gateFact]: JSON.stringify(gate) } };
    },
  };
}

/** No agent was run here for a phase that an earlier run's documents prove, so what no file has is taken from that run's log. T4 */
function withEarlier({ readBlob }: Parts, { state, cursor }: StepInput, counted: PhaseTally["key_counts"]): PhaseTally["key_counts"] {
  const earlier = isClosedByEarlierDocuments(state, cursor.phase) ? earlierEnd(state, cursor.phase, readBlob) : null;
  if (earlier === null) return counted;
  const reported = Object.entries(counted).map(([name, value]) => {
    const said = earlier.key_counts[name];
    const isCount = value === 0 && typeof said === "number" && Number.isSafeInteger(said) && said > 0;
    const isVerdict = name === "gate_verdict" && v.is(v.picklist(terminalVerdicts), said);
    return [name, isCount || isVerdict ? said : value];
  });
  return Object.fromEntries(reported) as PhaseTally["key_counts"];
}

const countings: Readonly<Record<string, (counting: Counting) => Promise<Counted>>> = {
  "1": explored,
  "2": generated,
  "3": reviewed,
  "4": audited,
  "5": reconciled,
  "6": verified,
};

const claimOf = <Name extends keyof typeof qualityReturns>(
  name: Name,
  claim: unknown,
): v.InferOutput<(typeof qualityReturns)[Name]> | null => {
  const read = v.safeParse(qualityReturns[name], claim);
  return read.success ? read.output : null;
};

const uncategorized = "uncategorized";

async function explored({ tree, claim }: Counting): Promise<Counted> {
  const document = await tree.text("quality/EXPLORATION.md");
  const said = claimOf("quality.explore", claim);
  const findings = (said?.findings ?? []).filter((finding) => isWrittenDown(document, finding)); // T2
  const inFile = countFindings(document); // T1
  const patterns = patternsOnDisk(document, said?.patterns ?? [], inFile); // T2
  const walked = patterns.length > 0 ? patterns.length : allPatterns.filter((pattern) => namesPattern(document, pattern)).length;
  return {
    key_counts: { findings_total: inFile > 0 ? inFile : findings.length, patterns_walked: walked },
    findings: findings.map(({ id, category }) => ({ id, category: category ?? uncategorized })),
    patterns: patterns.map(({ pattern, findings_count }) => ({ pattern, findings_count })),
  };
}

type Found = { readonly id: string; readonly file?: string | undefined; readonly line?: unknown; readonly title?: string | undefined };

/** A finding is on disk where the document has its id, its title, or the place it is about. */
const isWrittenDown = (document: string | null, { id, file, line, title }: Found): boolean =>
  names(document, id) ||
  (title !== undefined && (document ?? "").includes(title)) ||
  (file !== undefined && (typeof line === "number" || typeof line === "string") && names(document, `${file}:${line}`));

const allPatterns = [1, 2, 3, 4, 5, 6, 7];
type PatternCount = { readonly pattern: number; readonly findings_count: number };

/** A document with patterns shows which were run; without any only the number of findings can be compared with the claim. */
function patternsOnDisk(document: string | null, claimedPatternCounts: readonly PatternCount[], findings: number): readonly PatternCount[] {
  const each = [...new Map(claimedPatternCounts.map((patternCount) => [patternCount.pattern, patternCount])).values()].toSorted(
    (a, b) => a.pattern - b.pattern,
  );
  if (allPatterns.some((pattern) => namesPattern(document, pattern))) return each.filter(({ pattern }) => namesPattern(document, pattern));
  return each.reduce((sum, { findings_count }) => sum + findings_count, 0) <= findings ? each : [];
}

async function generated({ tree, claim }: Counting): Promise<Counted> {
  const said = claimOf("quality.generate", claim);
  const promoted = said?.promoted.length ?? countIds(await tree.text("quality/REQUIREMENTS.md"), "REQ");
  return { key_counts: { findings_promoted: promoted, findings_dropped: said?.dropped?.length ?? 0 } };
}

async function reviewed({ tree, claim }: Counting): Promise<Counted> {
  const document = await tree.text("quality/BUGS.md");
  const inFile = new Set(findBugIds(document));
  const said = claimOf("quality.review", claim);
  const claimed = (said?.bugs ?? []).filter(({ id }) => inFile.has(id)); // T2
  const category = (id: string): string => claimed.map((bug) => (bug.id === id ? bug["category"] : null)).find(isText) ?? "code-bug";
  return {
    key_counts: { bugs_identified: countBugHeadings(document), bug_writeups: tree.matching(/^quality\/writeups\/BUG-[^/]+\.md$/).length },
    findings: [...inFile].map((id) => ({ id, category: category(id) })),
  };
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

async function audited({ tree, claim }: Counting): Promise<Counted> {
  const said = claimOf("quality.audit", claim);
  const requirements = await tree.text("quality/REQUIREMENTS.md");
  const [requirementsInFile, casesInFile] = [countIds(requirements, "REQ"), countIds(requirements, "UC")]; // T1
  const triages = tree.matching(/^quality\/spec_audits\/[^/]*-triage\.md$/).length;
  const auditors = tree.matching(/^quality\/spec_audits\/[^/]*-auditor-[^/]*\.md$/).length;
  const passes = [...new Map((said?.passes ?? []).map((pass) => [pass.pass, pass])).values()]
    .filter(({ output_artifact: file }) => file !== undefined && tree.has(file.replace(/^\.\//, ""))) // T2
    .map(({ pass, output_artifact: file }) => ({ pass, ...(file === undefined ? {} : { output_artifact: file.replace(/^\.\//, "") }) }))
    .toSorted((a, b) => (a.pass < b.pass ? -1 : 1));
  return {
    key_counts: {
      req_count: requirementsInFile > 0 ? requirementsInFile : (said?.req_count ?? 0),
      uc_count: casesInFile > 0 ? casesInFile : (said?.uc_count ?? 0),
      passes_complete: passes.length, // auditors' files aren't passes: which pass each belongs to is unknown
    },
    passes,
    auditors,
    triages,
  };
}

async function reconciled({ tree }: Counting): Promise<Counted> {
  const gate = treeReconciliation(tree, findBugIds(await tree.text("quality/BUGS.md")));
  const failures = gate.checks.filter(({ verdict }) => verdict === "fail").length;
  return { key_counts: { gate_checks_total: gate.checks.length, gate_failures: failures }, gate };
}

async function verified({ tree, input }: Counting): Promise<Counted> {
  const outcomes = [input.cursor.last["do"], input.cursor.last["terminal"]];
  const gates = outcomes.flatMap((outcome) => (outcome === undefined ? [] : (findFact(outcome.facts, gateFact, GateFound) ?? [])));
  return {
    key_counts: {
      bugs_md_count: countBugHeadings(await tree.text("quality/BUGS.md")),
      gate_verdict: gates[0]?.verdict ?? "pass",
    },
  };
}

/**
 * The files that commits of this visit changed and that are still there. Without any commit: those that are where the phase puts them, if
 * the phase was found done, or another phase of this run left them.
 */
async function artifactsOf(
  { entries, workspace }: Parts,
  { cursor, state, commit }: StepInput,
  tree: QualityTree,
): Promise<readonly string[]> {
  const { phase, visit } = cursor;
  const changed = new Set<string>();
  for (const entry of entries())
    if (entry.event === "changes_applied" && entry.attempt.startsWith(`${phase}@${visit}/`))
      for (const path of entry.paths) changed.add(path);
  const own = tree.paths.filter((path) => changed.has(path));
  if (own.length > 0) return own;
  const placed = tree.matching(placeOfPhase(phase));
  if (placed.length === 0 || isClosedByEarlierDocuments(state, phase)) return placed;
  const made = new Set((await workspace.differences(state.drafted.base.commit, commit)).map(({ path }) => path));
  return placed.filter((path) => made.has(path)); // T3
}
