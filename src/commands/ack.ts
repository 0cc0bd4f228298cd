// ack: acknowledges a draft's preview so that the run may start; refuses if anything changed since.

import type { CommandResponse } from "../contracts/command-response.ts";
import { explainStale } from "../runner/draft/draft-in-force.ts";
import { findProject, listRuns } from "../project/runs/project-paths.ts";
import { withRun } from "../runner/open-run.ts";
import { toActor, type CommandContext } from "../project/command-context.ts";
import { buildPreview } from "../runner/draft/build-preview.ts";
import { readRunOrNull } from "../project/runs/read-run.ts";
import { catchRefusals, refuse, respond, screenRows } from "../project/respond.ts";
import { whyForeign } from "../project/runs/run-binding.ts";
import { requireStatus, type LoadedRun, loadRun } from "../project/runs/loaded-run.ts";

/**
 * Acknowledges the preview of a draft, by its id. If anything changed since, the preview must be
 * shown again.
 */
export function ack(
  context: CommandContext,
  input: { readonly id: string; readonly run?: string | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const loaded = (await findDraftByAck(context, input)) ?? (await loadRun(context, input.run));
    requireStatus(loaded, "ack", "draft");
    const { run, view, paths } = loaded;
    await refuseForeignDraft(context, loaded);
    const ackId = view.drafted.ack;
    await requireCurrentPreview(context, loaded, input.id);
    const actor = toActor(context);
    const reason_code = "ack_recorded";
    await withRun(context, paths, run, (openRun) =>
      openRun.append({ event: "preview_acknowledged", ack: ackId, actor, reason_code }),
    );

    return respond("ack_recorded", {
      run_id: run,
      state: "draft",
      message: `Acknowledged. ${run} may start.`,
      remediation: ["autopilot go"],
      data: { ack: ackId },
    });
  });
}

/** Refuses another preview's id, and a preview that does not show what would run now. */
async function requireCurrentPreview(
  context: CommandContext,
  { paths, run, view }: LoadedRun,
  id: string,
): Promise<void> {
  const { ack: ackId } = view.drafted;
  const runFields = { run_id: run, state: view.status };
  const newPreview = "autopilot start … shows the new preview";

  if (!matchesAck(ackId, id)) {
    refuse("ack_stale", {
      ...runFields,
      message: "That is not the id of the preview in force.",
      remediation: [newPreview, `the draft here is ${ackId.slice(0, 12)}`],
    });
  }

  const staleReason = await explainStale(context, paths, view);
  if (staleReason !== null) {
    refuse("ack_stale", { ...runFields, message: staleReason, remediation: [newPreview] });
  }
}

/**
 * The preview shows the first characters of its id; fewer than these could match another preview.
 */
const shortIdCharsMin = 8;

const matchesAck = (ack: string, id: string): boolean =>
  id === ack || (id.length >= shortIdCharsMin && ack.startsWith(id));

/**
 * The draft whose preview has this id, even if another run is the current one; null if a run was
 * named or no draft matches.
 */
async function findDraftByAck(
  context: CommandContext,
  { id, run }: { readonly id: string; readonly run?: string | undefined },
): Promise<LoadedRun | null> {
  const paths = findProject(context.cwd);
  if (paths === null || run !== undefined) return null;
  for (const candidate of listRuns(paths).toReversed()) {
    const loaded = await readRunOrNull(paths, candidate);
    if (loaded?.view.status === "draft" && matchesAck(loaded.view.drafted.ack, id)) {
      return { paths, run: candidate, ...loaded };
    }
  }

  return null;
}

/**
 * Another user's draft is shown instead of acknowledged: the person who typed its id may not have
 * seen what it does.
 */
async function refuseForeignDraft(
  context: CommandContext,
  { paths, run, view }: LoadedRun,
): Promise<void> {
  const foreignReason = whyForeign(context, paths, run);
  if (foreignReason === null) return;
  const { page, data } = await buildPreview(context, paths, view);
  refuse("run_foreign", {
    run_id: run,
    state: view.status,
    message: `${run} isn't yours: ${foreignReason}. Nothing of it was acknowledged.`,
    page,
    rowsMax: screenRows,
    remediation: [`autopilot adopt ${run} shows it and asks`],
    data: { preview: data },
  });
}
