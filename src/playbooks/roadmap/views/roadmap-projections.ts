// roadmap-projections: derives the content of all of the roadmap's files from the journal: state,
// pages of phases, post-mortems, learnings, trace spans.
//
// Invariant:
//   K1. The same journal gives the same pages, whether read at once or in parts.

import type { Entry } from "../../../contracts/event.ts";
import type { PostMortem, TraceSpan, TriageFile } from "../../../contracts/roadmap-reports.ts";
import type { LiveEvent } from "../../../contracts/live-event.ts";
import {
  type Learning,
  createFailureLearning,
  createVerdictLearning,
  findRecheck,
} from "../insight/learnings.ts";
import { isOutsideRoadmap, phaseOfEntry } from "../../../insight/attempt-path.ts";
import { buildPostMortem } from "../../../insight/post-mortem.ts";
import { ExecutionLog } from "./roadmap-execution-log.ts";
import type { ReadClaim } from "./roadmap-audit.ts";
import type { LogOptions } from "./roadmap-log.ts";
import { openRoadmapState, type RoadmapStateProjection } from "./roadmap-state.ts";
import { type FindEvidence, openPhaseTrace } from "../../../views/phase-trace.ts";
import { buildTriage } from "./roadmap-triage.ts";
import { Verification } from "./roadmap-verification.ts";

/** A file of a phase's folder. */
export type PhasePage = { readonly name: string; readonly text: string };

export type ProjectionsOptions = LogOptions & { readonly readEvidence?: FindEvidence };

/** Takes the entries of a journal in order, and gives the content of each file at that point. K1 */
export class RoadmapProjections {
  readonly state: RoadmapStateProjection;
  /** The newest post-mortem of each phase that failed in this run. */
  readonly postMortems = new Map<string, PostMortem>();
  /** In the order in which they were learned. */
  readonly learnings: Learning[] = [];
  readonly #readEvidence: FindEvidence;
  readonly #readClaim: ReadClaim | undefined;
  readonly #log = new ExecutionLog();
  readonly #verification: Verification;
  readonly #trace: ReturnType<typeof openPhaseTrace>;
  readonly #triages = new Map<string, TriageFile>();
  #changedPhases = new Set<string>();
  #runId = "";

  constructor({ readEvidence = () => null, ...options }: ProjectionsOptions = {}) {
    this.state = openRoadmapState(options);
    this.#readEvidence = readEvidence;
    this.#readClaim = options.readClaim;
    this.#verification = new Verification(options.readClaim ?? (() => undefined));
    this.#trace = openPhaseTrace(readEvidence);
  }

  /** Returns the spans that the entry adds. */
  apply(entry: Entry): readonly TraceSpan[] {
    if (entry.event === "run_drafted") this.#runId = entry.run_id;
    this.state.apply(entry);
    const phase = phaseOfEntry(entry);
    if (phase === null || isOutsideRoadmap(phase)) return [];
    this.#log.apply(entry);
    this.#verification.apply(entry);
    const triage = buildTriage(entry, this.#readEvidence);
    if (triage !== null) this.#triages.set(phase, triage);
    this.#addLearnings(entry, phase);
    this.#changedPhases.add(phase);

    return this.#trace.spansOfEntry(entry);
  }

  /** The span of a tool's use; null for other live events. */
  onLiveEvent(liveEvent: LiveEvent, now: string): TraceSpan | null {
    return liveEvent.signal === "tool" ? this.#trace.spanOfToolEvent(liveEvent, now) : null;
  }

  /** The current content of a phase's files; a file without content is absent. */
  renderPages(phase: string): readonly PhasePage[] {
    const name = this.state.history.phases.get(phase)?.name ?? phase;
    const triage = this.#triages.get(phase);

    const pages: readonly (readonly [string, string | null])[] = [
      ["EXECUTION-LOG.md", this.#log.renderPage(phase, name, this.#runId)],
      ["VERIFICATION.md", this.#verification.renderPage(phase, name, this.#runId)],
      ["TRIAGE.json", triage === undefined ? null : `${JSON.stringify(triage, null, 2)}\n`],
    ];
    return pages.flatMap(([file, text]) => (text === null ? [] : [{ name: file, text }]));
  }

  /** Phases that changed since the last call. */
  takeChanged(): readonly string[] {
    const phases = [...this.#changedPhases];
    this.#changedPhases = new Set();
    return phases;
  }

  /** A failed phase teaches by its post-mortem, a person's verdict by what it says. */
  #addLearnings(entry: Entry, phase: string): void {
    const summary = this.state.history.phases.get(phase);
    if (summary === undefined) return;
    if (entry.event === "phase_failed" || entry.event === "closing_failed") {
      const claimOf = this.#readClaim === undefined ? {} : { claimOf: this.#readClaim };
      const postMortem = buildPostMortem(summary.visit, {
        phase,
        name: summary.name,
        at: entry.ts,
        ...claimOf,
      });
      if (postMortem === null) return;
      this.postMortems.set(phase, postMortem);
      const recheck = findRecheck(summary.visit, postMortem.root_cause.category);
      this.learnings.push(createFailureLearning(postMortem, { run_id: this.#runId, recheck }));
    }

    if (entry.event === "block_answered" && summary.verdict?.timestamp === entry.ts) {
      const { verdict, issues, timestamp } = summary.verdict;
      const personVerdict = {
        phase_id: phase,
        phase_name: summary.name,
        verdict,
        issues,
        timestamp,
      };
      this.learnings.push(createVerdictLearning(personVerdict, { run_id: this.#runId }));
    }
  }
}
