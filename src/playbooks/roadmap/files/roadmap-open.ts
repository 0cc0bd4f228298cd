// roadmap-open: follows the journal of an active roadmap run, and writes the roadmap's files when asked.
//
// Invariants:
//   O1. The files follow from the journal and its blobs alone, except for the spans of signals, which are stored beside it.
//   O2. If entries were missed, the journal is read again before the next write.
//   O3. A file that cannot be written does not block others, and is retried.
//   O4. No acknowledgement waits: entries are queued, and processed when a file is written.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "../../../contracts/event.ts";
import { fold } from "../../../core/fold.ts";
import type { RunView } from "../../../core/state.ts";
import { diagnosticName, diagnosticPage } from "../../../views/diagnostic.ts";
import { renderLearnings } from "../views/learnings.ts";
import { listNextActions } from "../../../views/next-actions.ts";
import { postMortemName, postMortemPage } from "../../../views/post-mortem.ts";
import { type ProjectionsOptions, openRoadmapProjections } from "../views/roadmap-projections.ts";
import { isHaltReason } from "../views/roadmap-log.ts";
import { hasRoadmapState, openRoadmapState } from "../views/roadmap-state.ts";
import { parseIsoTime } from "../../../kit/iso-time.ts";
import type { PlaybookParts, OpenedPlaybook } from "../../contract/playbook.ts";
import { openClaimReader, openEvidenceReader } from "../../../project/runs/run-blobs.ts";
import { readEarlierState } from "./earlier-state.ts";
import { commitPagesOfEndedRun } from "./roadmap-commit.ts";
import { deriveStateText } from "./roadmap-derive.ts";
import { renderLearningsFor } from "./roadmap-learnings.ts";
import { diagnosticsFolder, learningsFile, phaseFolder } from "../../../contracts/roadmap-places.ts";
import { openStateFile } from "./roadmap-state-file.ts";
import { readCompletionTimes } from "./roadmap-states.ts";
import { type StoredSpan, openSpanStore, openTraceFiles } from "./roadmap-traces.ts";
import { openGeneratedFiles } from "../../contract/generated-files.ts";

const entriesPerTurn = 1_000;
const yieldToEventLoop = (): Promise<void> => new Promise((go) => void setImmediate(go));

type Halting = Extract<Entry, { event: "run_paused" | "run_stopped" }>;
/** A halt, and the file that reports it. */
type Halt = { readonly entry: Halting; readonly name: string };

