// open-runtime: the one place that assembles the parts of a driven run.

import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { Entry, IsolationInForce } from "../contracts/event.ts";
import type { Evidence } from "../contracts/evidence.ts";
import type { RunView } from "../core/state.ts";
import type { Recorder, Runtime } from "../engine/runtime.ts";
import { redactBytes } from "../kit/redact-stream.ts";
import { openLimits } from "../workspace/isolation/limits.ts";
import { checkoutKindFor } from "../workspace/checkouts/checkout-kind.ts";
import { openLimitsCache } from "../workspace/isolation/self-test-cache.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import { openAgentsBox } from "./agents-box.ts";
import { briefOf } from "./brief.ts";
import { openChecks } from "./checks-box.ts";
import { childrenOf, type ChildParts } from "./children.ts";
import { blobReader, openPlaybook, readEntries } from "../playbooks/registry/open-playbook.ts";
import { loadPlaybook } from "../playbooks/registry/table.ts";
import { createFunctions } from "../playbooks/registry/registry.ts";
import type { ProjectPaths } from "../project/runs/project-paths.ts";
import { sendRequest } from "../project/inbox/inbox.ts";
import { detects } from "./isolation-here.ts";
import { isolationFor } from "./draft/isolation-for.ts";
import { inForce } from "./isolation-in-force.ts";
import { openEndedFolders } from "../project/runs/ended-folders.ts";
import { openNotices } from "./run-notices.ts";
import { openHolding } from "./learnings-hold.ts";
import { openLiveTrace } from "./live-trace.ts";
import { openLiveView } from "./live-view.ts";
import { readOpenInbox } from "./open-journal.ts";
import { openedRepository, packagesOrigin } from "../project/runs/opened-repository.ts";
import { actorOf, atOnce } from "../project/command-context.ts";
import { recordedPolicy } from "./draft/policy.ts";
import { openLiveEvents, redactedAgents } from "../project/secrets/redacted-live-events.ts";
import { redactionOf } from "../project/secrets/redaction-of.ts";
import { secretFinder } from "../project/secrets/redaction.ts";
import { systemClock } from "../project/runs/system-clock.ts";
import { sweepTemporary } from "../project/runs/temporary.ts";
import { transcribedAgents } from "../project/runs/transcript-write.ts";

export type RuntimeParts = ChildParts & {
  readonly paths: ProjectPaths;
  readonly recorder: Recorder;
  readonly watch: (entry: Entry, run: RunView) => void;
  readonly cancel: AbortSignal | null;
  /** Whether this process certainly still owns the run; checked before anything is spent. */
  readonly isHeld: () => boolean;
  /** The run is discarded afterwards: nothing of the user's repository or files is changed by it. */
  readonly isApart?: boolean;
  /** Runs whose commits this one was forked with after the line it is at. */
  readonly forkedLater?: readonly string[];
};

const evidenceCharsMax = 4_000;

export type OpenedRuntime = { readonly runtime: Runtime; readonly isolation: IsolationInForce; readonly close: () => Promise<void> };

