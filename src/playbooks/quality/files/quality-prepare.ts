// quality-prepare: prepares a quality run: its goal and scope, and whether an existing log is
// continued or moved away.
//
// Invariants:
//   Q1. A valid log whose run has not ended is continued; any other is moved to history, never
//       overwritten. If something else is in its place, nothing is started.
//   Q2. Work that an earlier run began is not repeated: if parts of it are uncommitted, so that
//       agents would not see them, nothing is started.

import { lstatSync } from "node:fs";
import { basename, join } from "node:path";
import { listSome } from "../../../kit/list-some.ts";
import {
  gateLogPath,
  progressPath,
  qualityOwnedPaths,
  qualityLogPath,
  terminalSection,
} from "../views/quality-names.ts";
import { type ParsedLog, parseLog, whyLogClosed } from "../views/parse-quality-log.ts";
import { alwaysOwnedPaths } from "../../../workspace/owned-paths.ts";
import { compileOwnedPaths } from "../../../workspace/layers/scope-globs.ts";
import { readCheckoutStatus } from "../../../workspace/git/checkout-status.ts";
import { listDocsFolders, isDocument } from "../steps/docs-present.ts";
import type { ProjectPaths } from "../../../project/runs/project-paths.ts";
import { requireRepository } from "../../../project/runs/require-repository.ts";
import { refuse } from "../../../project/respond.ts";
import { requireSettings } from "../../../project/config/settings.ts";
import type { PreparedRun, PrepareInput } from "../../contract/playbook.ts";
import { findIgnoreRule } from "../../contract/ignored-paths.ts";
import { refuseUncommittedDocs } from "./refuse-uncommitted-docs.ts";
import { readBounded } from "../../contract/whole-file.ts";
import { sha256 } from "../../../project/sha256.ts";

const logBytesMax = 8 * 1024 * 1024;
const pageBytesMax = 4 * 1024 * 1024;
const pathsShownMax = 5;
const pathsReportedMax = 100;
const phaseCount = 6;
/**
 * A phase may be tried four times; the breaker, which counts attempts, must not stop the run before
 * that.
 */
const auditBreakerDefaults = { no_progress_threshold: 9, same_error_threshold: 9 };

type EarlierLogPlan = {
  /**
   * Fields of the first events of an open log: a run that continues or replaces it belongs to the
   * same experiment.
   */
  readonly head: Readonly<Record<string, string>>;
  readonly facts: PreparedRun["options"];
  readonly documents: PreparedRun["documents"];
  readonly isContinued: boolean;
  readonly warnings: readonly string[];
};

export async function prepareQuality({
  context,
  paths: projectPaths,
  input,
}: PrepareInput): Promise<PreparedRun> {
  const earlier = await inspectEarlierLog(projectPaths.root);
  const head = { ...earlier.head, ...input.options };
  const target = head["target_path"] ?? ".";
  refuseTarget(projectPaths, target);
  await refuseIgnored(projectPaths.root);

  if (input.options?.["require_docs"] === "true") {
    await refuseUncommittedDocs(projectPaths.root, target);
  }

  const benchmark = head["benchmark"] ?? basename(projectPaths.root);
  const uncommitted = await listUncommitted(projectPaths);
  const uncommittedArtifacts = uncommitted.filter((path) => path.startsWith("quality/"));
  if (earlier.isContinued && uncommittedArtifacts.length > 0) {
    refuseUncommitted(uncommittedArtifacts);
  } // Q2

  const uncommittedDocs = uncommitted.filter(
    (path) => listDocsFolders(target).some((folder) => path.startsWith(folder)) && isDocument(path),
  );

  const configuredLimits = requireSettings(context, projectPaths, input).config.limits ?? {};
  const targetText = target === "." ? "" : `, what lies under ${target}`;
  return {
    goal: `Audit ${benchmark}${targetText}: explore, generate, review, audit, reconcile, verify.`,
    scope: ["quality/**"],
    options: { ...earlier.head, benchmark, target_path: target },
    facts: earlier.facts,
    documents: earlier.documents,
    limits: Object.fromEntries(
      Object.entries(auditBreakerDefaults).filter(
        ([name]) => !Object.hasOwn(configuredLimits, name),
      ),
    ),
    warnings: [
      ...earlier.warnings,
      ...(uncommittedDocs.length === 0
        ? []
        : [`Not committed, so no agent will see it: ${listSome(uncommittedDocs, pathsShownMax)}.`]),
    ],
  };
}

const isOutside = (target: string): boolean =>
  target === "" || target.startsWith("/") || target.split(/[/\\]/).includes("..");

function refuseTarget(projectPaths: ProjectPaths, target: string): void {
  const stats = isOutside(target)
    ? undefined
    : lstatSync(join(projectPaths.root, target), { throwIfNoEntry: false });
  if (stats !== undefined && !stats.isSymbolicLink()) return;
  const problem = isOutside(target)
    ? "expected a path inside the project"
    : "there is no such file or folder in the project";

  refuse("objective_schema_invalid", {
    message: `--target-path ${target}: ${problem}.`,
    remediation: ["leave it out to audit the whole project"],
    data: { field: "target-path" },
  });
}

/**
 * One file of each kind that the phases write. If git ignores one, it is never committed and its
 * gate could never pass.
 */
const artifactExamples = [
  "quality/EXPLORATION.md",
  "quality/test_functional.js",
  "quality/code_reviews/review.md",
  "quality/patches/BUG-001-regression-test.patch",
  "quality/spec_audits/1-triage.md",
  "quality/writeups/BUG-001.md",
  "quality/results/BUG-001.red.log",
  "quality/results/tdd-results.json",
];

