// go-draft: drafts a run and starts it once its preview is acknowledged.

import { fitted } from "../kit/fitted.ts";
import type { CommandResponse } from "../contracts/command-response.ts";
import type { RunView } from "../core/state.ts";
import { compileOwnedPaths } from "../workspace/layers/scope-globs.ts";
import { readChangedFiles, describeUncommitted } from "../workspace/git/checkout-status.ts";
import { explainStale } from "./draft/draft-in-force.ts";
import { keepWithinQuota } from "../project/runs/disk-quota.ts";
import { makeDraft } from "./draft/make-draft.ts";
import { loadPlaybook } from "../playbooks/registry/table.ts";
import type { GoInput } from "../playbooks/contract/go-input.ts";
import { type ProjectPaths, requireProject, writeCurrent } from "../project/runs/project-paths.ts";
import { requireRepository } from "../project/runs/require-repository.ts";
import { refuseSecondRun, whileNoOtherStarts } from "../project/runs/open-runs.ts";
import { toActor, type CommandContext } from "../project/command-context.ts";
import { type Preview, buildPreview } from "./draft/build-preview.ts";
import { readRun } from "../project/runs/read-run.ts";
import { refuse, respond, screenRows } from "../project/respond.ts";
import { refuseIfForeign } from "../project/runs/require-own-run.ts";
import { requireSettings } from "../project/config/settings.ts";
import { requireStatus } from "../project/runs/loaded-run.ts";
import type { OpenRun } from "./open-run.ts";
import { workUntilRest } from "./work-until-rest.ts";

export type GoFlags = GoInput & {
  readonly yes: boolean;
  readonly maxCycles?: number | undefined;
  readonly now?: boolean | undefined;
  readonly adoptConfig?: boolean | undefined;
  /**
   * Returns at a provider's limit instead of waiting: a caller that drives many runs has others to
   * work on.
   */
  readonly leavesParked?: boolean | undefined;
};

/** Drafts a new run, and starts it. */
export async function goNew(
  context: CommandContext,
  input: GoFlags,
  notes: readonly string[] = [],
): Promise<CommandResponse> {
  const paths = await requireProject(context.cwd);
  const { run, warnings, uncommitted } = await makeDraft(context, paths, input);
  return goDraft(
    context,
    { paths, run, stale: null, warnings: [...notes, ...warnings], uncommitted },
    input,
  );
}

export type WaitingDraft = {
  readonly paths: ProjectPaths;
  readonly run: string;
  /** Why the draft can no longer be started; null while it is in force. */
  readonly stale: string | null;
  readonly warnings?: readonly string[];
  /** Warnings about uncommitted files, if the caller has just looked. */
  readonly uncommitted?: readonly string[];
};

/**
 * Starts a draft once its preview is acknowledged: in advance, by --yes, by the user's policy, or
 * interactively.
 */
export async function goDraft(
  context: CommandContext,
  draft: WaitingDraft,
  input: GoFlags,
): Promise<CommandResponse> {
  const { paths, run, stale, warnings = [] } = draft;
  refuseIfForeign(context, paths, run);
  const { view } = await readRun(paths, run);
  if (stale !== null) refuseStale(run, stale);
  const preview = await buildPreview(context, paths, view);
  const uncommitted =
    draft.uncommitted ?? (input.isCopy === true ? [] : await listUncommittedWarnings(paths, view));
  const allWarnings = [...new Set([...warnings, ...uncommitted, ...preview.warnings])];
  const isAcknowledged = view.acknowledged || input.yes || preview.dryRun === "auto";
  if (!isAcknowledged) {
    const consent = context.isTerminal
      ? await askToStart(context, preview.page, uncommitted)
      : null;
    if (consent !== "y") {
      return buildNotStarted(
        view,
        preview,
        consent === null ? { warnings: allWarnings } : "declined",
      );
    }

    await requireInForce(context, paths, view); // a person may take long, and much may change meanwhile
  }

  // The preview's page has a row for the defaults.
  const shownLines = isAcknowledged
    ? []
    : [
        ...preview.page,
        ...uncommitted,
        ...warnings.filter((line) => line.startsWith("Defaults: ")),
      ];

  for (const line of await keepWithinQuota(
    context,
    paths,
    requireSettings(context, paths).config.disk_quota,
  )) {
    context.show(`! ${line}`);
  }

  const begin = (openRun: OpenRun): Promise<void> => startRun(context, openRun, input);
  const response = await workUntilRest(context, {
    paths,
    run,
    options: input,
    warnings: allWarnings,
    shownLines,
    begin,
  });

  return {
    ...response,
    data: { ...response.data, inferred_defaults: preview.data.inferred_defaults },
  };
}

