// scenarios: what the fake agents, checks and people do: pure functions of place, ordinal and
// recorded state.

import type { Draft } from "../../../src/contracts/event.ts";
import type { Run } from "../../../src/core/state.ts";
import { flowNamed } from "./flows.ts";
import { type Disk, drive, newDisk, PowerCut, type Script } from "./stage.ts";
import { type DraftedWith, runDrafted, started, Tape } from "./tape.ts";

export type Scenario = {
  readonly flow: string;
  readonly drafted?: DraftedWith;
  readonly files?: readonly string[];
  readonly script: Script;
  /** What people do when the run rests; null: they leave it there. */
  readonly user?: (run: Run, why: string) => readonly Draft[] | null;
  /** A crash is a new invocation: where that itself changes the end, no cut is compared. */
  readonly isCrashFree?: boolean;
};

export const resume = (run: Run): Draft => ({
  event: "run_resumed",
  request: `resume:${run.opening}`,
  from_state: "paused",
  to_state: "running",
});
export function answer(
  run: Run,
  reply: string | ((block: Run["blocks"][string]) => string),
  issues?: string[],
): readonly Draft[] {
  const block = Object.values(run.blocks)[0];
  if (block === undefined) return [resume(run)];
  const text = typeof reply === "string" ? reply : reply(block);

  return [
    {
      event: "block_answered",
      request: `answer:${block.block}`,
      block: block.block,
      answer: text,
      ...(issues === undefined ? {} : { issues }),
    },
    resume(run),
  ];
}

export type Lived = {
  readonly disk: Disk;
  readonly tape: Tape;
  readonly why: string;
  readonly ticks: number;
  readonly crashes: number;
};
export type LifeOptions = {
  readonly cuts?: readonly number[];
  readonly pick?: (size: number) => number;
  readonly flow?: ReturnType<typeof flowNamed>;
  readonly onAppend?: (tape: Tape) => void;
  readonly before?: (tick: number, disk: Disk) => void;
};

/** Lives one whole run through every cut asked for, people included. */
export function live(
  scenario: Scenario,
  { cuts = [], pick, flow = flowNamed(scenario.flow), onAppend, before }: LifeOptions = {},
): Lived {
  const disk = newDisk();
  for (const file of scenario.files ?? []) disk.files.add(file);
  disk.journal = new Tape().append(runDrafted(flow, scenario.drafted), started).entries;
  const pending = [...cuts];
  let ticks = 0;
  let crashes = 0;

  const tick = (): void => {
    ticks++;
    before?.(ticks, disk);
    if (ticks !== pending[0]) return;
    pending.shift();
    crashes++;
    throw new PowerCut();
  };

  for (let life = 0; life < 400; life++) {
    try {
      const { tape, why } = drive(
        {
          disk,
          tick,
          ...(pick === undefined ? {} : { pick }),
          ...(onAppend === undefined ? {} : { onAppend }),
        },
        scenario.script,
      );
      const requests = scenario.user?.(tape.run, why) ?? null;
      if (requests === null) return { disk, tape, why, ticks, crashes };
      disk.requests.push(...requests);
    } catch (error) {
      if (!(error instanceof PowerCut)) throw error;
    }
  }

  throw new Error("it does not end");
}

/** What must be the same however often the plug was pulled. */
export function essenceOf({ tape, disk }: Lived): unknown {
  const { run } = tape;
  return {
    status: run.status,
    reason: run.reason,
    verdict: run.verdict,
    phases: run.phases.map(({ id, status, visit, because }) => [id, status, visit, because]),
    retries: run.retries,
    taken: run.taken,
    cursors: Object.fromEntries(
      Object.values(run.cursors).map(({ path, result, ended, taken }) => [
        path,
        { result, ended, taken },
      ]),
    ),
    places: run.turns
      .map(({ attempt, asks, isOver }) => `${attempt} asked ${asks}${isOver ? "" : ", not over"}`)
      .toSorted(),
    commits: disk.commits.toSorted(),
    effects: [...disk.effects].toSorted(),
  };
}
