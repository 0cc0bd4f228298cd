// phase-tally: step that counts the results of a finished phase in its commit.
//
// Invariants:
//   T1. Whatever can be counted in a file is counted there; only other numbers come from the
//       agent's return.
//   T2. A claim of the agent counts only if it is on disk: a finding whose id the document
//       contains, a pass whose file exists.
//   T3. A file from before the run that the run did not change is not an artifact of a phase.
//   T4. An earlier run's count of a phase that is still proved is not replaced by zero.

import * as v from "valibot";
import type { Entry } from "../../../contracts/event.ts";
import {
  gateFact,
  type GateResult,
  type PhaseTally,
  tallyFact,
} from "../../../contracts/quality/quality-facts.ts";
import { terminalVerdicts } from "../../../contracts/quality/quality-run.ts";
import { qualityReturns } from "../../../contracts/quality/quality-returns.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import { readReturn } from "../../contract/agent-return.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import {
  countBugHeadings,
  findBugIds,
  countFindings,
  countIds,
  mentionsId,
  mentionsPattern,
} from "./count-in-documents.ts";
import { findEarlierEnd } from "./earlier-end.ts";
import { isClosedByEarlierDocuments, getArtifactPattern } from "./phase-artifacts.ts";
import { openQualityTree, type QualityTree } from "./quality-tree.ts";
import { judgeReconciliation } from "./reconciliation.ts";
import { findGate } from "./terminal-gate.ts";

type StepInput = FunctionInput<RunView, CursorView>;
type Parts = {
  readonly workspace: Pick<Workspace, "pathsAt" | "textAt" | "differences">;
  readonly entries: () => readonly Entry[];
  readonly readBlob: (hash: string) => Buffer | null;
};
type PhaseCounts = Pick<PhaseTally, "key_counts"> &
  Partial<PhaseTally> & { readonly gate?: GateResult };
type CountInput = {
  readonly tree: QualityTree;
  readonly claim: unknown;
  readonly input: StepInput;
};

/** The step `phase_tally`. */
export function createPhaseTallyStep(parts: Parts) {
  return {
    version: 1,
    effect: "none" as const,
    async perform(input: StepInput): Promise<FunctionResult> {
      const tree = await openQualityTree(parts.workspace, input.commit);
      const claim = readReturn(parts, input.cursor, "do");

      const { gate, ...counts } = (await countersByPhase[input.cursor.phase]?.({
        tree,
        claim,
        input,
      })) ?? { key_counts: {} };
      const key_counts = withEarlierCounts(parts, input, counts.key_counts);
      const artifacts = await tree.measure(await findArtifacts(parts, input, tree));

      const tally: PhaseTally = {
        patterns: [],
        findings: [],
        passes: [],
        ...counts,
        key_counts,
        artifacts: [...artifacts],
      };

      const facts = { ...key_counts, [tallyFact]: JSON.stringify(tally) };
      return {
        ok: true,
        facts: gate === undefined ? facts : { ...facts, [gateFact]: JSON.stringify(gate) },
      };
    },
  };
}

/**
 * If an earlier run's documents prove the phase, no agent was run, and counts that are in no file
 * come from that run's log. T4
 */
function withEarlierCounts(
  { readBlob }: Parts,
  { state, cursor }: StepInput,
  counts: PhaseTally["key_counts"],
): PhaseTally["key_counts"] {
  const earlier = isClosedByEarlierDocuments(state, cursor.phase)
    ? findEarlierEnd(state, cursor.phase, readBlob)
    : null;
  if (earlier === null) return counts;

  const merged = Object.entries(counts).map(([name, value]) => {
    const earlierValue = earlier.key_counts[name];
    const isCount =
      value === 0 &&
      typeof earlierValue === "number" &&
      Number.isSafeInteger(earlierValue) &&
      earlierValue > 0;

    const isVerdict = name === "gate_verdict" && v.is(v.picklist(terminalVerdicts), earlierValue);
    return [name, isCount || isVerdict ? earlierValue : value];
  });
  return Object.fromEntries(merged) as PhaseTally["key_counts"];
}

