// go-draft: drafts a run and starts it once its preview is acknowledged.

import { fitted } from "../kit/fitted.ts";
import type { Answer } from "../contracts/answer.ts";
import type { RunView } from "../core/state.ts";
import { ownedPathTest } from "../workspace/layers/scope.ts";
import { readChangedFiles, uncommittedMessage } from "../workspace/git/status.ts";
import { whyStale } from "./draft/draft-in-force.ts";
import { keepWithinQuota } from "../project/runs/disk-quota.ts";
import { makeDraft } from "./draft/draft.ts";
import { loadPlaybook } from "../playbooks/registry/table.ts";
import type { GoInput } from "../playbooks/contract/go-input.ts";
import { type ProjectPaths, homeOf, writeCurrent } from "../project/runs/project-paths.ts";
import { openedRepository } from "../project/runs/opened-repository.ts";
import { refuseSecondRun, whileNoOtherStarts } from "../project/runs/open-runs.ts";
import { actorOf, type CommandContext } from "../project/command-context.ts";
import { previewOf } from "./draft/preview.ts";
import { readRun } from "../project/runs/read-run.ts";
import { refuse, reply, screenRows } from "../project/reply.ts";
import { refuseIfForeign } from "../project/runs/require-own-run.ts";
import { settingsOf } from "../project/config/settings.ts";
import { requireStatus } from "../project/runs/loaded-run.ts";
import { work } from "./work.ts";

export type GoFlags = GoInput & {
  readonly yes: boolean;
  readonly maxCycles?: number | undefined;
  readonly now?: boolean | undefined;
  readonly adoptConfig?: boolean | undefined;
  /** Returns at a provider's limit instead of waiting: a caller that drives many runs has others to work on. */
  readonly leavesParked?: boolean | undefined;
};

/** Drafts what was asked for, and starts it. */
export async function goNew(context: CommandContext, input: GoFlags, reported: readonly string[] = []): Promise<Answer> {
  const paths = await homeOf(context.cwd);
  const { run, warnings, uncommitted } = await makeDraft(context, paths, input);
  return goDraft(context, paths, run, input, null, [...reported, ...warnings], uncommitted);
}

/** A draft runs only when its preview is acknowledged: in advance, by --yes, by the user's policy, or interactively. */
export async function goDraft(
  context: CommandContext,
  paths: ProjectPaths,
  run: string,
  input: GoFlags,
  stale: string | null,
  warnings: readonly string[] = [],
  uncommittedNow?: readonly string[],
): Promise<Answer> {
  refuseIfForeign(context, paths, run);
  const { view } = await readRun(paths, run);
  if (stale !== null) refuseAs(run, stale);
  const preview = await previewOf(context, paths, view);
  const reported = uncommittedNow ?? (input.isCopy === true ? [] : await uncommitted(paths, view));
  const isAcknowledged = view.acknowledged || input.yes || preview.dryRun === "auto";
  if (!isAcknowledged) {
    const consent = context.isTerminal ? await asked(context, preview.page, reported) : null;
    if (consent === "y") await refuseStale(context, paths, view); // a person may take long, and much may change meanwhile
    else {
      const isDeclined = consent !== null; // by somebody who has just read the page
      return reply("dry_run_required_before_execute", {
        ...(isDeclined ? { result: "WARN" as const } : { page: preview.page, whole: preview.whole, rowsMax: screenRows }),
        run_id: run,
        state: "draft",
        message: isDeclined ? "Not started. The preview is kept." : "Not started: the preview isn't confirmed.",
        warnings: isDeclined ? [] : [...new Set([...warnings, ...reported, ...preview.warnings])],
        remediation: [`autopilot ack ${view.drafted.ack.slice(0, 12)} && autopilot go`, "autopilot go --yes"],
        data: { inferred_defaults: preview.data.inferred_defaults, preview: preview.data, ack: view.drafted.ack },
      });
    }
  }
  const all = [...new Set([...warnings, ...reported, ...preview.warnings])];
  const seen = isAcknowledged ? [] : [...preview.page, ...reported, ...warnings.filter((line) => line.startsWith("Defaults: "))]; // the page has a row of them
  for (const line of await keepWithinQuota(context, paths, settingsOf(context, paths).config.disk_quota)) context.show(`! ${line}`);
  const answer = await work(context, paths, run, input, { all, seen }, async (openRun) => {
    requireStatus({ paths, run, view: openRun.view(), owner: null }, "go", "draft"); // another terminal may have been quicker
    const { ack } = openRun.view().drafted;
    const actor = actorOf(context);
    if (!openRun.view().acknowledged) await openRun.append({ event: "preview_acknowledged", ack, actor, reason_code: "ack_recorded" });
    await whileNoOtherStarts(paths, async () => {
      await refuseSecondRun(context, paths, openRun.view().drafted.flow, { self: run, isNew: input.new === true });
      await openRun.append({ event: "run_started", ack, actor, reason_code: "run_started", from_state: "draft", to_state: "running" });
      writeCurrent(paths, run);
    });
  });
  return { ...answer, data: { ...answer.data, inferred_defaults: preview.data.inferred_defaults } };
}

async function refuseStale(context: CommandContext, paths: ProjectPaths, view: RunView): Promise<void> {
  const stale = await whyStale(context, paths, view);
  if (stale !== null) refuseAs(view.drafted.run_id, stale);
}

const refuseAs = (run: string, stale: string): never =>
  refuse("ack_stale", { run_id: run, state: "draft", message: stale, remediation: ["say the goal again: autopilot start …"] });

async function asked(context: CommandContext, page: readonly string[], reported: readonly string[]): Promise<string | null> {
  for (const line of [...fitted(page, screenRows), ...reported.map((warning) => `! ${warning}`)]) context.show(line);
  return context.ask("Start this run?", ["y", "n"]);
}

/** Uncommitted changes now: a draft may be days old. */
async function uncommitted(paths: ProjectPaths, { drafted }: RunView): Promise<readonly string[]> {
  const repository = await openedRepository(paths.root);
  const owned = (await loadPlaybook(drafted.flow.playbook))?.ownedPaths ?? [];
  const changed = await readChangedFiles(repository, ownedPathTest(owned));
  return changed.length === 0 ? [] : [uncommittedMessage(changed, drafted.base.commit)];
}
