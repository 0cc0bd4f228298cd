// open-playbook: opens the file writer of a run's playbook, or writes its files once.

import { definedFields } from "../../core/drafts.ts";
import type { RunView } from "../../core/state.ts";
import { type ProjectPaths, runFolder } from "../../project/runs/project-paths.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import { type FileWriter, noFileWriter, openFileWriter } from "../contract/file-writer.ts";
import { blobsIn, findEntries } from "../contract/recorded.ts";
import { playbookOf } from "./table.ts";

export type PlaybookContext = {
  readonly context: CommandContext;
  readonly paths: ProjectPaths;
  readonly folder: string;
  readonly view: () => RunView;
  /** The run is discarded afterwards: its agents see the playbook's record, and no file is written. */
  readonly isApart?: boolean;
};

/** The playbook of a run with its file writer. A child run has none of its own: its parent shows it. */
export async function openPlaybook({ context, paths, folder, view, isApart = false }: PlaybookContext): Promise<FileWriter> {
  const { flow, run_id } = view().drafted;
  const playbook = isApart || folder === runFolder(paths, run_id) ? await playbookOf(flow.playbook) : null;
  if (playbook === null) return noFileWriter;
  const opened = await playbook.open({
    context,
    paths,
    folder,
    view,
    root: paths.root,
    entries: () => findEntries(folder),
    readBlob: blobsIn(folder),
  });
  if (isApart) return { ...noFileWriter, ...definedFields({ learnings: opened.learnings, recorded: opened.recorded }) };
  return openFileWriter(opened, systemClock, (problem) => context.show(problem));
}

/** Draws a run's files once, after something was written by a command that does not drive it. */
export async function writePlaybookFiles(parts: PlaybookContext): Promise<void> {
  if (parts.view().drafted.flow.playbook === undefined) return;
  const fileWriter = await openPlaybook(parts);
  await fileWriter.close();
}

export { blobsIn, findEntries as entriesIn };
