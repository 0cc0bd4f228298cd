// roadmap-open: follows the journal of an active roadmap run, and writes the roadmap's files when
// asked.
//
// Invariants:
//   O1. The files follow from the journal and its blobs alone, except for the spans of live events,
//       which are stored beside it, and the times at which earlier runs completed phases, which are
//       read from their archived states.
//   O2. Before files are written, every entry of the journal is applied (journal-follower.ts).
//   O3. A file that cannot be written does not block others, and is retried with the next write.
//       Only the first problem is reported.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "../../../contracts/event.ts";
import type { PostMortem } from "../../../contracts/roadmap-reports.ts";
import type { LiveEvent } from "../../../contracts/live-event.ts";
import { fold } from "../../../core/fold.ts";
import type { RunView } from "../../../core/state.ts";
import { renderLearnings } from "../views/learnings.ts";
import { postMortemName, postMortemPage } from "../../../views/post-mortem.ts";
import { type ProjectionsOptions, RoadmapProjections } from "../views/roadmap-projections.ts";
import { hasRoadmapState, openRoadmapState } from "../views/roadmap-state.ts";
import { parseIsoTime } from "../../../kit/iso-time.ts";
import type { PlaybookParts, OpenedPlaybook } from "../../contract/playbook.ts";
import { openClaimReader, openEvidenceReader } from "../../../project/runs/run-blobs.ts";
import { DiagnosticPages, type Halt, isHalt } from "./diagnostic-pages.ts";
import { readEarlierState } from "./earlier-state.ts";
import { JournalFollower } from "./journal-follower.ts";
import { commitPagesOfEndedRun } from "./roadmap-commit.ts";
import { deriveStateText } from "./derive-state-text.ts";
import { type RunRecheck, renderLearningsFor } from "./roadmap-learnings.ts";
import {
  diagnosticsFolder,
  learningsFile,
  phaseFolder,
} from "../../../contracts/roadmap-places.ts";
import { openStateFile, type StateFile } from "./roadmap-state-file.ts";
import { readCompletionTimes } from "./read-state-files.ts";
import { type StoredSpan, openSpanStore, openTraceFiles } from "./roadmap-traces.ts";
import { openGeneratedFiles } from "../../contract/generated-files.ts";

/**
 * Follows the run from its journal: what the files show comes from the parts that are given here.
 * O1
 */
export async function openRoadmapPlaybook(parts: PlaybookParts): Promise<OpenedPlaybook> {
  const { context, paths, root, view, entries, readBlob } = parts;
  const { drafted } = view();

  const roadmapFiles = new RoadmapFiles(parts, {
    readClaim: openClaimReader(readBlob),
    readEvidence: openEvidenceReader(readBlob),
    earlierState: readEarlierState(drafted, readBlob),
    completedBefore: mayHaveSkipped(view()) ? await readCompletionTimes(root, drafted.run_id) : {},
  });

  return {
    onEntry: (entry, run) => roadmapFiles.onEntry(entry, run),
    onLiveEvent: (liveEvent, now) => roadmapFiles.onLiveEvent(liveEvent, now),
    writeFiles: (now) => roadmapFiles.write(now),
    close: () => commitPagesOfEndedRun({ context, paths, root, entries, view: view() }),
    takeWarnings: () => roadmapFiles.takeWarnings(),
    learnings: (role, runRecheck) => roadmapFiles.renderLearnings(role, runRecheck),
  };
}

/** Whether phases of this run were, or may turn out to be, completed by an earlier run. */
const mayHaveSkipped = ({ isRead, phases }: RunView): boolean =>
  !isRead ||
  phases.some(
    ({ status, because }) => status === "skipped" && because?.startsWith("already_") === true,
  );