/**
 * The response for a draft that was not started: nobody was asked, or a person who has just read
 * its page declined.
 */
function buildNotStarted(
  { drafted }: RunView,
  preview: Preview,
  consent: "declined" | { readonly warnings: readonly string[] },
): CommandResponse {
  const details =
    consent === "declined"
      ? { result: "WARN" as const, message: "Not started. The preview is kept.", warnings: [] }
      : {
          page: preview.page,
          whole: preview.verbosePage,
          rowsMax: screenRows,
          message: "Not started: the preview isn't confirmed.",
          warnings: consent.warnings,
        };

  return respond("dry_run_required_before_execute", {
    ...details,
    run_id: drafted.run_id,
    state: "draft",
    remediation: [
      `autopilot ack ${drafted.ack.slice(0, 12)} && autopilot go`,
      "autopilot go --yes",
    ],
    data: {
      inferred_defaults: preview.data.inferred_defaults,
      preview: preview.data,
      ack: drafted.ack,
    },
  });
}

/** Journals the acknowledgement and the start, and makes the run the current one. */
async function startRun(context: CommandContext, openRun: OpenRun, input: GoFlags): Promise<void> {
  const { paths, run, view } = openRun;
  requireStatus({ paths, run, view: view(), owner: null }, "go", "draft"); // another terminal may have been quicker
  const { ack } = view().drafted;
  const actor = toActor(context);

  if (!view().acknowledged) {
    await openRun.append({
      event: "preview_acknowledged",
      ack,
      actor,
      reason_code: "ack_recorded",
    });
  }

  await whileNoOtherStarts(paths, async () => {
    await refuseSecondRun(context, paths, view().drafted.flow, {
      self: run,
      isNew: input.new === true,
    });

    await openRun.append({
      event: "run_started",
      ack,
      actor,
      reason_code: "run_started",
      from_state: "draft",
      to_state: "running",
    });

    writeCurrent(paths, run);
  });
}

async function requireInForce(
  context: CommandContext,
  paths: ProjectPaths,
  view: RunView,
): Promise<void> {
  const stale = await explainStale(context, paths, view);
  if (stale !== null) refuseStale(view.drafted.run_id, stale);
}

const refuseStale = (run: string, stale: string): never =>
  refuse("ack_stale", {
    run_id: run,
    state: "draft",
    message: stale,
    remediation: ["say the goal again: autopilot start …"],
  });

async function askToStart(
  context: CommandContext,
  page: readonly string[],
  warnings: readonly string[],
): Promise<string | null> {
  for (const line of [...fitted(page, screenRows), ...warnings.map((warning) => `! ${warning}`)]) {
    context.show(line);
  }

  return context.ask("Start this run?", ["y", "n"]);
}

/** Warns of uncommitted changes as they are now: a draft may be days old. */
async function listUncommittedWarnings(
  paths: ProjectPaths,
  { drafted }: RunView,
): Promise<readonly string[]> {
  const repository = await requireRepository(paths.root);
  const owned = (await loadPlaybook(drafted.flow.playbook))?.ownedPaths ?? [];
  const changed = await readChangedFiles(repository, compileOwnedPaths(owned));

  return changed.length === 0 ? [] : [describeUncommitted(changed, drafted.base.commit)];
}
