// open-runtime: assembles everything that a driven run works with: workspace, agents, verifier,
// requests, files and views.

import { randomUUID } from "node:crypto";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import type { Entry, IsolationInForce } from "../contracts/event.ts";
import type { Evidence } from "../contracts/evidence.ts";
import type { Policy } from "../contracts/policy.ts";
import type { RunView } from "../core/state.ts";
import type { Recorder, Runtime } from "../engine/runtime.ts";
import type { Redactor } from "../kit/redact.ts";
import { redactBytes } from "../kit/redact-stream.ts";
import type { Verifier } from "../ports/verifier.ts";
import type { Workspace } from "../ports/workspace.ts";
import type { Repository } from "../workspace/git/repository.ts";
import type { Isolation } from "../workspace/isolation/confinement.ts";
import type { FileWriter } from "../playbooks/contract/file-writer.ts";
import { openLimits } from "../workspace/isolation/limits.ts";
import { chooseCheckoutKind } from "../workspace/checkouts/checkout-kind.ts";
import { openLimitsCache } from "../workspace/isolation/self-test-cache.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import { openSandboxedAgents } from "./sandboxed-agents.ts";
import { buildTurnPrompt, type PromptTemplates } from "./turn-prompt.ts";
import { openSandboxedVerifier } from "./sandboxed-checks.ts";
import { createChildren, type ChildParts } from "./child-runs.ts";
import { openBlobReader, openPlaybook, readEntries } from "../playbooks/registry/open-playbook.ts";
import { loadPlaybook } from "../playbooks/registry/table.ts";
import { createFunctions } from "../playbooks/registry/registry.ts";
import type { ProjectPaths } from "../project/runs/project-paths.ts";
import { sendRequest } from "../project/requests/send-request.ts";
import { onlyDetects } from "../contracts/isolation-levels.ts";
import { openIsolation } from "./draft/open-isolation.ts";
import { combineIsolation } from "./isolation-in-force.ts";
import { openEndedFolders } from "../project/runs/ended-folders.ts";
import { openNotices } from "./run-notices.ts";
import { openLearningChecks } from "./learning-checks.ts";
import { openLiveTrace } from "./live-trace.ts";
import { openLiveView } from "./live-view.ts";
import { openRunRequests } from "./open-journal.ts";
import { requireRepository, findPackagesOrigin } from "../project/runs/require-repository.ts";
import { toActor, stopAtOnce } from "../project/command-context.ts";
import { readRecordedPolicy } from "./draft/run-policy.ts";
import { openLiveEvents, redactAgents } from "../project/secrets/redacted-live-events.ts";
import { getRedaction } from "../project/secrets/context-redaction.ts";
import { openSecretFinder } from "../project/secrets/redaction.ts";
import { systemClock } from "../project/runs/system-clock.ts";
import { sweepTemporaryFolders } from "../project/runs/sweep-temporary.ts";
import { openTurnReceipts } from "../project/runs/turn-receipts.ts";
import { transcribeAgents } from "../project/runs/transcript-write.ts";

export type RuntimeParts = ChildParts & {
  readonly paths: ProjectPaths;
  readonly recorder: Recorder;
  readonly watch: (entry: Entry, run: RunView) => void;
  readonly cancel: AbortSignal | null;
  /** Whether this process certainly still owns the run; checked before anything is spent. */
  readonly isOwner: () => boolean;
  /**
   * The run is discarded afterwards: nothing of the user's repository or files is changed by it.
   */
  readonly isApart?: boolean;
  /** Runs that this one was forked from after the line it is at: their commits count as its own. */
  readonly forkedLater?: readonly string[];
};

const outputCharsMax = 4_000;

export type OpenedRuntime = {
  readonly runtime: Runtime;
  readonly isolation: IsolationInForce;
  readonly close: () => Promise<void>;
};

