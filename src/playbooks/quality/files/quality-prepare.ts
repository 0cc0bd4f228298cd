// quality-prepare: what a quality run is drafted with: its name, what may change, and what happens to an existing log.
//
// Invariants:
//   Q1. A valid log whose run has not ended is continued; any other is moved to history, never overwritten.
//   Q2. Started work is not done twice: parts of it that agents could not see are reported before anything runs.

import { lstatSync } from "node:fs";
import { basename, join } from "node:path";
import { gateLogPath, progressPath, runStatePath, terminalSection } from "../views/run-state-names.ts";
import { type LogRead, readLog, whyLogClosed } from "../views/run-state-read.ts";
import { ownedAlways } from "../../../workspace/owned.ts";
import { ownedPathTest } from "../../../workspace/layers/scope.ts";
import { readStatus } from "../../../workspace/git/status.ts";
import { docsFolders, isDocument } from "../steps/docs-present.ts";
import type { ProjectPaths } from "../../../project/runs/project-paths.ts";
import { openedRepository } from "../../../project/runs/opened-repository.ts";
import { refuse } from "../../../project/reply.ts";
import { settingsOf } from "../../../project/config/settings.ts";
import type { Prepared, PrepareInput } from "../../contract/playbook.ts";
import { ignoredAmong } from "../../contract/ignored-paths.ts";
import { refuseUncommittedDocs } from "./quality-docs.ts";
import { hashOf } from "./quality-log-file.ts";
import { readBounded } from "../../contract/whole-file.ts";

const logBytesMax = 8 * 1024 * 1024;
const pageBytesMax = 4 * 1024 * 1024;
const shownMax = 5;
const ownedHere = [runStatePath, progressPath, "quality/history/**", gateLogPath];
/** A phase may be tried four times; the breaker, which only counts tries, must not come before that. */
const patience = { no_progress_threshold: 9, same_error_threshold: 9 };

type Earlier = {
  /** What an open log says of itself: a run that continues or replaces it is the same experiment. */
  readonly head: Readonly<Record<string, string>>;
  readonly facts: Prepared["options"];
  readonly documents: Prepared["documents"];
  readonly isContinued: boolean;
  readonly warnings: readonly string[];
};

export async function prepareQuality({ context, paths: projectPaths, input }: PrepareInput): Promise<Prepared> {
  const earlier = await readEarlier(projectPaths.root);
  const head = { ...earlier.head, ...input.options };
  const target = head["target_path"] ?? ".";
  refuseTarget(projectPaths, target);
  await refuseIgnored(projectPaths.root);
  if (input.options?.["require_docs"] === "true") await refuseUncommittedDocs(projectPaths.root, target);
  const benchmark = head["benchmark"] ?? basename(projectPaths.root);
  const uncommitted = await uncommittedIn(projectPaths);
  const artifacts = uncommitted.filter((path) => path.startsWith("quality/"));
  if (earlier.isContinued && artifacts.length > 0) refuseUncommitted(artifacts); // Q2
  const docs = uncommitted.filter((path) => docsFolders(target).some((folder) => path.startsWith(folder)) && isDocument(path));
  const set = settingsOf(context, projectPaths, input).config.limits ?? {};
  return {
    goal: `Audit ${benchmark}${target === "." ? "" : `, what lies under ${target}`}: explore, generate, review, audit, reconcile, verify.`,
    scope: ["quality/**"],
    options: { ...earlier.head, benchmark, target_path: target },
    facts: earlier.facts,
    documents: earlier.documents,
    limits: Object.fromEntries(Object.entries(patience).filter(([name]) => !Object.hasOwn(set, name))),
    warnings: [...earlier.warnings, ...(docs.length === 0 ? [] : [`Not committed, so no agent will see it: ${some(docs)}.`])],
  };
}

const isOutside = (target: string): boolean => target === "" || target.startsWith("/") || target.split(/[/\\]/).includes("..");

function refuseTarget(projectPaths: ProjectPaths, target: string): void {
  const stats = isOutside(target) ? undefined : lstatSync(join(projectPaths.root, target), { throwIfNoEntry: false });
  if (stats !== undefined && !stats.isSymbolicLink()) return;
  refuse("objective_schema_invalid", {
    message: `--target-path ${target}: ${isOutside(target) ? "expected a path inside the project" : "there is no such file or folder in the project"}.`,
    remediation: ["leave it out to audit the whole project"],
    data: { field: "target-path" },
  });
}

