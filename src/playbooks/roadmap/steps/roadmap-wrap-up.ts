// roadmap-wrap-up: step at the end of a roadmap run that writes its metrics and the completion
// report.
//
// Invariants:
//   U1. Idempotent: a run has one entry in the metrics, and one report.
//   U2. If a file cannot be written, that is reported and the run still ends normally.
//   U3. The report never says that everything was proved if a phase failed or was blocked.
//   U4. Whatever the self-audit left open or did not reach is a gap in the run's verdict.

import type { Entry } from "../../../contracts/event.ts";
import type { Verdict } from "../../../contracts/objective.ts";
import type { Facts } from "../../../contracts/outcome.ts";
import type { CompletionReport } from "../../../contracts/roadmap-reports.ts";
import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { optionValue } from "../../../core/selectors.ts";
import { ownValue } from "../../../core/own-values.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import {
  type CompletionInput,
  buildCompletionFile,
  renderCompletionPage,
} from "../views/completion-report.ts";
import { integration, selfAudit } from "../views/phase-history.ts";
import { summarizeSelfAudit } from "../views/roadmap-self-audit.ts";
import { buildRoadmapState } from "../views/roadmap-state.ts";
import { type VerdictWithGaps, computeVerdict, joinGaps } from "../../../core/verdict.ts";
import { describeEnding } from "../../../views/next-actions.ts";
import { parseRoadmap } from "../documents/roadmap.ts";
import {
  buildCompletionReport,
  type RoadmapPhase,
  listSkippedPhases,
} from "../../../insight/completion.ts";
import { buildMetrics, replaceMetrics } from "../../../insight/metrics.ts";
import { describeChanges } from "../../../insight/run-trend.ts";
import { buildTrend } from "../../../insight/trend.ts";
import { type RoadmapWarning, findStateWarnings } from "../insight/warnings.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Functions } from "../../../ports/functions.ts";
import { openClaimReader } from "../../../project/runs/run-blobs.ts";
import { loadMetrics } from "../files/roadmap-metrics.ts";
import {
  completionDataFile,
  completionPageFile,
  metricsFile,
} from "../../../contracts/roadmap-places.ts";
import { readCompletionTimes } from "../files/read-state-files.ts";
import { writeWholeFile } from "../../contract/whole-file.ts";
import { isBegun, type ProjectPaths } from "../../../project/runs/project-paths.ts";
import { readRunOrNull } from "../../../project/runs/read-run.ts";
import { toRunSetup } from "../../../project/runs/run-points.ts";

const detailCharsMax = 500;

/** `paths.folder` is missing if no other runs can be compared with. */
export type WrapUpParts = {
  readonly paths: Pick<ProjectPaths, "root"> & Partial<Pick<ProjectPaths, "folder">>;
  readonly folder: string;
  readonly entries: () => readonly Entry[];
  readonly readBlob: (hash: string) => Buffer | null;
  readonly clock: Pick<Clock, "now">;
};

/** The step `wrap_up`. */
export function createWrapUpStep(
  parts: WrapUpParts,
): Functions<RunView, CursorView>["run"][string] {
  return {
    version: 1,
    effect: "idempotent",
    perform: async ({ state: run }) => {
      const summary = await summarize(parts, run);
      const auditVerdict = findVerdict(run, summary);
      const ending = describeEnding(run, reportVerdict(run, summary, auditVerdict));
      const writeProblem = await writeReports(parts, { ...summary, ending });
      const verdictFacts =
        auditVerdict === null
          ? {}
          : { verdict: auditVerdict.verdict, gaps: joinGaps(auditVerdict.gaps) };

      const facts = { ...buildFacts(summary, writeProblem === null), ...verdictFacts };
      return { ok: true, facts, ...(writeProblem === null ? {} : { detail: writeProblem }) }; // U2
    },
  };
}

/**
 * The verdict in the report's first sentence: a failed integration refutes the whole run, whatever
 * its phases proved. U3
 */
function reportVerdict(
  run: RunView,
  { warnings }: CompletionInput,
  auditVerdict: VerdictWithGaps | null,
): VerdictWithGaps {
  const failures = warnings
    .filter(({ code }) => code === "integration_failed")
    .map(({ message }) => message);

  const verdict = computeVerdict({ ...run, judged: auditVerdict ?? run.judged });
  return failures.length === 0
    ? verdict
    : { verdict: "refuted", gaps: [...new Set([...verdict.gaps, ...failures])] };
}

async function summarize(
  { paths, folder, entries, readBlob, clock }: WrapUpParts,
  run: RunView,
): Promise<CompletionInput & MetricsHistory> {
  const { root } = paths;
  const now = clock.now();
  const readClaim = openClaimReader(readBlob);
  const completedBefore = await readCompletionTimes(root, run.drafted.run_id);
  const journal = entries();
  const currentState = buildRoadmapState(run, journal, { readClaim, completedBefore });
  const finalWarnings = findFinalWarnings(run);
  const state = {
    ...currentState,
    _meta: { ...currentState._meta, status: finalStatus(currentState, finalWarnings) },
  };
  const metrics = buildMetrics(state, now);
  const runs = replaceMetrics(await loadMetrics(root, folder), metrics); // U1
  const phasesOfRun = run.phases.filter(({ group }) => group === "phases");
  const isComplete = optionValue(run, "complete") === true;

  return {
    state,
    names: Object.fromEntries(run.phases.map(({ id, name }) => [id, name])),
    metrics,
    runs,
    trend: buildTrend(runs),
    configChanges: await findConfigChanges(paths, runs.at(-2)?.run_id, run),
    selfAudit: summarizeSelfAudit(journal, readClaim, state.event_log),
    batch: isComplete
      ? buildCompletionReport({
          state,
          phases: loadPhases(run, readBlob),
          earlier: completedBefore,
          at: now,
        })
      : null,
    skipped: listSkippedPhases(state, phasesOfRun, completedBefore),
    warnings: [...finalWarnings, ...findStateWarnings(state)],
  };
}