export async function openRuntime(parts: RuntimeParts): Promise<OpenedRuntime> {
  const { context, paths, folder, view, recorder } = parts;
  const { drafted } = view();
  const policy = readRecordedPolicy(view());
  const redaction = getRedaction(context, paths.root);
  const { redactor } = redaction;

  const [repository, isolation, limits] = await Promise.all([
    requireRepository(paths.root),
    openIsolation(drafted.isolation, paths, folder),
    openLimits(folder, openLimitsCache(folder)),
  ]);

  const workspacePromise = openRunWorkspace(parts, { repository, isolation, redactor, policy });
  const trace = openLiveTrace(context, paths.root, folder, view);
  const sandbox = { isolation, limits, policy, folder };

  const agents = openSandboxedAgents({
    ...sandbox,
    context,
    turnEnv: trace.environment,
    mark: realpathSync(folder),
    scriptPathOf: (hash) => join(folder, "blobs", hash.slice(0, 2), hash),
    learnSecret: redaction.learn,
    isOwner: parts.isOwner,
  });

  // Processes that an earlier opening left alive are ended before anything new begins; the branch
  // is inspected meanwhile.
  const isFirstOpening = view().opening === 0;
  const [workspace] = await Promise.all([
    workspacePromise,
    isFirstOpening ? 0 : agents.sweep(drafted.run_id),
    sweepTemporaryFolders(),
  ]);

  const verifier = openSandboxedVerifier({
    ...sandbox,
    workspace,
    root: paths.root,
    putBlob: (bytes) => recorder.putBlob(bytes),
    readBlob: (hash) => parts.readBlob(hash),
    redactor,
    guard: (word) => {
      setImmediate(() => void agents.prepare()); // while a command runs, this process is idle
      return agents.guard(word);
    },
  });

  const requests = await openRunRequests(context, folder);
  const fileWriter = await openPlaybook({
    context,
    paths,
    folder,
    view,
    isDisposable: parts.isApart === true,
  });

  const endedFolders = openEndedFolders(folder);
  const queueNotices = openNotices(context, paths, folder);

  const liveView = openLiveView({
    context,
    folder,
    redactEvent: openLiveEvents(redactor),
    fileWriter,
  });

  const stopListening = pauseOnInterrupt(parts);

  const runtime: Runtime = {
    journal: recorder,
    clock: systemClock,
    agents: transcribeAgents(redactAgents(agents, redactor), {
      folder,
      redactor,
      now: () => systemClock.now(),
    }),
    receipts: openTurnReceipts(folder),
    workspace,
    verifier,
    functions: createFunctions({
      verifier,
      workspace,
      paths,
      folder,
      view,
      entries: () => readEntries(folder),
      readBlob: openBlobReader(folder),
      clock: systemClock,
      cancel: context.interrupted,
      isChild: isChild(parts),
    }),
    children: createChildren(parts),
    requests,
    buildPrompt: createPromptBuilder(parts, await readPrompts(parts), { verifier, fileWriter }),
    onEntry: (entry, run) => {
      if ("request" in entry) requests.acknowledge(entry.request);
      liveView.onEntry(entry, run);
      fileWriter.onEntry(entry, run);
      endedFolders.onEntry(entry, run);
      queueNotices(entry, run);
      trace.onEntry(entry);
      parts.watch(entry, run);
    },
    onLiveEvent: liveView.onLiveEvent,
  };

  const close = async (): Promise<void> => {
    stopListening();
    liveView.close();

    for (const part of [
      fileWriter,
      agents,
      limits,
      requests,
      { close: () => endedFolders.close(view()) },
      trace,
    ]) {
      await part.close();
    }
  };

  return { runtime, isolation: combineIsolation(isolation, limits), close };
}

type WorkspaceParts = {
  readonly repository: Repository;
  readonly isolation: Isolation;
  readonly redactor: Redactor;
  readonly policy: Policy;
};