const countersByPhase: Readonly<Record<string, (input: CountInput) => Promise<PhaseCounts>>> = {
  "1": countExplored,
  "2": countGenerated,
  "3": countReviewed,
  "4": countAudited,
  "5": countReconciled,
  "6": countVerified,
};

/** The agent's return, if it has the schema of this name; else null. */
const parseClaim = <Name extends keyof typeof qualityReturns>(
  name: Name,
  claim: unknown,
): v.InferOutput<(typeof qualityReturns)[Name]> | null => {
  const parsed = v.safeParse(qualityReturns[name], claim);
  return parsed.success ? parsed.output : null;
};

const uncategorized = "uncategorized";

async function countExplored({ tree, claim }: CountInput): Promise<PhaseCounts> {
  const document = await tree.text("quality/EXPLORATION.md");
  const explored = parseClaim("quality.explore", claim);
  const findings = (explored?.findings ?? []).filter((finding) => isInDocument(document, finding)); // T2
  const findingsInFile = countFindings(document); // T1
  const patterns = patternsOnDisk(document, explored?.patterns ?? [], findingsInFile); // T2
  const patternsInFile = allPatterns.filter((pattern) => mentionsPattern(document, pattern));

  return {
    key_counts: {
      findings_total: findingsInFile > 0 ? findingsInFile : findings.length,
      patterns_walked: patterns.length > 0 ? patterns.length : patternsInFile.length,
    },
    findings: findings.map(({ id, category }) => ({ id, category: category ?? uncategorized })),
    patterns: patterns.map(({ pattern, findings_count }) => ({ pattern, findings_count })),
  };
}

type ClaimedFinding = {
  readonly id: string;
  readonly file?: string | undefined;
  readonly line?: unknown;
  readonly title?: string | undefined;
};

/** Whether the document contains the finding: its id, its title, or its file and line. */
const isInDocument = (
  document: string | null,
  { id, file, line, title }: ClaimedFinding,
): boolean =>
  mentionsId(document, id) ||
  (title !== undefined && (document ?? "").includes(title)) ||
  (file !== undefined &&
    (typeof line === "number" || typeof line === "string") &&
    mentionsId(document, `${file}:${line}`));

/** The exploration patterns that the prompt of phase 1 numbers. */
const allPatterns = [1, 2, 3, 4, 5, 6, 7];
type PatternCount = { readonly pattern: number; readonly findings_count: number };

/**
 * The claimed patterns that the document names. If it names none, all of them, provided it has at
 * least as many findings as they claim.
 */
function patternsOnDisk(
  document: string | null,
  claimedCounts: readonly PatternCount[],
  findingsInFile: number,
): readonly PatternCount[] {
  const countsByPattern = new Map(
    claimedCounts.map((patternCount) => [patternCount.pattern, patternCount]),
  );
  const uniqueCounts = [...countsByPattern.values()].toSorted((a, b) => a.pattern - b.pattern);

  if (allPatterns.some((pattern) => mentionsPattern(document, pattern))) {
    return uniqueCounts.filter(({ pattern }) => mentionsPattern(document, pattern));
  }

  const claimedTotal = uniqueCounts.reduce((sum, { findings_count }) => sum + findings_count, 0);
  return claimedTotal <= findingsInFile ? uniqueCounts : [];
}

async function countGenerated({ tree, claim }: CountInput): Promise<PhaseCounts> {
  const generated = parseClaim("quality.generate", claim);
  const promoted =
    generated?.promoted.length ?? countIds(await tree.text("quality/REQUIREMENTS.md"), "REQ");
  return {
    key_counts: { findings_promoted: promoted, findings_dropped: generated?.dropped?.length ?? 0 },
  };
}