/** One file of each kind that the phases leave: what git ignores isn't a change, so a gate that asks for it could never hold. */
const kindsLeft = [
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
  const rule = await ignoredAmong(root, kindsLeft);
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

/** Q1 */
async function readEarlier(root: string): Promise<Earlier> {
  const read = await readBounded(root, runStatePath, logBytesMax);
  if (read.kind === "absent") return none;
  if (read.kind === "unusable") {
    if (read.rule === "too_large") return moved(0, "", "it is too long to go on with");
    return refuse("file_invalid", {
      message: `${runStatePath} ${read.why}. Nothing was started.`,
      remediation: [`move ${runStatePath} away, then begin again`],
    });
  }
  const text = read.bytes.toString("utf8");
  if (text.trim() === "") return read.bytes.length === 0 ? none : moved(read.bytes.length, hashOf(read.bytes), "it is blank");
  const isText = Buffer.from(text, "utf8").equals(read.bytes);
  const log = readLog(text);
  const over = isText ? whyLogClosed(log) : "it is not UTF-8";
  if (over !== null) {
    const documents = isText ? [{ path: runStatePath, text }] : []; // for the counts that no file holds
    return { ...moved(read.bytes.length, hashOf(read.bytes), over), head: logReadHead(log), documents };
  }
  return {
    head: logReadHead(log),
    isContinued: true,
    facts: {
      earlier_log: "continued",
      earlier_bytes: read.bytes.length,
      earlier_hash: hashOf(read.bytes),
      earlier_verified: hasHeldGate(log) && (await isVerified(root)),
    },
    documents: [{ path: runStatePath, text }],
    warnings: [`${runStatePath} is open (${getQualityStatus(log)}): this run goes on with it.`],
  };
}

/** Nothing of a run that has ended: the next one is another. */
export function logReadHead({ head, end }: Pick<LogRead, "head" | "end">): Readonly<Record<string, string>> {
  if (end !== null) return {};
  const { target_path: target, ...words } = head;
  const isHere = target !== undefined && !isOutside(target); // a path of another machine does not count
  return { ...words, ...(isHere ? { target_path: target } : {}) };
}

const none: Earlier = { head: {}, facts: { earlier_log: "none" }, documents: [], isContinued: false, warnings: [] };

const moved = (bytes: number, hash: string, why: string): Earlier => ({
  head: {},
  facts: { earlier_log: "moved", earlier_bytes: bytes, ...(hash === "" ? {} : { earlier_hash: hash }) },
  documents: [],
  isContinued: false,
  warnings: [
    `The log that lies here is kept under quality/history/ and a new one begun: ${why}. ` +
      "What the documents under quality/ prove is not done again; for a fresh audit move them away first (git mv quality quality-1, commit).",
  ],
});

/** A gate that failed, or of which the log says nothing that can be read, is judged again. */
export function hasHeldGate({ ended }: Pick<LogRead, "ended">): boolean {
  const verdict = ended.get(6)?.key_counts["gate_verdict"];
  return verdict === "pass" || verdict === "partial";
}

/** The last phase leaves both files, and only if it verified. */
async function isVerified(root: string): Promise<boolean> {
  const [gate, page] = [await readBounded(root, gateLogPath, pageBytesMax), await readBounded(root, progressPath, pageBytesMax)];
  return gate.kind === "read" && gate.bytes.length > 0 && page.kind === "read" && page.bytes.toString("utf8").includes(terminalSection);
}

/** The state of an open log, in a few words. */
export function getQualityStatus({ started, ended }: LogRead): string {
  const open = [...started].filter((phase) => !ended.has(phase)).at(-1);
  if (open !== undefined) return `phase ${open} of 6 is in progress`;
  return ended.size === 6 ? "all six phases have ended, only its run_end is missing" : `${ended.size} of 6 phases have ended`;
}

/** Files under version control's eye that no commit holds as they are, the runner's own left out. */
async function uncommittedIn(projectPaths: ProjectPaths): Promise<readonly string[]> {
  const { changed, untracked } = await readStatus(await openedRepository(projectPaths.root), ownedPathTest([...ownedAlways, ...ownedHere]));
  return [...changed, ...untracked];
}

function refuseUncommitted(paths: readonly string[]): never {
  return refuse("checkout_dirty", {
    result: "FAIL",
    message: `A quality run was begun here, and what it left is not committed: ${some(paths)}. Agents work on commits, so it would be done again.`,
    remediation: ["git add quality && git commit -m 'audit so far', then autopilot resume"],
    data: { paths: paths.slice(0, 100) },
  });
}

const some = (names: readonly string[]): string =>
  `${names.slice(0, shownMax).join(", ")}${names.length > shownMax ? ` and ${names.length - shownMax} more` : ""}`;
