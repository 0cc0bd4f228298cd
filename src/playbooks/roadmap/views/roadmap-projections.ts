// roadmap-projections: everything the roadmap's files say about one run, updated with its journal: the state, each phase's pages, post-mortems,
// learnings, trace spans.
//
// Invariant:
//   K1. The same journal makes the same pages, however often and in whatever pieces it is read.

import type { Entry } from "../../../contracts/event.ts";
import type { PostMortem, TraceSpan, TriageFile } from "../../../contracts/roadmap-reports.ts";
import type { LiveEvent } from "../../../contracts/signal.ts";
import { type Learning, learningFromPostMortem, learningFromVerdict, visitRecheck } from "../insight/learnings.ts";
import { isAround, phaseOfEntry } from "../../../insight/places.ts";
import { findPostMortem } from "../../../insight/post-mortem.ts";
import { openExecutionLog } from "./roadmap-execution-log.ts";
import type { LogExtra } from "./roadmap-log.ts";
import { openRoadmapState, type RoadmapStateBook } from "./roadmap-state.ts";
import { type EvidenceOf, openTrace } from "../../../views/phase-trace.ts";
import { entryTriage } from "./roadmap-triage.ts";
import { openVerification } from "./roadmap-verification.ts";

/** A file of a phase's folder. */
export type PhasePage = { readonly name: string; readonly text: string };

export type RoadmapProjections = {
  readonly state: RoadmapStateBook;
  /** Gives the spans that the entry adds. */
  apply(entry: Entry): readonly TraceSpan[];
  signal(signal: LiveEvent, at: string): TraceSpan | null;
  /** The current content of a phase's files; a file without content is absent. */
  pagesOf(phase: string): readonly PhasePage[];
  /** The newest of each phase that failed in this run. */
  readonly postMortems: ReadonlyMap<string, PostMortem>;
  /** In the order in which they were learned. */
  readonly learnings: readonly Learning[];
  /** Phases that changed since the last call. */
  changed(): readonly string[];
};

export type ProjectionsExtra = LogExtra & { readonly evidenceOf?: EvidenceOf };

export function openRoadmapProjections({ evidenceOf = () => null, ...extra }: ProjectionsExtra = {}): RoadmapProjections {
  const state = openRoadmapState(extra);
  const log = openExecutionLog();
  const verification = openVerification(extra.claimOf ?? (() => undefined));
  const trace = openTrace(evidenceOf);
  const triages = new Map<string, TriageFile>();
  const postMortems = new Map<string, PostMortem>();
  const learnings: Learning[] = [];
  let changed = new Set<string>();
  let run_id = "";

  const learn = (entry: Entry, phase: string): void => {
    const reported = state.history.phases.get(phase);
    if (reported === undefined) return;
    if (entry.event === "phase_failed" || entry.event === "closing_failed") {
      const post = findPostMortem(reported.visit, {
        phase,
        name: reported.name,
        at: entry.ts,
        ...(extra.claimOf === undefined ? {} : { claimOf: extra.claimOf }),
      });
      if (post === null) return;
      postMortems.set(phase, post);
      learnings.push(learningFromPostMortem(post, { run_id, recheck: visitRecheck(reported.visit, post.root_cause.category) }));
    }
    if (entry.event === "block_answered" && reported.verdict?.timestamp === entry.ts) {
      const { verdict, issues, timestamp } = reported.verdict;
      learnings.push(learningFromVerdict({ phase_id: phase, phase_name: reported.name, verdict, issues, timestamp }, { run_id }));
    }
  };

  return {
    state,
    postMortems,
    learnings,
    apply(entry) {
      if (entry.event === "run_drafted") run_id = entry.run_id;
      state.apply(entry);
      const phase = phaseOfEntry(entry);
      if (phase === null || isAround(phase)) return [];
      log.apply(entry);
      verification.apply(entry);
      const triage = entryTriage(entry, evidenceOf);
      if (triage !== null) triages.set(phase, triage);
      learn(entry, phase);
      changed.add(phase);
      return trace.ofEntry(entry);
    },
    signal: (signal, at) => (signal.signal === "tool" ? trace.ofLiveEvent(signal, at) : null),
    pagesOf(phase) {
      const name = state.history.phases.get(phase)?.name ?? phase;
      const triage = triages.get(phase);
      const pages: readonly (readonly [string, string | null])[] = [
        ["EXECUTION-LOG.md", log.pageOf(phase, name, run_id)],
        ["VERIFICATION.md", verification.pageOf(phase, name, run_id)],
        ["TRIAGE.json", triage === undefined ? null : `${JSON.stringify(triage, null, 2)}\n`],
      ];
      return pages.flatMap(([file, text]) => (text === null ? [] : [{ name: file, text }]));
    },
    changed() {
      const since = [...changed];
      changed = new Set();
      return since;
    },
  };
}