async function countReviewed({ tree, claim }: CountInput): Promise<PhaseCounts> {
  const document = await tree.text("quality/BUGS.md");
  const idsInFile = new Set(findBugIds(document)); // T2
  const reviewed = parseClaim("quality.review", claim);

  const findCategory = (id: string): string => {
    const categories = (reviewed?.bugs ?? [])
      .filter((bug) => bug.id === id)
      .map((bug) => bug["category"]);
    return categories.find(isText) ?? "code-bug";
  };

  return {
    key_counts: {
      bugs_identified: countBugHeadings(document),
      bug_writeups: tree.matching(/^quality\/writeups\/BUG-[^/]+\.md$/).length,
    },
    findings: [...idsInFile].map((id) => ({ id, category: findCategory(id) })),
  };
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

async function countAudited({ tree, claim }: CountInput): Promise<PhaseCounts> {
  const audited = parseClaim("quality.audit", claim);
  const requirements = await tree.text("quality/REQUIREMENTS.md");
  const [requirementsInFile, useCasesInFile] = [
    countIds(requirements, "REQ"),
    countIds(requirements, "UC"),
  ]; // T1

  const triages = tree.matching(/^quality\/spec_audits\/[^/]*-triage\.md$/).length;
  const auditors = tree.matching(/^quality\/spec_audits\/[^/]*-auditor-[^/]*\.md$/).length;

  const claimedPasses = new Map(
    (audited?.passes ?? []).map(({ pass, output_artifact: path }) => [
      pass,
      path?.replace(/^\.\//, ""),
    ]),
  );
  const passes = [...claimedPasses]
    .flatMap(([pass, path]) =>
      path !== undefined && tree.has(path) ? [{ pass, output_artifact: path }] : [],
    ) // T2
    .toSorted((a, b) => (a.pass < b.pass ? -1 : 1));

  return {
    key_counts: {
      req_count: requirementsInFile > 0 ? requirementsInFile : (audited?.req_count ?? 0),
      uc_count: useCasesInFile > 0 ? useCasesInFile : (audited?.uc_count ?? 0),
      passes_complete: passes.length, // the auditors' files are not counted: which pass each belongs to is unknown
    },
    passes,
    auditors,
    triages,
  };
}

async function countReconciled({ tree }: CountInput): Promise<PhaseCounts> {
  const gate = judgeReconciliation(tree, findBugIds(await tree.text("quality/BUGS.md")));
  const failures = gate.checks.filter(({ verdict }) => verdict === "fail").length;
  return { key_counts: { gate_checks_total: gate.checks.length, gate_failures: failures }, gate };
}

async function countVerified({ tree, input }: CountInput): Promise<PhaseCounts> {
  return {
    key_counts: {
      bugs_md_count: countBugHeadings(await tree.text("quality/BUGS.md")),
      gate_verdict: findGate(input.state)?.verdict ?? "pass", // none only if an earlier run proved the phase: then its verdict replaces this
    },
  };
}

/**
 * The existing files that commits of this visit changed. If there are none, the files at the
 * phase's paths: all of them if documents from before the run proved the phase, else those that
 * this run changed.
 */
async function findArtifacts(
  { entries, workspace }: Parts,
  { cursor, state, commit }: StepInput,
  tree: QualityTree,
): Promise<readonly string[]> {
  const { phase, visit } = cursor;
  const changedInVisit = new Set<string>();

  for (const entry of entries()) {
    if (entry.event === "changes_applied" && entry.attempt.startsWith(`${phase}@${visit}/`)) {
      for (const path of entry.paths) changedInVisit.add(path);
    }
  }

  const changedPaths = tree.paths.filter((path) => changedInVisit.has(path));
  if (changedPaths.length > 0) return changedPaths;
  const phasePaths = tree.matching(getArtifactPattern(phase));
  if (phasePaths.length === 0 || isClosedByEarlierDocuments(state, phase)) return phasePaths;
  const pathsOfRun = new Set(
    (await workspace.differences(state.drafted.base.commit, commit)).map(({ path }) => path),
  );

  return phasePaths.filter((path) => pathsOfRun.has(path)); // T3
}
