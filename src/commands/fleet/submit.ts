// submit: drafts a run for the workers of a store. It is started here, by the person who read its
// preview, and runs elsewhere.

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { priorityDefault } from "../../contracts/portfolio/portfolio-journal.ts";
import { requireStoreAddress, storeVariable } from "../../fleet/address.ts";
import { type Hub, openHub } from "../../fleet/hub.ts";
import { requireHubBranch } from "../../fleet/own-hub.ts";
import { readRepositoryId } from "../../fleet/repository-id.ts";
import { readSharedMark } from "../../fleet/shared-mark.ts";
import { invariant } from "../../kit/invariant.ts";
import type { WorkOrder } from "../../ports/dispatch.ts";
import { type GoInput, requestsNewRun } from "../../playbooks/contract/go-input.ts";
import { openExchange } from "../../portfolio/worker/git-exchange.ts";
import { pathsOfCopy } from "../../portfolio/worker/task-runs.ts";
import { toActor, type CommandContext } from "../../project/command-context.ts";
import { catchRefusals, refuse, respond, screenRows } from "../../project/respond.ts";
import { requireRepository } from "../../project/runs/require-repository.ts";
import {
  ensureOwnFolder,
  type ProjectPaths,
  requireProject,
  runFolder,
} from "../../project/runs/project-paths.ts";
import { readRun } from "../../project/runs/read-run.ts";
import { unbindRun } from "../../project/runs/run-binding.ts";
import { makeDraft } from "../../runner/draft/make-draft.ts";
import { buildPreview } from "../../runner/draft/build-preview.ts";
import { withRun } from "../../runner/open-run.ts";
import { readCheckoutStatus, describeUncommitted } from "../../workspace/git/checkout-status.ts";
import type { Repository } from "../../workspace/git/repository.ts";
import { compileOwnedPaths } from "../../workspace/layers/scope-globs.ts";
import { addIgnoreLines } from "../../workspace/owned-paths.ts";
import { parseLabels, requireHub } from "./worker.ts";
import { eraseSync } from "../../workspace/folder.ts";

export type SubmitInput = {
  readonly store?: string | undefined;
  readonly yes: boolean;
  readonly priority?: number | undefined;
  /** Labels that a worker must have. */
  readonly needs?: readonly string[] | undefined;
  readonly slots?: number | undefined;
};

/** How many runs of one repository the workers work on at once. */
export const slotsDefault = 8;
/** The id of one of a run's orders; the first has the number 1. */
export const orderId = (key: string, number: number): string => `${key}.${number}`;

/** Drafts the run, shows its preview, and once it is confirmed offers it to the workers. */
export function submitRun(
  callerContext: CommandContext,
  objective: GoInput,
  input: SubmitInput,
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const address = requireStoreAddress(callerContext.env, input.store);
    const env = { ...callerContext.env, [storeVariable]: address };
    const context = { ...callerContext, env };
    const hubUrl = requireHub(env);
    const needs = parseLabels(input.needs ?? []);
    if (!requestsNewRun(objective)) {
      return refuse("objective_schema_invalid", {
        message: "Say what is to be done.",
        data: { missing_fields: ["goal"] },
      });
    }

    const paths = await requireProject(context.cwd);
    const repository = await requireRepository(paths.root);
    const branch = requireBranch(repository);
    const commit = repository.head.commit;
    const orderTerms = {
      repository: await readRepositoryId(repository),
      priority: input.priority ?? priorityDefault,
      needs,
      slots: input.slots ?? slotsDefault,
    };

    await addIgnoreLines(repository.commonDir);
    const workerFolder = ensureOwnFolder(paths, "worker");
    const hub = await openHub(repository, join(workerFolder, "hub.git"), hubUrl);
    await requireHubBranch(repository, hub, hubUrl, branch);

    // The run is drafted in a temporary clone, so that the checkout here stays as it is.
    const cloneFolder = join(workerFolder, `draft-${randomBytes(6).toString("hex")}`);
    try {
      const exchange = await openExchange(paths.root, join(workerFolder, "exchange.git"));
      await exchange.makeCopy(cloneFolder, { branch, commit });
      const uncommitted = await listUncommittedWarnings(repository, commit);
      const isConfirmed = input.yes;
      const submission = {
        cloneFolder,
        commit,
        hub,
        objective,
        orderTerms,
        uncommitted,
        isConfirmed,
      };
      return await submitFromCopy(context, submission);
    } finally {
      eraseSync(cloneFolder);
    }
  });
}

