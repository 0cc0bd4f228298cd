// roadmap-projections: derives the content of all of the roadmap's files from the journal: state, pages of phases, post-mortems, learnings,
// trace spans.
//
// Invariant:
//   K1. The same journal gives the same pages, whether read at once or in parts.

import type { Entry } from "../../../contracts/event.ts";
import type { PostMortem, TraceSpan, TriageFile } from "../../../contracts/roadmap-reports.ts";
import type { LiveEvent } from "../../../contracts/live-event.ts";
import { type Learning, createFailureLearning, createVerdictLearning, findRecheck } from "../insight/learnings.ts";
import { isOutsideRoadmap, phaseOfEntry } from "../../../insight/attempt-path.ts";
import { buildPostMortem } from "../../../insight/post-mortem.ts";
import { openExecutionLog } from "./roadmap-execution-log.ts";
import type { LogOptions } from "./roadmap-log.ts";
import { openRoadmapState, type RoadmapStateProjection } from "./roadmap-state.ts";
import { type FindEvidence, openPhaseTrace } from "../../../views/phase-trace.ts";
import { buildTriage } from "./roadmap-triage.ts";
import { openVerification } from "./roadmap-verification.ts";

/** A file of a phase's folder. */
export type PhasePage = { readonly name: string; readonly text: string };

export type RoadmapProjections = {
  readonly state: RoadmapStateProjection;
  /** Returns the spans that the entry adds. */
  apply(entry: Entry): readonly TraceSpan[];
  /** The span of a tool's use; null for other live events. */
  onLiveEvent(liveEvent: LiveEvent, now: string): TraceSpan | null;
  /** The current content of a phase's files; a file without content is absent. */
  renderPages(phase: string): readonly PhasePage[];
  /** The newest of each phase that failed in this run. */
  readonly postMortems: ReadonlyMap<string, PostMortem>;
  /** In the order in which they were learned. */
  readonly learnings: readonly Learning[];
  /** Phases that changed since the last call. */
  takeChanged(): readonly string[];
};

export type ProjectionsOptions = LogOptions & { readonly readEvidence?: FindEvidence };

export function openRoadmapProjections({ readEvidence = () => null, ...options }: ProjectionsOptions = {}): RoadmapProjections {
  const state = openRoadmapState(options);
  const log = openExecutionLog();
  const verification = openVerification(options.readClaim ?? (() => undefined));
  const trace = openPhaseTrace(readEvidence);
  const triages = new Map<string, TriageFile>();
  const postMortems = new Map<string, PostMortem>();
  const learnings: Learning[] = [];
  let changedPhases = new Set<string>();
  let runId = "";

  const addLearnings = (entry: Entry, phase: string): void => {
    const summary = state.history.phases.get(phase);
    if (summary === undefined) return;
    if (entry.event === "phase_failed" || entry.event === "closing_failed") {
      const claimOf = options.readClaim === undefined ? {} : { claimOf: options.readClaim };
      const postMortem = buildPostMortem(summary.visit, { phase, name: summary.name, at: entry.ts, ...claimOf });
      if (postMortem === null) return;
      postMortems.set(phase, postMortem);
      const recheck = findRecheck(summary.visit, postMortem.root_cause.category);
      learnings.push(createFailureLearning(postMortem, { run_id: runId, recheck }));
    }
    if (entry.event === "block_answered" && summary.verdict?.timestamp === entry.ts) {
      const { verdict, issues, timestamp } = summary.verdict;
      learnings.push(createVerdictLearning({ phase_id: phase, phase_name: summary.name, verdict, issues, timestamp }, { run_id: runId }));
    }
  };

  return {
    state,
    postMortems,
    learnings,
    apply(entry) {
      if (entry.event === "run_drafted") runId = entry.run_id;
      state.apply(entry);
      const phase = phaseOfEntry(entry);
      if (phase === null || isOutsideRoadmap(phase)) return [];
      log.apply(entry);
      verification.apply(entry);
      const triage = buildTriage(entry, readEvidence);
      if (triage !== null) triages.set(phase, triage);
      addLearnings(entry, phase);
      changedPhases.add(phase);
      return trace.spansOfEntry(entry);
    },
    onLiveEvent: (liveEvent, now) => (liveEvent.signal === "tool" ? trace.spanOfToolEvent(liveEvent, now) : null),
    renderPages(phase) {
      const name = state.history.phases.get(phase)?.name ?? phase;
      const triage = triages.get(phase);
      const pages: readonly (readonly [string, string | null])[] = [
        ["EXECUTION-LOG.md", log.renderPage(phase, name, runId)],
        ["VERIFICATION.md", verification.renderPage(phase, name, runId)],
        ["TRIAGE.json", triage === undefined ? null : `${JSON.stringify(triage, null, 2)}\n`],
      ];
      return pages.flatMap(([file, text]) => (text === null ? [] : [{ name: file, text }]));
    },
    takeChanged() {
      const phases = [...changedPhases];
      changedPhases = new Set();
      return phases;
    },
  };
}
