// roadmap-open: the roadmap's files of a working run: follows the journal entry by entry, and writes the files when asked.
//
// Invariants:
//   O1. The files follow from the journal and its blobs alone, except for the spans of signals, which are stored beside it.
//   O2. After a gap in the entries nothing is guessed: the journal is read up to it before the next write.
//   O3. A file that cannot be written does not block others, and is retried.
//   O4. No acknowledgement waits: entries are queued, and processed when a file is written.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "../../../contracts/event.ts";
import { fold } from "../../../core/fold.ts";
import type { RunView } from "../../../core/state.ts";
import { diagnosticName, diagnosticPage } from "../../../views/diagnostic.ts";
import { learningsPage } from "../views/learnings.ts";
import { nextActions } from "../../../views/next-actions.ts";
import { postMortemName, postMortemPage } from "../../../views/post-mortem.ts";
import { type ProjectionsExtra, openRoadmapProjections } from "../views/roadmap-projections.ts";
import { isHalt } from "../views/roadmap-log.ts";
import { hasRoadmapState, openRoadmapState } from "../views/roadmap-state.ts";
import { parseIsoTime } from "../../../kit/iso-time.ts";
import type { PlaybookParts, OpenedPlaybook } from "../../contract/playbook.ts";
import { claimsFrom, evidenceFrom } from "../../../project/runs/run-blobs.ts";
import { carriedBy } from "./carried.ts";
import { commitEndedPages } from "./roadmap-commit.ts";
import { stateOfRun } from "./roadmap-derive.ts";
import { learningsText } from "./roadmap-learnings.ts";
import { diagnosticsFolder, learningsFile, phaseFolder } from "../../../contracts/roadmap-places.ts";
import { openStateFile } from "./roadmap-state-file.ts";
import { completedEarlier } from "./roadmap-states.ts";
import { type Kept, openSpanStore, openTraceFiles } from "./roadmap-traces.ts";
import { openGeneratedFiles } from "../../contract/generated-files.ts";

