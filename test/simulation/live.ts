// live: lives one whole run through every cut asked for, people included, on the real engine.

import type { Entry } from "../../src/contracts/event.ts";
import type { Flow } from "../../src/contracts/flow.ts";
import { openFold } from "../../src/core/fold.ts";
import type { RunView } from "../../src/core/state.ts";
import { drive } from "../../src/engine/drive.ts";
import { openMemoryJournal } from "../../src/journal/memory-journal.test-support.ts";
import type { RunRequest } from "../../src/ports/request-queue.ts";
import type { Chance } from "./chance.ts";
import { Disk, Machine, PowerCut } from "./machine.ts";
import type { Story } from "./story.ts";
import { hash, runDrafted, started } from "./support/tape.ts";
import { sha, simulatedRuntime } from "./simulated-runtime.ts";

const livesMax = 400;

export type Lived = {
  readonly disk: Disk;
  readonly run: RunView;
  readonly why: string;
  readonly ticks: number;
  readonly cuts: number;
  readonly journal: readonly Entry[];
};

export type Living = {
  /** Ticks, counted over all lives, at which the plug is pulled. */
  readonly cuts?: readonly number[];
  /** Agents survive the cut and must be ended by the next life. */
  readonly survivors?: boolean;
  readonly chance?: Chance;
  /** Chance of a cut at each tick, while faults are on. */
  readonly cutProbability?: number;
  readonly faultsUntilTick?: number;
  readonly onTick?: (disk: Disk, now: number) => void;
  readonly onState?: (run: RunView) => void;
  readonly meddle?: (disk: Disk) => void;
  readonly people?: Story["people"];
};

export async function live(story: Story, flow: Flow, living: Living = {}): Promise<Lived> {
  const disk = new Disk();
  for (const file of story.files ?? []) disk.files.set(file, 1);
  await beginIn(disk, story, flow);
  const pending = [...(living.cuts ?? [])];
  let [ticks, cuts] = [0, 0];

  for (let life = 0; life < livesMax; life++) {
    const { chance } = living;
    const before = ticks;

    const machine: Machine = new Machine(disk, {
      ...(pending[0] === undefined ? {} : { cutAt: pending[0] - before }),
      ...(chance === undefined ? {} : { chance }),
      ...(chance === undefined || living.cutProbability === undefined
        ? {}
        : {
            faultIn: () =>
              before + machine.now < (living.faultsUntilTick ?? Number.POSITIVE_INFINITY) &&
              chance.isTrue(living.cutProbability ?? 0),
          }),
      onTick: (now) => living.onTick?.(disk, before + now),
    });
    const lived = await oneLife(machine, story, living);
    ticks = before + machine.now;

    if (lived === null) {
      cuts++;
      if (pending[0] !== undefined && pending[0] <= ticks) pending.shift();
      if (living.survivors !== true) disk.alive.clear();
      living.meddle?.(disk);
      continue;
    }

    const asked = (living.people ?? story.people)?.(lived.run, lived.why) ?? null;
    if (asked === null) {
      return {
        disk,
        ...lived,
        ticks,
        cuts,
        journal: disk.store.lines.map((line) => JSON.parse(line) as Entry),
      };
    }

    disk.requests.push(
      ...asked.map((omit) => ({ ...omit, actor: "operator:story" }) as RunRequest),
    );
  }

  throw new Error(`"${story.name}" does not end`);
}

async function oneLife(
  machine: Machine,
  story: Story,
  living: Living,
): Promise<{ run: RunView; why: string } | null> {
  const fold = openFold();
  const view = (): RunView => {
    if (fold.state.status === "unborn") throw new Error("unborn");
    return fold.state;
  };

  try {
    const { journal, entries } = await openMemoryJournal(machine.disk.store, {
      commit: "sync",
      now: () => "2026-01-01T00:00:00.000Z",
      activeMs: () => machine.now,
    });
    for (const entry of entries) fold.apply(entry);
    const runtime = simulatedRuntime(machine, journal, story.script, view, () =>
      living.onState?.(view()),
    );

    const [opened] = await runtime.journal.append([
      {
        event: "run_opened",
        actor: "system",
        reason_code: "ok",
        opening: view().opening + 1,
        owner: { pid: 1, host: "sim" },
        product: "simulated",
        isolation: { level: "none", mechanism: "none", enforced: [], not_enforced: [] },
      },
    ]);
    if (opened !== undefined) fold.apply(opened);
    const why = await drive(runtime, fold);
    await journal.close();

    return { run: view(), why };
  } catch (error) {
    if (error instanceof PowerCut) return null;
    throw error;
  }
}

const said = (reason_code: string) => ({ actor: "operator:story", reason_code });

async function beginIn(disk: Disk, story: Story, flow: Flow): Promise<void> {
  const { journal } = await openMemoryJournal(disk.store, {
    commit: "sync",
    now: () => "2026-01-01T00:00:00.000Z",
    activeMs: () => 0,
  });

  const { options = {}, limits = {} } = story;
  const drafted = {
    ...runDrafted(flow, { options, ...limits }),
    ...said("run_drafted"),
    base: { branch: "main", commit: sha("base"), tree: sha("base tree") },
    cast: { "*": { agent: "fake" } },
  };
  await journal.append([
    drafted,
    { event: "preview_acknowledged", ...said("ack_recorded"), ack: hash },
    { ...started, ...said("run_started") },
  ]);

  await journal.close();
}

/**
 * What must be the same whatever was cut: the end, the way there, and what was left in the world.
 */
export function essenceOf({ run, disk }: Lived): string {
  return JSON.stringify({
    status: run.status,
    reason: run.reason,
    verdict: run.verdict,
    phases: run.phases.map(({ id, status, visit, because }) => [id, status, visit, because]),
    retries: run.retries,
    taken: run.taken,
    cursors: Object.values(run.cursors)
      .map(({ path, result, ended, taken }) => [path, result, ended, taken] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
    commits: disk.commits.map(({ key }) => key), // in the order in which they were made
    effects: [...disk.effects.keys()].toSorted(),
  });
}