export async function openRuntime(parts: RuntimeParts): Promise<OpenedRuntime> {
  const { context, paths, folder, view, recorder } = parts;
  const { drafted, tip, origins = [] } = view();
  const fork = origins.at(-1);
  const policy = recordedPolicy(view());
  const redaction = redactionOf(context, paths.root);
  const { redactor } = redaction;
  const [repository, isolation, limits] = await Promise.all([
    openedRepository(paths.root),
    isolationFor(drafted.isolation, paths, folder),
    openLimits(folder, openLimitsCache(folder)),
  ]);
  const opening = openWorkspace({
    repository,
    runDir: folder,
    runId: drafted.run_id,
    base: { ...drafted.base },
    scope: [...drafted.objective.scope],
    ownedPaths: (await loadPlaybook(drafted.flow.playbook))?.ownedPaths ?? [],
    expectedTip: tip.commit,
    checkouts: checkoutKindFor(isolation.level, folder),
    sharesHistory: !detects(isolation.level),
    redact: (bytes) => redactBytes(redactor, bytes),
    secretsIn: secretFinder(redactor),
    isSquashed: policy.land_squash === true,
    isApart: parts.isApart === true,
    ...(fork === undefined
      ? {}
      : { forkedFrom: { runs: [...origins.map(({ run }) => run), ...(parts.forkedLater ?? [])], begins: fork.tip } }),
    ...(policy.dependencies === undefined ? {} : { dependencies: policy.dependencies }),
    ...(await packagesOrigin(policy)),
    ...(policy.restores === undefined ? {} : { checkDependencies: [] }),
  });
  const prompts: Record<string, string> = {};
  for (const [name, hash] of Object.entries(drafted.prompts)) prompts[name] = (await parts.readBlob(hash)).toString("utf8");
  const scriptOf = (hash: string): string => join(folder, "blobs", hash.slice(0, 2), hash);
  const trace = openLiveTrace(context, paths.root, folder, view);
  const agents = openAgentsBox({
    context,
    turnEnv: trace.environment,
    isolation,
    limits,
    policy,
    folder,
    mark: realpathSync(folder),
    scriptOf,
    learn: redaction.learn,
    isHeld: parts.isHeld,
  });
  // Processes that an earlier life left alive are ended before anything new begins; the branch is inspected meanwhile.
  const [workspace] = await Promise.all([opening, agents.sweep(drafted.run_id), sweepTemporary()]);
  for (const layer of readLayers(folder)) await isolation.collect(layer);
  const verifier = openChecks({
    workspace,
    isolation,
    limits,
    policy,
    folder,
    putBlob: (bytes) => recorder.putBlob(bytes),
    readBlob: (hash) => parts.readBlob(hash),
    redactor,
    guard: (word) => {
      setImmediate(() => void agents.prepare()); // while a command runs, this process is idle
      return agents.guard(word);
    },
  });
  const inbox = await readOpenInbox(context, folder);
  const outputOf = async (hash: string): Promise<string> =>
    (JSON.parse((await parts.readBlob(hash)).toString("utf8")) as Evidence).output_excerpt.slice(-evidenceCharsMax);
  const handedOf = async (hash: string): Promise<unknown> =>
    (JSON.parse((await parts.readBlob(hash)).toString("utf8")) as { readonly claim?: unknown }).claim ?? null;
  const fileWriter = await openPlaybook({ context, paths, folder, view, isDisposable: parts.isApart === true });
  const holding = openHolding({ verifier, view });
  const ended = openEndedFolders(folder);
  const reportNotices = openNotices(context, paths, folder);
  const live = openLiveView(context, folder, openLiveEvents(redactor), fileWriter);
  // Only its parent cancels a child run: the parent waits for its end as for a turn's.
  const isChild = parts.cancel !== null;
  const called = parts.cancel ?? context.interrupted;
  const pause = (now: boolean): void => {
    const detail = context.pauseDetail === undefined ? {} : { detail: context.pauseDetail };
    void sendRequest(
      folder,
      { event: "control_requested", control: "pause", now, request: randomUUID(), actor: actorOf(context), ...detail },
      { waitMs: 0 },
    );
  };
  const unused = [
    whenAborted(called, () => pause(isChild || called.reason === atOnce)),
    ...(isChild || context.hurried === undefined ? [] : [whenAborted(context.hurried, () => pause(true))]),
  ];

  const runtime: Runtime = {
    journal: recorder,
    clock: systemClock,
    agents: transcribedAgents(redactedAgents(agents, redactor), { folder, redactor, now: () => systemClock.now() }),
    workspace,
    verifier,
    functions: createFunctions({
      verifier,
      workspace,
      paths,
      folder,
      view,
      entries: () => readEntries(folder),
      readBlob: blobReader(folder),
      clock: systemClock,
      cancel: context.interrupted,
      isChild,
    }),
    children: childrenOf(parts),
    inbox,
    buildPrompt: (run, cursor, step, open) =>
      briefOf(prompts, run, cursor, step, open, {
        outputOf,
        handedOf,
        recordedOf: fileWriter.phaseNotes,
        learningsOf: (role) => fileWriter.learnings(role, holding(open.attempt)),
      }),
    onEntry: (entry, run) => {
      if ("request" in entry) inbox.acknowledge(entry.request);
      live.fact(entry, run);
      fileWriter.onEntry(entry, run);
      ended.take(entry, run);
      reportNotices(entry, run);
      trace.take(entry);
      parts.watch(entry, run);
    },
    onLiveEvent: live.signal,
  };
  const close = async (): Promise<void> => {
    for (const end of unused) end();
    live.close();
    await fileWriter.close();
    await agents.close();
    await limits.close();
    await inbox.close();
    await ended.close(view());
    await trace.close();
  };
  return { runtime, isolation: inForce(isolation, limits), close };
}

/** Folders in which agents of an earlier process may have left unmerged writes. */
function readLayers(folder: string): readonly string[] {
  const layers = join(folder, "layers");
  return existsSync(layers) ? readdirSync(layers).map((name) => join(layers, name)) : [];
}

/** Calls back when aborted, or now if it already was; returns the unsubscribe function. */
function whenAborted(signal: AbortSignal, then: () => void): () => void {
  if (signal.aborted) then();
  else signal.addEventListener("abort", then, { once: true });
  return () => signal.removeEventListener("abort", then);
}
