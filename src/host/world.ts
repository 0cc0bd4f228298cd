// world: the one place where the parts of a driven run meet.

import { randomUUID } from "node:crypto";
import { realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openAgents } from "../agents/open-agents.ts";
import type { Entry, IsolationInForce } from "../contracts/event.ts";
import type { Evidence } from "../contracts/evidence.ts";
import type { Signal } from "../contracts/signal.ts";
import type { RunView } from "../core/state.ts";
import type { Recorder, World } from "../engine/world.ts";
import { glimpse } from "../faces/progress.ts";
import { returnOf } from "../flows/returns.ts";
import { openVerifier } from "../verify/verifier.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import { briefOf } from "./brief.ts";
import { childrenOf, type ChildParts } from "./children.ts";
import { scriptedEntry } from "./embedded.ts";
import { registryOf } from "./functions/registry.ts";
import type { Home } from "./home.ts";
import { openInbox, sendRequest } from "./inbox.ts";
import { isolationFor } from "./isolation-for.ts";
import { openedRepository } from "./opened-repository.ts";
import type { Place } from "./place.ts";
import { recordedPolicy } from "./policy.ts";
import { product } from "./product.ts";
import { systemClock } from "./system-clock.ts";

export type WorldParts = ChildParts & {
  readonly home: Home;
  readonly recorder: Recorder;
  readonly watch: (entry: Entry, run: RunView) => void;
  readonly cancel: AbortSignal | null;
};

const liveEveryMs = 150;
const evidenceCharsMax = 4_000;

export type OpenedWorld = { readonly world: World; readonly isolation: IsolationInForce; readonly close: () => Promise<void> };

export async function openWorld(parts: WorldParts): Promise<OpenedWorld> {
  const { place, home, folder, view, recorder } = parts;
  const { drafted, tip } = view();
  const policy = recordedPolicy(view());
  const [repository, isolation] = await Promise.all([openedRepository(home.root), isolationFor(drafted.isolation, home, folder)]);
  const opening = openWorkspace({
    repository,
    runDir: folder,
    runId: drafted.run_id,
    base: { ...drafted.base },
    scope: [...drafted.objective.scope],
    ownedPaths: [],
    expectedTip: tip.commit,
    ...(policy.dependencies === undefined ? {} : { dependencies: policy.dependencies }),
  });
  const prompts: Record<string, string> = {};
  for (const [name, hash] of Object.entries(drafted.prompts)) prompts[name] = (await parts.readBlob(hash)).toString("utf8");
  const scriptOf = (hash: string): string => join(folder, "blobs", hash.slice(0, 2), hash);
  const agents = openAgents({
    embedded: { node: process.execPath, entry: scriptedEntry(), scriptOf },
    returnOf,
    place: realpathSync(folder),
    home: join(folder, "home"),
    // Of the blobs only its script: beside it lie evidence and prompts that are none of its business.
    wrap: (argv, { layer, cast }, env) =>
      isolation.wrap({
        argv,
        cwd: layer,
        env,
        writable: [layer],
        readable: cast.script === undefined ? [] : [scriptOf(cast.script), scriptedEntry()],
      }),
  });
  // What an earlier life left alive is ended before anything new begins; the branch is looked at meanwhile.
  const [workspace] = await Promise.all([opening, agents.sweep(drafted.run_id)]);
  const verifier = openVerifier({
    workspace,
    putBlob: (bytes) => recorder.putBlob(bytes),
    isolation: isolation.level,
    runId: drafted.run_id,
    product,
    timeoutMs: policy.check_minutes_max * 60_000,
    clock: systemClock,
    // Asked for with the first check, not before: a guardian is a process, and a run is in hand again without one.
    get env() {
      return agents.guarded();
    },
    // A check keeps the HOME made for it alone: what an agent leaves in the run's own HOME must not reach what judges it.
    wrap: ({ argv, cwd, env }) =>
      isolation.wrap({
        argv,
        cwd,
        env,
        home: "user",
        writable: [cwd, ...(env["HOME"] === undefined ? [] : [env["HOME"]])],
        network: policy.check_network ? "on" : "off",
      }),
  });
  const inbox = await openInbox(folder);
  const outputOf = async (hash: string): Promise<string> =>
    (JSON.parse((await parts.readBlob(hash)).toString("utf8")) as Evidence).output_excerpt.slice(-evidenceCharsMax);
  const show = liveView(place, folder);
  const pauseNow = (): void =>
    void sendRequest(
      folder,
      { event: "control_requested", control: "pause", now: true, request: randomUUID(), actor: `operator:${place.user}` },
      { waitMs: 0 },
    );
  const signals = [place.interrupted, ...(parts.cancel === null ? [] : [parts.cancel])];
  for (const signal of signals) signal.addEventListener("abort", pauseNow, { once: true });

  const world: World = {
    journal: recorder,
    clock: systemClock,
    agents,
    workspace,
    verifier,
    functions: registryOf({ verifier, workspace }),
    children: childrenOf(parts),
    inbox,
    brief: (run, walk, step, open) => briefOf(prompts, run, walk, step, open, outputOf),
    onEntry: (entry, run) => {
      if ("request" in entry) inbox.acknowledge(entry.request);
      parts.watch(entry, run);
    },
    onSignal: show,
  };
  const close = async (): Promise<void> => {
    for (const signal of signals) signal.removeEventListener("abort", pauseNow);
    await agents.close();
    await inbox.close();
  };
  const { level, mechanism, enforced, not_enforced } = isolation;
  return { world, isolation: { level, mechanism, enforced: [...enforced], not_enforced: [...not_enforced] }, close };
}

/** The last glimpse, for this terminal and, in a file that is overwritten, for `watch`. */
function liveView(place: Place, folder: string): (signal: Signal) => void {
  let shownAt = Number.NEGATIVE_INFINITY;
  return (signal) => {
    const line = glimpse(signal);
    if (line === null || systemClock.monotonicMs() - shownAt < liveEveryMs) return;
    shownAt = systemClock.monotonicMs();
    place.live(line);
    try {
      writeFileSync(join(folder, "live"), line, { mode: 0o600 });
    } catch {
      // A glimpse that cannot be kept is no reason to end a run; what matters goes to the journal, which says so.
    }
  };
}