class RoadmapFiles {
  readonly #parts: PlaybookParts;
  readonly #projectionOptions: ProjectionsOptions;
  readonly #projections: RoadmapProjections;
  readonly #follower: JournalFollower;
  readonly #generatedFiles: ReturnType<typeof openGeneratedFiles>;
  readonly #stateFile: StateFile;
  readonly #spanStore: ReturnType<typeof openSpanStore>;
  readonly #traces: ReturnType<typeof openTraceFiles>;
  readonly #diagnostics = new DiagnosticPages();
  readonly #stalePhases = new Set<string>();
  /** Stored spans that are not in the traces yet; null before they are loaded. */
  #pendingSpans: StoredSpan[] | null = null;
  #catchingUp: Promise<void> | null = null;

  constructor(parts: PlaybookParts, projectionOptions: ProjectionsOptions) {
    const { root, folder, paths, view, entries } = parts;
    this.#parts = parts;
    this.#projectionOptions = projectionOptions;
    this.#projections = new RoadmapProjections(projectionOptions);
    this.#follower = new JournalFollower({
      entries,
      latestSeq: () => view().seq,
      apply: (entry) => this.#applyEntry(entry),
    });

    this.#generatedFiles = openGeneratedFiles(root, folder);
    this.#stateFile = openStateFile({
      root,
      folder,
      run: view().drafted.run_id,
      derive: (run) => deriveStateText(paths, run),
    });

    this.#spanStore = openSpanStore(folder);
    this.#traces = openTraceFiles(root, this.#generatedFiles);
  }

  onEntry(entry: Entry, run: RunView): void {
    this.#follower.push(entry);
    if (!isHalt(entry) || this.#catchingUp !== null) return;
    this.#follower.applyQueue();
    const { latestHalt } = this.#diagnostics;
    if (latestHalt?.entry === entry) this.#diagnose(latestHalt, run); // else catching up finds it in the journal
  }

  onLiveEvent(liveEvent: LiveEvent, now: string): void {
    const { folder, root, view } = this.#parts;
    const hasPath = liveEvent.signal === "tool" && liveEvent.path !== undefined;
    const located = hasPath
      ? { ...liveEvent, path: projectPath(liveEvent.path ?? "", folder, root) }
      : liveEvent;
    const span = this.#projections.onLiveEvent(located, now);
    if (span === null) return;
    const storedSpan = { after: view().seq, span };
    this.#pendingSpans?.push(storedSpan);
    this.#spanStore.add(storedSpan, parseIsoTime(now) ?? 0);
  }

  takeWarnings(): readonly string[] {
    return this.#generatedFiles.takeWarnings();
  }

  async renderLearnings(role: string, runRecheck: RunRecheck): Promise<string> {
    await this.#catchUp();
    return renderLearningsFor(role, this.#projections.learnings, runRecheck);
  }

  async write(now: string): Promise<void> {
    const run = this.#parts.view();
    if (!hasRoadmapState(run)) return;
    await this.#catchUp(); // O2
    this.#addSpansBefore(Number.POSITIVE_INFINITY);
    for (const phase of this.#projections.takeChanged()) this.#stalePhases.add(phase);
    const problems: Error[] = [];

    for (const writeFile of this.#listWrites(run, now)) {
      try {
        await writeFile();
      } catch (error) {
        problems.push(error instanceof Error ? error : new Error("it failed without a word")); // O3
      }
    }

    const [firstProblem] = problems;
    if (firstProblem !== undefined) throw firstProblem;
  }

  #applyEntry(entry: Entry): void {
    this.#addSpansBefore(entry.seq);
    for (const span of this.#projections.apply(entry)) this.#traces.add(span);
    if (isHalt(entry)) this.#diagnostics.noteHalt(entry);
  }

  /** Adds the stored spans that came before this entry. */
  #addSpansBefore(seq: number): void {
    const spans = (this.#pendingSpans ??= [...this.#spanStore.load()]);
    const laterIndex = spans.findIndex(({ after }) => after >= seq);

    for (const { span } of spans.splice(0, laterIndex < 0 ? spans.length : laterIndex)) {
      this.#traces.add(span);
    }
  }

  #catchUp(): Promise<void> {
    return (this.#catchingUp ??= this.#followJournal().finally(() => (this.#catchingUp = null)));
  }

  async #followJournal(): Promise<void> {
    const haltBefore = this.#diagnostics.latestHalt;
    await this.#follower.catchUp();
    const { latestHalt } = this.#diagnostics;
    if (latestHalt !== null && latestHalt !== haltBefore) this.#diagnoseAfterwards(latestHalt);
  }

  #diagnose(halt: Halt, run: RunView, state = this.#projections.state.buildState(run)): void {
    this.#diagnostics.add(halt, run, state, this.#projections.postMortems.values());
  }

  /** Makes the page of a halt found in the journal: the state at that time is folded again. */
  #diagnoseAfterwards(halt: Halt): void {
    const { root, entries } = this.#parts;
    if (existsSync(join(root, diagnosticsFolder, halt.name))) return;
    const entriesThen = [...entries()].filter(({ seq }) => seq <= halt.entry.seq);
    const run = fold(entriesThen);
    const projection = openRoadmapState(this.#projectionOptions);
    for (const entry of entriesThen) projection.apply(entry);
    if (run.status !== "unborn") this.#diagnose(halt, run, projection.buildState(run));
  }

  #listWrites(run: RunView, now: string): readonly (() => Promise<void>)[] {
    return [
      () => this.#writeState(run, now),
      ...[...this.#stalePhases].map((phase) => () => this.#writePhase(phase)),
      () => this.#writeTraces(),
      ...[...this.#projections.postMortems].flatMap(([phase, postMortem]) =>
        this.#listPostMortemWrites(phase, postMortem),
      ),
      ...[...this.#diagnostics.pending].map(
        ([name, page]) =>
          () =>
            this.#writeDiagnostic(name, page),
      ),
      () => this.#writeLearnings(),
    ];
  }

  #writeState(run: RunView, now: string): Promise<void> {
    this.#follower.applyQueue(); // the view is current, so the event log must be current too
    // Only a running run has a sign of life after its last entry.
    const text = this.#projections.state.renderText(
      run,
      run.status === "running" ? now : undefined,
    );
    return run.status === "completed" ? this.#stateFile.archive(text) : this.#stateFile.write(text);
  }

  /**
   * A span is stored before it is in a trace: else the next process would take the trace for
   * somebody's edit.
   */
  #writeTraces(): Promise<void> {
    this.#spanStore.flush();
    return this.#traces.write();
  }

  async #writePhase(phase: string): Promise<void> {
    const folder = phaseFolder(phase);
    const pages = folder === null ? [] : this.#projections.renderPages(phase);
    for (const { name, text } of pages) await this.#generatedFiles.write(`${folder}/${name}`, text);
    this.#stalePhases.delete(phase);
  }

  #listPostMortemWrites(phase: string, postMortem: PostMortem): readonly (() => Promise<void>)[] {
    if (phaseFolder(phase) === null) return []; // the phase's id cannot be part of a path
    const path = `${diagnosticsFolder}/${postMortemName(phase)}`;
    return [
      () => this.#generatedFiles.write(path, `${JSON.stringify(postMortem, null, 2)}\n`),
      () => this.#generatedFiles.write(path.replace(/\.json$/, ".md"), postMortemPage(postMortem)),
    ];
  }

  async #writeDiagnostic(name: string, page: string): Promise<void> {
    await this.#generatedFiles.write(`${diagnosticsFolder}/${name}`, page);
    this.#diagnostics.pending.delete(name);
  }

  #writeLearnings(): Promise<void> {
    const { learnings } = this.#projections;
    if (learnings.length === 0) return this.#generatedFiles.remove(learningsFile);
    return this.#generatedFiles.write(learningsFile, renderLearnings(learnings));
  }
}

/**
 * A path as the project knows it: agents work in temporary folders,
 * `<run>/layers/<attempt>/src/a.ts`.
 */
function projectPath(path: string, folder: string, root: string): string {
  const layers = `${join(folder, "layers")}/`;
  if (path.startsWith(layers)) return path.slice(layers.length).replace(/^[^/]*\//, "");
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}
