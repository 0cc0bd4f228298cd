// begin-run: writes the first events into journals that no process drives yet: the draft of a new
// run, or the adoption of a run that came from another user.

import type { Draft, EventOf } from "../contracts/event.ts";
import { findStoreAddress } from "../fleet/address.ts";
import { markShared, readSharedMark } from "../fleet/shared-mark.ts";
import { toActor, type CommandContext } from "../project/command-context.ts";
import type { ProjectPaths } from "../project/runs/project-paths.ts";
import { bindRun } from "../project/runs/run-binding.ts";
import { systemClock } from "../project/runs/system-clock.ts";
import { redactDraft, redactJournal } from "../project/secrets/redacted-journal.ts";
import { getRedaction } from "../project/secrets/context-redaction.ts";
import { openFoldedJournal, openRunJournal } from "./open-journal.ts";
import { requireMayGrant } from "./require-may-grant.ts";

export type NewRun = {
  readonly context: CommandContext;
  readonly paths: ProjectPaths;
  readonly folder: string;
  readonly event: EventOf<"run_drafted">;
  /** The texts that the event names by hash. */
  readonly blobs: readonly string[];
  /**
   * Whether the journal is in a store that several machines share; by default, if the user has one.
   */
  readonly isShared?: boolean;
};

/** Writes a new run's journal: its draft and the blobs the draft names. */
export async function beginRun({
  context,
  paths,
  folder,
  event,
  blobs,
  isShared = findStoreAddress(context.env) !== null,
}: NewRun): Promise<void> {
  const { redactor } = getRedaction(context, paths.root);
  const drafted = redactDraft(redactor, event, blobs);
  if (isShared && readSharedMark(folder) === null) markShared(folder);

  const opened = await openRunJournal(context, folder, {
    commit: "sync",
    now: () => systemClock.now(),
    activeMs: () => 0,
  });
  const journal = redactJournal(opened.journal, redactor);

  try {
    // Bound before its first line is written, so that every existing run has its record.
    bindRun(context.env, paths, folder, {
      run: event.run_id,
      ack: drafted.event.ack,
      isolation: event.isolation,
    });

    if (journal.position.seq > 0) return; // a child that another machine started
    for (const text of drafted.blobs) await journal.putBlob(text);
    await journal.append([drafted.event]);
  } finally {
    await journal.close();
  }
}

export type Adoption = {
  readonly context: CommandContext;
  readonly paths: ProjectPaths;
  readonly folder: string;
  readonly events: readonly Draft[];
  readonly blobs: readonly string[];
};

/**
 * Writes the first events of a run's new user into its journal. Nothing is driven, and the run
 * cannot be opened until it is bound.
 */
export async function appendAdoption({
  context,
  paths,
  folder,
  events,
  blobs,
}: Adoption): Promise<void> {
  requireMayGrant(context, { event: "run_adopted", actor: toActor(context) });
  const { journal } = await openFoldedJournal(
    context,
    folder,
    getRedaction(context, paths.root).redactor,
  );

  try {
    for (const text of blobs) await journal.putBlob(text);
    await journal.append(
      events.map((event) => ({ actor: toActor(context), reason_code: "run_adopted", ...event })),
    );
  } finally {
    await journal.close();
  }
}
