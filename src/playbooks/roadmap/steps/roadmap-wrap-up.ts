// roadmap-wrap-up: what a roadmap run writes when its phases are done: its figures among those of earlier runs, the trend, the report.
//
// Invariants:
//   U1. Idempotent: a run has one entry among the figures, and one report.
//   U2. A report that cannot be written is reported and ends no run.
//   U3. A report of phases that failed, or were held up by one that did, never says that everything was proved.
//   U4. What the self-audit left open, or did not reach, is a gap in the run's verdict: not everything asked for was proved.

import type { Entry } from "../../../contracts/event.ts";
import type { Verdict } from "../../../contracts/objective.ts";
import type { Facts } from "../../../contracts/outcome.ts";
import type { CompletionReport } from "../../../contracts/roadmap-reports.ts";
import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { runOption } from "../../../core/selectors.ts";
import { own } from "../../../core/record.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import { type CompletionInput, completionData, completionPage } from "../views/completion-report.ts";
import { integration, selfAudit } from "../views/phase-history.ts";
import { selfAuditSummary } from "../views/roadmap-self-audit.ts";
import { buildRoadmapState } from "../views/roadmap-state.ts";
import { type VerdictFound, runVerdict } from "../../../core/verdict.ts";
import { runEnding } from "../../../views/next-actions.ts";
import { readRoadmap } from "../documents/roadmap.ts";
import { completionOf, type RoadmapPhase, skippedPhases } from "../../../insight/completion.ts";
import { stateMetrics, withMetrics } from "../../../insight/metrics.ts";
import { changedBetween } from "../../../insight/run-trend.ts";
import { runTrend } from "../../../insight/trend.ts";
import { type Warning, stateWarnings } from "../insight/warnings.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Functions } from "../../../ports/functions.ts";
import { claimsFrom } from "../../../project/runs/run-blobs.ts";
import { readMetrics } from "../files/roadmap-metrics.ts";
import { completionDataFile, completionPageFile, metricsFile } from "../../../contracts/roadmap-places.ts";
import { completedEarlier } from "../files/roadmap-states.ts";
import { writeWholeFile } from "../../contract/whole-file.ts";
import { isBegun, type ProjectPaths } from "../../../project/runs/project-paths.ts";
import { readRunOrNull } from "../../../project/runs/read-run.ts";
import { makeOf } from "../../../project/runs/run-points.ts";

const detailCharsMax = 500;

export type WrapUpParts = {
  readonly paths: Pick<ProjectPaths, "root"> & Partial<Pick<ProjectPaths, "folder">>;
  readonly folder: string;
  readonly entries: () => readonly Entry[];
  readonly readBlob: (hash: string) => Buffer | null;
  readonly clock: Pick<Clock, "now">;
};

export function wrapUp(parts: WrapUpParts): Functions<RunView, CursorView>["run"][string] {
  return {
    version: 1,
    effect: "idempotent",
    perform: async ({ state: run }) => {
      const input = await summed(parts, run);
      const found = verdictFacts(run, input);
      const unwritten = await written(parts, { ...input, ending: runEnding(run, reportedVerdict(run, input, found)) });
      const stated = found === null ? {} : { verdict: found.verdict, gaps: found.gaps.join("; ") };
      const facts = { ...factsOf(input, unwritten === null), ...stated };
      return { ok: true, facts, ...(unwritten === null ? {} : { detail: unwritten }) }; // U2
    },
  };
}

/** What the report's first sentence is made from: phases that do not hold together refute the whole, whatever each of them proved. U3 */
function reportedVerdict(run: RunView, { warnings }: CompletionInput, found: VerdictFound | null): VerdictFound {
  const broken = warnings.flatMap(({ code, message }) => (code === "integration_failed" ? [message] : []));
  const reported = runVerdict({ ...run, judged: found ?? run.judged });
  return broken.length === 0 ? reported : { verdict: "refuted", gaps: [...new Set([...reported.gaps, ...broken])] };
}

async function summed({ paths, folder, entries, readBlob, clock }: WrapUpParts, run: RunView): Promise<CompletionInput & Runs> {
  const { root } = paths;
  const at = clock.now();
  const { run_id } = run.drafted;
  const claimOf = claimsFrom(readBlob);
  const earlier = await completedEarlier(root, run_id);
  const journal = entries();
  const drawn = buildRoadmapState(run, journal, { claimOf, earlier });
  const whole = afterwards(run);
  const state = { ...drawn, _meta: { ...drawn._meta, status: roadmapEnd(drawn, whole) } };
  const metrics = stateMetrics(state, at);
  const runs = withMetrics(await readMetrics(root, folder), metrics); // U1
  const isComplete = runOption(run, "complete") === true;
  return {
    state,
    names: Object.fromEntries(run.phases.map(({ id, name }) => [id, name])),
    metrics,
    runs,
    trend: runTrend(runs),
    changed: await changedSince(paths, runs.at(-2)?.run_id, run),
    selfAudit: selfAuditSummary(journal, claimOf, state.event_log),
    batch: isComplete ? completionOf({ state, phases: runPhases(run, readBlob), earlier, at }) : null,
    skipped: skippedPhases(
      state,
      run.phases.filter(({ group }) => group === "phases"),
      earlier,
    ),
    warnings: [...whole, ...stateWarnings(state)],
  };
}

