// open-playbook: opens the file writer of a run's playbook, or writes its files once.

import { definedFields } from "../../core/drafts.ts";
import type { RunView } from "../../core/state.ts";
import { type ProjectPaths, runFolder } from "../../project/runs/project-paths.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import { type FileWriter, noFileWriter, openFileWriter } from "../contract/file-writer.ts";
import { blobsIn, entriesIn } from "../contract/recorded.ts";
import { playbookOf } from "./table.ts";

export type FacePlace = {
  readonly context: CommandContext;
  readonly paths: ProjectPaths;
  readonly folder: string;
  readonly view: () => RunView;
  /** The run is thrown away afterwards: its agents are told what the playbook records, and no file is drawn. */
  readonly isApart?: boolean;
};

/** The face of a run at its desk. A child run has none of its own: its parent shows it. */
export async function openFace({ context, paths, folder, view, isApart = false }: FacePlace): Promise<FileWriter> {
  const { flow, run_id } = view().drafted;
  const playbookHere = isApart || folder === runFolder(paths, run_id) ? await playbookOf(flow.face) : null;
  if (playbookHere === null) return noFileWriter;
  const opened = await playbookHere.open({
    context,
    paths,
    folder,
    view,
    root: paths.root,
    entries: () => entriesIn(folder),
    readBlob: blobsIn(folder),
  });
  if (isApart) return { ...noFileWriter, ...definedFields({ learnings: opened.learnings, recorded: opened.recorded }) };
  return openFileWriter(opened, systemClock, (problem) => context.show(problem));
}

/** Draws a run's files once, after something was written by a command that does not drive it. */
export async function drawFace(parts: FacePlace): Promise<void> {
  if (parts.view().drafted.flow.face === undefined) return;
  const fileWriter = await openFace(parts);
  await fileWriter.close();
}

export { blobsIn, entriesIn };