async function refuseIgnored(root: string): Promise<void> {
  const rule = await findIgnoreRule(root, artifactExamples);
  if (rule === null) return;
  const { path, source, line, pattern } = rule;
  refuse("workspace_unusable", {
    message: `Git ignores ${path} (${source}:${line}: ${pattern}), so what a phase writes there could not be kept. Nothing was started.`,
    remediation: [
      /^\/?quality\b/.test(pattern)
        ? `take ${pattern} out of ${source}, commit, then autopilot quality`
        : "echo '!/quality/**' >> .gitignore && git add .gitignore && git commit -m 'keep what an audit writes', then autopilot quality",
    ],
    data: { path, source, line, pattern },
  });
}

/** Decides what becomes of a log that is in the checkout already. Q1 */
async function inspectEarlierLog(root: string): Promise<EarlierLogPlan> {
  const file = await readBounded(root, qualityLogPath, logBytesMax);
  if (file.kind === "absent") return noEarlierLog;
  if (file.kind === "unusable") {
    if (file.rule === "too_large") return planToMove(0, "", "it is too long to go on with");
    return refuse("file_invalid", {
      message: `${qualityLogPath} ${file.why}. Nothing was started.`,
      remediation: [`move ${qualityLogPath} away, then begin again`],
    });
  }

  const text = file.bytes.toString("utf8");
  if (text.trim() === "") {
    return file.bytes.length === 0
      ? noEarlierLog
      : planToMove(file.bytes.length, sha256(file.bytes), "it is blank");
  }

  const isText = Buffer.from(text, "utf8").equals(file.bytes);
  const log = parseLog(text);
  const closedReason = isText ? whyLogClosed(log) : "it is not UTF-8";
  if (closedReason !== null) {
    const documents = isText ? [{ path: qualityLogPath, text }] : []; // kept for the counts that are in no other file
    return {
      ...planToMove(file.bytes.length, sha256(file.bytes), closedReason),
      head: selectReusableHead(log),
      documents,
    };
  }

  return {
    head: selectReusableHead(log),
    isContinued: true,
    facts: {
      earlier_log: "continued",
      earlier_bytes: file.bytes.length,
      earlier_hash: sha256(file.bytes),
      earlier_verified: hasPassedGate(log) && (await hasVerifiedFiles(root)),
    },
    documents: [{ path: qualityLogPath, text }],
    warnings: [`${qualityLogPath} is open (${describeProgress(log)}): this run goes on with it.`],
  };
}

/** The fields of a log that a new run takes over; none if its run has ended. */
export function selectReusableHead({
  head,
  end,
}: Pick<ParsedLog, "head" | "end">): Readonly<Record<string, string>> {
  if (end !== null) return {};
  const { target_path: target, ...otherFields } = head;
  const isInside = target !== undefined && !isOutside(target); // an absolute path may come from another machine

  return { ...otherFields, ...(isInside ? { target_path: target } : {}) };
}

const noEarlierLog: EarlierLogPlan = {
  head: {},
  facts: { earlier_log: "none" },
  documents: [],
  isContinued: false,
  warnings: [],
};

const planToMove = (bytes: number, hash: string, why: string): EarlierLogPlan => ({
  head: {},
  facts: {
    earlier_log: "moved",
    earlier_bytes: bytes,
    ...(hash === "" ? {} : { earlier_hash: hash }),
  },
  documents: [],
  isContinued: false,
  warnings: [
    `The log that lies here is kept under quality/history/ and a new one begun: ${why}. ` +
      "What the documents under quality/ prove is not done again; for a fresh audit move them away first (git mv quality quality-1, commit).",
  ],
});

/**
 * Whether the log reports that the terminal gate passed. If not, or if unclear, the gate is judged
 * again.
 */
export function hasPassedGate({ endsByPhase }: Pick<ParsedLog, "endsByPhase">): boolean {
  const verdict = endsByPhase.get(phaseCount)?.key_counts["gate_verdict"];
  return verdict === "pass" || verdict === "partial";
}

/** Whether both files are there that the last phase writes after the gate has passed. */
async function hasVerifiedFiles(root: string): Promise<boolean> {
  const gateLog = await readBounded(root, gateLogPath, pageBytesMax);
  if (gateLog.kind !== "read" || gateLog.bytes.length === 0) return false;
  const progressPage = await readBounded(root, progressPath, pageBytesMax);

  return (
    progressPage.kind === "read" && progressPage.bytes.toString("utf8").includes(terminalSection)
  );
}

/** The state of an open log, in a few words. */
export function describeProgress({ startedPhases, endsByPhase }: ParsedLog): string {
  const openPhase = [...startedPhases].filter((phase) => !endsByPhase.has(phase)).at(-1);
  if (openPhase !== undefined) return `phase ${openPhase} of ${phaseCount} is in progress`;
  if (endsByPhase.size === phaseCount) {
    return "all six phases have ended, only its run_end is missing";
  }

  return `${endsByPhase.size} of ${phaseCount} phases have ended`;
}

/** Changed and untracked files, except the runner's own. */
async function listUncommitted(projectPaths: ProjectPaths): Promise<readonly string[]> {
  const isOwned = compileOwnedPaths([...alwaysOwnedPaths, ...qualityOwnedPaths]);
  const { changed, untracked } = await readCheckoutStatus(
    await requireRepository(projectPaths.root),
    isOwned,
  );
  return [...changed, ...untracked];
}

function refuseUncommitted(paths: readonly string[]): never {
  return refuse("checkout_dirty", {
    result: "FAIL",
    message: `A quality run was begun here, and what it left is not committed: ${listSome(paths, pathsShownMax)}. Agents work on commits, so it would be done again.`,
    remediation: ["git add quality && git commit -m 'audit so far', then autopilot resume"],
    data: { paths: paths.slice(0, pathsReportedMax) },
  });
}