/** Null if there is no run before, or its journal is not here any more. */
async function changedSince(
  { root, folder }: WrapUpParts["paths"],
  before: string | undefined,
  run: RunView,
): Promise<readonly string[] | null> {
  if (folder === undefined) return null;
  const paths = { root, folder };
  const earlier = before === undefined || !isBegun(paths, before) ? null : await readRunOrNull(paths, before);
  return earlier === null ? null : changedBetween(makeOf(earlier.view), makeOf(run));
}

type Runs = { readonly runs: ReturnType<typeof withMetrics> };

/** What went wrong where the whole was inspected: a report that only counts phases would keep it quiet. */
function afterwards(run: RunView): readonly Warning[] {
  const findFailure = (phase: string, step: string): string | null => {
    const outcome = own(own(run.cursors, phase)?.last ?? {}, step);
    return outcome?.kind === "failed" ? (outcome.detail ?? outcome.reason ?? "it gave no reason").slice(0, detailCharsMax) : null;
  };
  const broken = findFailure(integration.phase, integration.check);
  const unaudited = findFailure(selfAudit.phase, selfAudit.audit);
  return [
    ...(broken === null
      ? []
      : [{ code: "integration_failed" as const, message: `The phases do not hold together: ${broken}. No self-audit was made.` }]),
    ...(unaudited === null
      ? []
      : [
          {
            code: "audit_failed" as const,
            message: `The self-audit did not come to its end: ${unaudited}. What it did not look at is in no count.`,
          },
        ]),
  ];
}

/** The verdict of the phases, with what the self-audit left open. U4 */
function verdictFacts({ judged }: RunView, { selfAudit: audit, warnings }: CompletionInput): VerdictFound | null {
  const open = [
    ...warnings.flatMap(({ code, message }) => (code === "audit_failed" ? [message] : [])),
    ...(audit?.remaining_gap_details ?? []).map(({ requirement_id, description }) => `${requirement_id}: ${description} (self-audit)`),
  ].map((gap) => gap.replaceAll(";", ",").slice(0, detailCharsMax));
  if (judged === null || open.length === 0) return null;
  const verdict: Verdict = judged.verdict === "verified" ? "verified_with_gaps" : judged.verdict;
  return { verdict, gaps: [...new Set([...judged.gaps, ...open])] };
}

/** How it ends if nothing more is done: the phases are through, and only this report is still being written. */
function roadmapEnd({ phases }: RoadmapState, whole: readonly Warning[]): RoadmapState["_meta"]["status"] {
  const statuses = Object.values(phases).map(({ status }) => status);
  if (statuses.includes("failed") || whole.some(({ code }) => code === "integration_failed")) return "failed";
  return statuses.every((status) => status === "completed") ? "completed" : "paused";
}

/** Every phase of the roadmap as it was recorded; without the document, those the run knows. */
function runPhases(run: RunView, readBlob: WrapUpParts["readBlob"]): readonly RoadmapPhase[] {
  const path = own(run.drafted.options, "roadmap_path");
  const kept = run.drafted.documents?.find((document) => document.path === path);
  const text = kept === undefined ? null : readBlob(kept.hash);
  const { phases } = text === null || typeof path !== "string" ? { phases: [] } : readRoadmap(path, text.toString("utf8"));
  return phases.length > 0 ? phases : run.phases.filter(({ group }) => group === "phases");
}

/** Null if everything is on the disk; else what is not, and why. */
async function written({ paths: { root } }: WrapUpParts, input: CompletionInput & Runs): Promise<string | null> {
  const files = [
    [metricsFile, json(input.runs)],
    [completionPageFile, completionPage(input)],
    [completionDataFile, json(completionData(input))],
  ] as const;
  const problems: string[] = [];
  for (const [path, text] of files) {
    try {
      await writeWholeFile(root, path, text);
    } catch (error) {
      problems.push(`${path}: ${error instanceof Error ? error.message : "it could not be written"}`);
    }
  }
  return problems.length === 0 ? null : `The report could not be written whole: ${problems.join("; ")}.`;
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** What the playbook adds to the report; the share of the whole roadmap only where the whole roadmap was asked for. */
function factsOf({ metrics, batch }: CompletionInput, isWritten: boolean): Facts {
  const counted: Pick<CompletionReport, "phases_attempted" | "phases_succeeded" | "phases_failed"> = batch ?? metrics;
  return {
    phases_attempted: counted.phases_attempted,
    phases_succeeded: counted.phases_succeeded,
    phases_failed: counted.phases_failed,
    ...(isWritten ? { report_path: completionPageFile } : {}),
    ...(batch === null ? {} : { phases_skipped: batch.phases_skipped.length, completion_percentage: batch.completion_percentage }),
  };
}