async function openRunWorkspace(
  { folder, view, isApart, forkedLater = [] }: RuntimeParts,
  { repository, isolation, redactor, policy }: WorkspaceParts,
): Promise<Workspace> {
  const { drafted, tip, origins = [] } = view();
  const fork = origins.at(-1);
  return openWorkspace({
    repository,
    runDir: folder,
    runId: drafted.run_id,
    base: { ...drafted.base },
    scope: [...drafted.objective.scope],
    ownedPaths: (await loadPlaybook(drafted.flow.playbook))?.ownedPaths ?? [],
    expectedTip: tip.commit,
    checkouts: chooseCheckoutKind(isolation.level, folder),
    sharesHistory: !onlyDetects(isolation.level),
    collect: (layer) => isolation.collect(layer),
    redact: (bytes) => redactBytes(redactor, bytes),
    secretsIn: openSecretFinder(redactor),
    isSquashed: policy.land_squash === true,
    isApart: isApart === true,
    ...(fork === undefined
      ? {}
      : {
          forkedFrom: {
            runs: [...origins.map(({ run }) => run), ...forkedLater],
            begins: fork.tip,
          },
        }),
    ...(policy.dependencies === undefined ? {} : { dependencies: policy.dependencies }),
    ...(await findPackagesOrigin(policy)),
    ...(policy.restores === undefined ? {} : { checkDependencies: [] }),
  });
}

async function readPrompts({ view, readBlob }: RuntimeParts): Promise<PromptTemplates> {
  const prompts: Record<string, string> = {};
  for (const [name, hash] of Object.entries(view().drafted.prompts)) {
    prompts[name] = (await readBlob(hash)).toString("utf8");
  }

  return prompts;
}

/**
 * Builds prompts from the recorded templates, the journal's blobs and the playbook's notes and
 * learnings.
 */
function createPromptBuilder(
  { view, readBlob }: RuntimeParts,
  templates: PromptTemplates,
  { verifier, fileWriter }: { readonly verifier: Verifier; readonly fileWriter: FileWriter },
): Runtime["buildPrompt"] {
  const readJson = async (hash: string): Promise<unknown> =>
    JSON.parse((await readBlob(hash)).toString("utf8"));
  const learningChecks = openLearningChecks({ verifier, view });
  return (turn) =>
    buildTurnPrompt(templates, turn, {
      readOutput: async (hash) =>
        ((await readJson(hash)) as Evidence).output_excerpt.slice(-outputCharsMax),
      readReturn: async (hash) =>
        ((await readJson(hash)) as { readonly claim?: unknown }).claim ?? null,
      phaseNotes: fileWriter.phaseNotes,
      readLearnings: (role) => fileWriter.learnings(role, learningChecks(turn.openAttempt.attempt)),
    });
}

/** Only its parent cancels a child run: the parent waits for its end as for a turn's. */
const isChild = ({ cancel }: RuntimeParts): boolean => cancel !== null;

/**
 * Requests a pause of the run when its user or its parent interrupts it; returns the function that
 * stops listening.
 */
function pauseOnInterrupt(parts: RuntimeParts): () => void {
  const { context, folder, cancel } = parts;
  const interrupted = cancel ?? context.interrupted;

  const pause = ({ now }: { readonly now: boolean }): void => {
    const detail = context.pauseDetail === undefined ? {} : { detail: context.pauseDetail };
    const request = randomUUID();

    const event = {
      event: "control_requested",
      control: "pause",
      now,
      request,
      actor: toActor(context),
      ...detail,
    } as const;
    void sendRequest(folder, event, { waitMs: 0 });
  };
  const unsubscribes = [
    whenAborted(interrupted, () =>
      pause({ now: isChild(parts) || interrupted.reason === stopAtOnce }),
    ),
  ];

  if (!isChild(parts) && context.interruptedAgain !== undefined) {
    unsubscribes.push(whenAborted(context.interruptedAgain, () => pause({ now: true })));
  }

  return () => unsubscribes.forEach((unsubscribe) => unsubscribe());
}

/** Calls back when aborted, or now if it already was; returns the unsubscribe function. */
function whenAborted(signal: AbortSignal, onAbort: () => void): () => void {
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });

  return () => signal.removeEventListener("abort", onAbort);
}