const readAtOnce = 1_000;
const breath = (): Promise<void> => new Promise((go) => void setImmediate(go));

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
  const extra: ProjectionsExtra = {
    claimOf: claimsFrom(readBlob),
    evidenceOf: evidenceFrom(readBlob),
    carried: carriedBy(view().drafted, readBlob),
    earlier: needsEarlier(view()) ? await completedEarlier(root, run_id) : {},
  };
  const books = openRoadmapProjections(extra);
  const generatedFiles = openGeneratedFiles(root, folder);
  const stateFile = openStateFile({ root, folder, run: run_id, derive: (run) => stateOfRun(paths, run) });
  const store = openSpanStore(folder);
  const traces = openTraceFiles(root, generatedFiles);
  const stale = new Set<string>();
  /** Pages of halts that are still to be drawn, by file name. */
  const diagnostics = new Map<string, string>();
  let kept: Kept[] | null = null;
  let pile: Entry[] = [];
  let reading: Promise<void> | null = null;
  let lastSeq = -1;
  let lastHalt: Halt | null = null;
  const halts = new Map<string, number>();

  const diagnose = ({ entry, name }: Halt, run: RunView, state = books.state.stateOf(run)): void => {
    const page = diagnosticPage({
      state,
      reason: entry.reason_code,
      detail: entry.detail ?? null,
      at: entry.ts,
      remediation: nextActions(run),
      postMortems: [...books.postMortems.values()],
    });
    diagnostics.set(name, page);
  };
  /** Two halts within a second have two files. */
  const entryHalt = (entry: Halting): Halt => {
    const name = diagnosticName(entry.ts);
    const nth = (halts.get(name) ?? 0) + 1;
    halts.set(name, nth);
    return { entry, name: nth === 1 ? name : name.replace(/\.md$/, `-${nth}.md`) };
  };
  /** Spans that came before this entry go before what it adds. */
  const addKept = (before: number): void => {
    const waiting = (kept ??= [...store.all()]);
    const until = waiting.findIndex(({ after }) => after >= before);
    for (const { span } of waiting.splice(0, until < 0 ? waiting.length : until)) traces.add(span);
  };
  const note = (entry: Entry): void => {
    addKept(entry.seq);
    for (const span of books.apply(entry)) traces.add(span);
    lastSeq = entry.seq;
    if (isHalting(entry)) lastHalt = entryHalt(entry);
  };
  /** Up to the first one that is missing. O2, O4 */
  const readPile = (): void => {
    for (const entry of pile) if (entry.seq === lastSeq + 1) note(entry);
    pile = [];
  };
  const readOn = async (): Promise<void> => {
    const previousHalt = lastHalt;
    readPile();
    for (let read = 0, from = -2; lastSeq < view().seq && from < lastSeq; readPile()) {
      from = lastSeq;
      for (const entry of entries()) {
        if (entry.seq <= lastSeq) continue;
        note(entry);
        if (++read % readAtOnce === 0) await breath(); // a long journal must not block for long
      }
    }
    if (lastHalt !== previousHalt && lastHalt !== null) diagnoseLater(lastHalt);
  };
  const caughtUp = (): Promise<void> => (reading ??= readOn().finally(() => (reading = null)));
  /** A halt that was found in the journal: how things stood then is folded once more. */
  const diagnoseLater = (halt: Halt): void => {
    if (existsSync(join(root, diagnosticsFolder, halt.name))) return;
    const then = [...entries()].filter(({ seq }) => seq <= halt.entry.seq);
    const run = fold(then);
    const book = openRoadmapState(extra);
    for (const entry of then) book.apply(entry);
    if (run.status !== "unborn") diagnose(halt, run, book.stateOf(run));
  };

  const drawings = (run: RunView, now: string): readonly (() => Promise<void>)[] => [
    () => drawState(run, now),
    ...[...stale].map((phase) => () => drawPhase(phase)),
    () => traces.draw(),
    ...[...books.postMortems].flatMap(([phase, post]) => {
      if (phaseFolder(phase) === null) return [];
      const path = `${diagnosticsFolder}/${postMortemName(phase)}`;
      return [
        () => generatedFiles.write(path, `${JSON.stringify(post, null, 2)}\n`),
        () => generatedFiles.write(path.replace(/\.json$/, ".md"), postMortemPage(post)),
      ];
    }),
    ...[...diagnostics].map(([name, page]) => async () => {
      await generatedFiles.write(`${diagnosticsFolder}/${name}`, page);
      diagnostics.delete(name);
    }),
    () =>
      books.learnings.length === 0
        ? generatedFiles.remove(learningsFile)
        : generatedFiles.write(learningsFile, learningsPage(books.learnings)),
  ];
  const drawState = (run: RunView, now: string): Promise<void> => {
    readPile(); // the run's view is of this moment, so its log must be too
    // Only who works is alive: a run that rests is where its last entry left it.
    const text = books.state.textOf(run, run.status === "running" ? now : undefined);
    return run.status === "completed" ? stateFile.archive(text) : stateFile.write(text);
  };
  const drawPhase = async (phase: string): Promise<void> => {
    const where = phaseFolder(phase);
    if (where !== null) for (const { name, text } of books.pagesOf(phase)) await generatedFiles.write(`${where}/${name}`, text);
    stale.delete(phase);
  };

  return {
    onEntry(entry, run) {
      pile.push(entry);
      if (!isHalting(entry) || reading !== null) return;
      readPile();
      if (lastHalt?.entry === entry) diagnose(lastHalt, run); // else it is found in the journal
    },
    onLiveEvent(signal, at) {
      const isPlaced = signal.signal === "tool" && signal.path !== undefined;
      const span = books.signal(isPlaced ? { ...signal, path: placeIn(signal.path ?? "", folder, root) } : signal, at);
      if (span === null) return;
      const stored = { after: view().seq, span };
      kept?.push(stored);
      store.keep(stored, parseIsoTime(at) ?? 0);
    },
    async writeFiles(now) {
      const run = view();
      if (!hasRoadmapState(run)) return;
      await caughtUp();
      addKept(Number.POSITIVE_INFINITY);
      store.flush();
      for (const phase of books.changed()) stale.add(phase);
      const problems: Error[] = [];
      for (const drawing of drawings(run, now)) {
        try {
          await drawing();
        } catch (error) {
          problems.push(error instanceof Error ? error : new Error("it failed without a word")); // O3
        }
      }
      const [first] = problems;
      if (first !== undefined) throw first;
    },
    close: () => commitEndedPages({ context, paths, root, entries, view: view() }),
    takeWarnings: () => generatedFiles.takeWarnings(),
    learnings: async (role, holds) => {
      await caughtUp();
      return learningsText(role, books.learnings, holds);
    },
  };
}

/** A path as the project knows it: agents work in temporary folders. */
function placeIn(path: string, folder: string, root: string): string {
  const layers = `${join(folder, "layers")}/`;
  if (path.startsWith(layers)) return path.slice(layers.length).replace(/^[^/]*\//, "");
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}

const isHalting = (entry: Entry): entry is Halting =>
  entry.event === "run_stopped" || (entry.event === "run_paused" && isHalt(entry.reason_code));

/** Whether anything in this run was done before it, or may turn out to have been. */
const needsEarlier = ({ isRead, phases }: RunView): boolean =>
  !isRead || phases.some(({ status, because }) => status === "skipped" && because?.startsWith("already_") === true);