export async function openRoadmapPlaybook({
  context,
  paths,
  root,
  folder,
  view,
  entries,
  readBlob,
}: PlaybookParts): Promise<OpenedPlaybook> {
  const { run_id } = view().drafted;
  const projectionOptions: ProjectionsOptions = {
    readClaim: openClaimReader(readBlob),
    readEvidence: openEvidenceReader(readBlob),
    earlierState: readEarlierState(view().drafted, readBlob),
    completedBefore: mayHaveSkipped(view()) ? await readCompletionTimes(root, run_id) : {},
  };
  const projections = openRoadmapProjections(projectionOptions);
  const generatedFiles = openGeneratedFiles(root, folder);
  const stateFile = openStateFile({ root, folder, run: run_id, derive: (run) => deriveStateText(paths, run) });
  const store = openSpanStore(folder);
  const traces = openTraceFiles(root, generatedFiles);
  const stalePhases = new Set<string>();
  /** Pages of halts that are still to be written, by file name. */
  const diagnostics = new Map<string, string>();
  let pendingSpans: StoredSpan[] | null = null;
  let queue: Entry[] = [];
  let catchingUp: Promise<void> | null = null;
  let lastSeq = -1;
  let lastHalt: Halt | null = null;
  const halts = new Map<string, number>();

  const diagnose = ({ entry, name }: Halt, run: RunView, state = projections.state.buildState(run)): void => {
    const page = diagnosticPage({
      state,
      reason: entry.reason_code,
      detail: entry.detail ?? null,
      at: entry.ts,
      remediation: listNextActions(run),
      postMortems: [...projections.postMortems.values()],
    });
    diagnostics.set(name, page);
  };
  /** Two halts within the same second get two files. */
  const buildHalt = (entry: Halting): Halt => {
    const name = diagnosticName(entry.ts);
    const ordinal = (halts.get(name) ?? 0) + 1;
    halts.set(name, ordinal);
    return { entry, name: ordinal === 1 ? name : name.replace(/\.md$/, `-${ordinal}.md`) };
  };
  /** Adds the stored spans that came before this entry. */
  const addPendingSpans = (before: number): void => {
    const spans = (pendingSpans ??= [...store.load()]);
    const until = spans.findIndex(({ after }) => after >= before);
    for (const { span } of spans.splice(0, until < 0 ? spans.length : until)) traces.add(span);
  };
  const applyEntry = (entry: Entry): void => {
    addPendingSpans(entry.seq);
    for (const span of projections.apply(entry)) traces.add(span);
    lastSeq = entry.seq;
    if (isHalting(entry)) lastHalt = buildHalt(entry);
  };
  /** Applies queued entries up to the first missing one. O2, O4 */
  const applyQueue = (): void => {
    for (const entry of queue) if (entry.seq === lastSeq + 1) applyEntry(entry);
    queue = [];
  };
  const catchUp = async (): Promise<void> => {
    const haltBefore = lastHalt;
    applyQueue();
    for (let appliedCount = 0, from = -2; lastSeq < view().seq && from < lastSeq; applyQueue()) {
      from = lastSeq;
      for (const entry of entries()) {
        if (entry.seq <= lastSeq) continue;
        applyEntry(entry);
        if (++appliedCount % entriesPerTurn === 0) await yieldToEventLoop(); // a long journal must not block for long
      }
    }
    if (lastHalt !== haltBefore && lastHalt !== null) diagnoseAfterwards(lastHalt);
  };
  const catchUpOnce = (): Promise<void> => (catchingUp ??= catchUp().finally(() => (catchingUp = null)));
  /** Writes the page of a halt found in the journal: the state at that time is folded again. */
  const diagnoseAfterwards = (halt: Halt): void => {
    if (existsSync(join(root, diagnosticsFolder, halt.name))) return;
    const entriesThen = [...entries()].filter(({ seq }) => seq <= halt.entry.seq);
    const run = fold(entriesThen);
    const projection = openRoadmapState(projectionOptions);
    for (const entry of entriesThen) projection.apply(entry);
    if (run.status !== "unborn") diagnose(halt, run, projection.buildState(run));
  };

  const listWrites = (run: RunView, now: string): readonly (() => Promise<void>)[] => [
    () => writeState(run, now),
    ...[...stalePhases].map((phase) => () => writePhase(phase)),
    () => traces.write(),
    ...[...projections.postMortems].flatMap(([phase, postMortem]) => {
      if (phaseFolder(phase) === null) return [];
      const path = `${diagnosticsFolder}/${postMortemName(phase)}`;
      return [
        () => generatedFiles.write(path, `${JSON.stringify(postMortem, null, 2)}\n`),
        () => generatedFiles.write(path.replace(/\.json$/, ".md"), postMortemPage(postMortem)),
      ];
    }),
    ...[...diagnostics].map(([name, page]) => async () => {
      await generatedFiles.write(`${diagnosticsFolder}/${name}`, page);
      diagnostics.delete(name);
    }),
    () =>
      projections.learnings.length === 0
        ? generatedFiles.remove(learningsFile)
        : generatedFiles.write(learningsFile, renderLearnings(projections.learnings)),
  ];
  const writeState = (run: RunView, now: string): Promise<void> => {
    applyQueue(); // the view is current, so the event log must be current too
    // Only a running run has a sign of life after its last entry.
    const text = projections.state.renderText(run, run.status === "running" ? now : undefined);
    return run.status === "completed" ? stateFile.archive(text) : stateFile.write(text);
  };
  const writePhase = async (phase: string): Promise<void> => {
    const phasePath = phaseFolder(phase);
    if (phasePath !== null)
      for (const { name, text } of projections.renderPages(phase)) await generatedFiles.write(`${phasePath}/${name}`, text);
    stalePhases.delete(phase);
  };

  return {
    onEntry(entry, run) {
      queue.push(entry);
      if (!isHalting(entry) || catchingUp !== null) return;
      applyQueue();
      if (lastHalt?.entry === entry) diagnose(lastHalt, run); // else catching up finds it in the journal
    },
    onLiveEvent(signal, at) {
      const hasPath = signal.signal === "tool" && signal.path !== undefined;
      const span = projections.onLiveEvent(hasPath ? { ...signal, path: projectPath(signal.path ?? "", folder, root) } : signal, at);
      if (span === null) return;
      const pendingSpan = { after: view().seq, span };
      pendingSpans?.push(pendingSpan);
      store.add(pendingSpan, parseIsoTime(at) ?? 0);
    },
    async writeFiles(now) {
      const run = view();
      if (!hasRoadmapState(run)) return;
      await catchUpOnce();
      addPendingSpans(Number.POSITIVE_INFINITY);
      store.flush();
      for (const phase of projections.takeChanged()) stalePhases.add(phase);
      const problems: Error[] = [];
      for (const write of listWrites(run, now)) {
        try {
          await write();
        } catch (error) {
          problems.push(error instanceof Error ? error : new Error("it failed without a word")); // O3
        }
      }
      const [first] = problems;
      if (first !== undefined) throw first;
    },
    close: () => commitPagesOfEndedRun({ context, paths, root, entries, view: view() }),
    takeWarnings: () => generatedFiles.takeWarnings(),
    learnings: async (role, holds) => {
      await catchUpOnce();
      return renderLearningsFor(role, projections.learnings, holds);
    },
  };
}

/** A path as the project knows it: agents work in temporary folders. */
function projectPath(path: string, folder: string, root: string): string {
  const layers = `${join(folder, "layers")}/`;
  if (path.startsWith(layers)) return path.slice(layers.length).replace(/^[^/]*\//, "");
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}

const isHalting = (entry: Entry): entry is Halting =>
  entry.event === "run_stopped" || (entry.event === "run_paused" && isHaltReason(entry.reason_code));

/** Whether phases of this run were, or may turn out to be, completed by an earlier run. */
const mayHaveSkipped = ({ isRead, phases }: RunView): boolean =>
  !isRead || phases.some(({ status, because }) => status === "skipped" && because?.startsWith("already_") === true);