/**
 * What differs in the setup of the previous run and this one; null if there is no earlier run, or
 * its journal is missing.
 */
async function findConfigChanges(
  { root, folder }: WrapUpParts["paths"],
  previousRunId: string | undefined,
  run: RunView,
): Promise<readonly string[] | null> {
  if (folder === undefined || previousRunId === undefined) return null;
  const paths = { root, folder };
  const previousRun = isBegun(paths, previousRunId)
    ? await readRunOrNull(paths, previousRunId)
    : null;

  return previousRun === null
    ? null
    : describeChanges(toRunSetup(previousRun.view), toRunSetup(run));
}

type MetricsHistory = { readonly runs: ReturnType<typeof replaceMetrics> };

/**
 * Warnings about a failed integration check or self-audit, which the counts of phases would not
 * show.
 */
function findFinalWarnings(run: RunView): readonly RoadmapWarning[] {
  const findFailure = (phase: string, step: string): string | null => {
    const outcome = ownValue(ownValue(run.cursors, phase)?.last ?? {}, step);
    return outcome?.kind === "failed"
      ? (outcome.detail ?? outcome.reason ?? "it gave no reason").slice(0, detailCharsMax)
      : null;
  };

  const warnings: RoadmapWarning[] = [];
  const integrationFailure = findFailure(integration.phase, integration.check);
  if (integrationFailure !== null) {
    const message = `The phases do not hold together: ${integrationFailure}. No self-audit was made.`;
    warnings.push({ code: "integration_failed", message });
  }

  const auditFailure = findFailure(selfAudit.phase, selfAudit.audit);
  if (auditFailure !== null) {
    const message = `The self-audit did not come to its end: ${auditFailure}. What it did not look at is in no count.`;
    warnings.push({ code: "audit_failed", message });
  }

  return warnings;
}

/** The verdict of the phases with the gaps of the self-audit; null if it has none. U4 */
function findVerdict(
  { judged }: RunView,
  { selfAudit: audit, warnings }: CompletionInput,
): VerdictWithGaps | null {
  const auditFailures = warnings
    .filter(({ code }) => code === "audit_failed")
    .map(({ message }) => message);

  const auditGaps = (audit?.remaining_gap_details ?? []).map(
    ({ requirement_id, description }) => `${requirement_id}: ${description} (self-audit)`,
  );
  const openGaps = [...auditFailures, ...auditGaps].map((gap) =>
    gap.replaceAll(";", ",").slice(0, detailCharsMax),
  ); // gaps are joined by "; "
  if (judged === null || openGaps.length === 0) return null;
  const verdict: Verdict = judged.verdict === "verified" ? "verified_with_gaps" : judged.verdict;

  return { verdict, gaps: [...new Set([...judged.gaps, ...openGaps])] };
}

/** The status of the run after its phases, while only this report is still being written. */
function finalStatus(
  { phases }: RoadmapState,
  warnings: readonly RoadmapWarning[],
): RoadmapState["_meta"]["status"] {
  const statuses = Object.values(phases).map(({ status }) => status);
  if (statuses.includes("failed") || warnings.some(({ code }) => code === "integration_failed")) {
    return "failed";
  }

  return statuses.every((status) => status === "completed") ? "completed" : "paused";
}

/** All phases of the recorded roadmap; if the document is missing, those of the run. */
function loadPhases(run: RunView, readBlob: WrapUpParts["readBlob"]): readonly RoadmapPhase[] {
  const path = ownValue(run.drafted.options, "roadmap_path");
  const recorded = run.drafted.documents?.find((document) => document.path === path);
  const bytes = recorded === undefined ? null : readBlob(recorded.hash);
  const phases =
    bytes === null || typeof path !== "string"
      ? []
      : parseRoadmap(path, bytes.toString("utf8")).phases;

  return phases.length > 0 ? phases : run.phases.filter(({ group }) => group === "phases");
}

/** What could not be written, and why; null if everything was. */
async function writeReports(
  { paths: { root } }: WrapUpParts,
  input: CompletionInput & MetricsHistory,
): Promise<string | null> {
  const files = [
    [metricsFile, toJson(input.runs)],
    [completionPageFile, renderCompletionPage(input)],
    [completionDataFile, toJson(buildCompletionFile(input))],
  ] as const;

  const problems: string[] = [];
  for (const [path, text] of files) {
    try {
      await writeWholeFile(root, path, text);
    } catch (error) {
      problems.push(
        `${path}: ${error instanceof Error ? error.message : "it could not be written"}`,
      );
    }
  }

  return problems.length === 0
    ? null
    : `The report could not be written whole: ${problems.join("; ")}.`;
}

const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** The facts of this step; the percentage of the whole roadmap only with --complete. */
function buildFacts({ metrics, batch }: CompletionInput, isWritten: boolean): Facts {
  const counts: Pick<CompletionReport, "phases_attempted" | "phases_succeeded" | "phases_failed"> =
    batch ?? metrics;
  return {
    phases_attempted: counts.phases_attempted,
    phases_succeeded: counts.phases_succeeded,
    phases_failed: counts.phases_failed,
    ...(isWritten ? { report_path: completionPageFile } : {}),
    ...(batch === null
      ? {}
      : {
          phases_skipped: batch.phases_skipped.length,
          completion_percentage: batch.completion_percentage,
        }),
  };
}