function requireBranch({ branch }: Repository): string {
  if (branch !== null) return branch;
  return refuse("workspace_unusable", {
    message: "The checkout is on no branch, so the work could not land.",
    remediation: ["git switch main"],
  });
}

type Submission = {
  /** The temporary clone. */
  readonly cloneFolder: string;
  /** The commit that the run begins at. */
  readonly commit: string;
  readonly hub: Hub;
  readonly objective: GoInput;
  readonly orderTerms: Omit<WorkOrder, "id" | "run">;
  /** Warnings of changes that the run will not see. */
  readonly uncommitted: readonly string[];
  readonly isConfirmed: boolean;
};

/**
 * Drafts, previews, starts and offers the run. Only the store keeps it: what binds it to this
 * machine is removed.
 */
async function submitFromCopy(
  context: CommandContext,
  { cloneFolder, commit, hub, objective, orderTerms, uncommitted, isConfirmed }: Submission,
): Promise<CommandResponse> {
  const copyContext = { ...context, cwd: cloneFolder };
  const copyPaths = pathsOfCopy(cloneFolder);
  const { run, warnings: draftWarnings } = await makeDraft(copyContext, copyPaths, objective);

  try {
    const { view } = await readRun(copyPaths, run);
    const preview = await buildPreview(copyContext, copyPaths, view);
    const warnings = [...draftWarnings, ...preview.warnings, ...uncommitted];

    if (!isConfirmed && !(await askToSubmit(context, preview.page))) {
      return respond("dry_run_required_before_execute", {
        message: "Not submitted: the preview isn't confirmed.",
        page: preview.page,
        rowsMax: screenRows,
        warnings,
        remediation: ["the same with --yes"],
        data: { preview: preview.data },
      });
    }

    const key = requireStoreKey(copyPaths, run);
    const order: WorkOrder = { id: orderId(key, 1), run: key, ...orderTerms };
    await hub.send(key, 0, commit);
    await recordStart(copyContext, copyPaths, run);
    await offerOrder(context, order); // last: the commit and the started run that it refers to exist by now

    return respond("ok", {
      message: `Submitted ${key}. The next worker that is free takes it.`,
      warnings,
      remediation: ["autopilot fleet status"],
      data: { key, order: order.id, ...orderTerms },
    });
  } finally {
    unbindRun(context.env, runFolder(copyPaths, run), run);
  }
}

function requireStoreKey(paths: ProjectPaths, run: string): string {
  const mark = readSharedMark(runFolder(paths, run));
  invariant(mark !== null, "a run that is drafted while a store is named is in that store");
  return mark.key;
}

async function askToSubmit(context: CommandContext, page: readonly string[]): Promise<boolean> {
  if (!context.isTerminal) return false;
  for (const line of page) context.show(line);
  return (await context.ask("Submit this run?", ["y", "n"])) === "y";
}

/**
 * Records that this person acknowledges the preview and starts the run; nothing of it runs here.
 */
export async function recordStart(
  context: CommandContext,
  paths: ProjectPaths,
  run: string,
): Promise<void> {
  await withRun(context, paths, run, async (openRun) => {
    const { ack } = openRun.view().drafted;
    const actor = toActor(context);
    const reason_code = "ack_recorded";
    await openRun.append({ event: "preview_acknowledged", ack, actor, reason_code });

    await openRun.append({
      event: "run_started",
      ack,
      actor,
      reason_code: "run_started",
      from_state: "draft",
      to_state: "running",
    });
  });
}

async function offerOrder(context: CommandContext, order: WorkOrder): Promise<void> {
  const [{ openSharedStore }, { openOrders }] = await Promise.all([
    import("../../fleet/shared-run.ts"),
    import("../../fleet/postgres/orders.ts"),
  ]);
  const { database } = await openSharedStore(context.env);
  await openOrders(database).offer(order);
}

/** Workers only see commits: warns of changes that aren't committed. */
async function listUncommittedWarnings(
  repository: Repository,
  commit: string,
): Promise<readonly string[]> {
  const { changed } = await readCheckoutStatus(repository, compileOwnedPaths([]));
  return changed.length === 0 ? [] : [describeUncommitted(changed, commit)];
}
