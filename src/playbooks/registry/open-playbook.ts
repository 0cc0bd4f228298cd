// open-playbook: opens the file writer of a run's playbook, or writes its files once.

import { definedFields } from "../../core/drafts.ts";
import type { RunView } from "../../core/state.ts";
import { type ProjectPaths, runFolder } from "../../project/runs/project-paths.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import { type FileWriter, noFileWriter, openFileWriter } from "../contract/file-writer.ts";
import { openBlobReader, readEntries } from "../contract/run-journal.ts";
import { loadPlaybook } from "./table.ts";

export type PlaybookContext = {
  readonly context: CommandContext;
  readonly paths: ProjectPaths;
  readonly folder: string;
  readonly view: () => RunView;
  /**
   * The run is discarded afterwards: its agents see the playbook's notes and learnings, but no file
   * is written.
   */
  readonly isDisposable?: boolean;
};

/**
 * The playbook of a run with its file writer. A child run has none of its own: its parent shows it.
 */
export async function openPlaybook({
  context,
  paths,
  folder,
  view,
  isDisposable = false,
}: PlaybookContext): Promise<FileWriter> {
  const { flow, run_id } = view().drafted;
  const playbook =
    isDisposable || folder === runFolder(paths, run_id) ? await loadPlaybook(flow.playbook) : null;
  if (playbook === null) return noFileWriter;

  const openedPlaybook = await playbook.open({
    context,
    paths,
    folder,
    view,
    root: paths.root,
    entries: () => readEntries(folder),
    readBlob: openBlobReader(folder),
  });

  const { learnings, phaseNotes } = openedPlaybook;
  if (isDisposable) return { ...noFileWriter, ...definedFields({ learnings, phaseNotes }) };
  return openFileWriter(openedPlaybook, systemClock, (problem) => context.show(problem));
}

/**
 * Writes a run's files once, after a command that does not drive the run has changed its journal.
 */
export async function writePlaybookFiles(parts: PlaybookContext): Promise<void> {
  if (parts.view().drafted.flow.playbook === undefined) return;
  const fileWriter = await openPlaybook(parts);
  await fileWriter.close();
}

export { openBlobReader, readEntries };
