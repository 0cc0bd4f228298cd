import { expect, test } from "vitest";
import type { ProcessInfo } from "./process-table.ts";
import {
  cacheForMoment,
  type ProcessSource,
  type ProcessTracker,
  trackProcesses,
} from "./process-tracker.ts";

type One = {
  readonly parent: number;
  readonly startTime?: string;
  readonly words?: readonly string[];
};

/** A machine made by hand, and how often each environment was read. */
class Machine implements ProcessSource {
  readonly all = new Map<number, One>();
  readonly read: number[] = [];
  readonly listPids = (): readonly number[] => [...this.all.keys()];
  readonly readStat = (pid: number): ProcessInfo | undefined => {
    const one = this.all.get(pid);
    return one === undefined
      ? undefined
      : { pid, parent: one.parent, startTime: one.startTime ?? "1" };
  };
  readonly readEnvironment = (pid: number): readonly string[] => {
    this.read.push(pid);
    return this.all.get(pid)?.words ?? [];
  };
}

const runner = 10;
const root = 20;
const marked = ["A=1", "MARK=x"];

function started(): { readonly machine: Machine; readonly roll: ProcessTracker } {
  const machine = new Machine();
  machine.all.set(1, { parent: 0 });
  machine.all.set(runner, { parent: 1, words: marked }); // even a runner that is itself somebody's agent
  machine.all.set(root, { parent: runner, words: marked });

  return {
    machine,
    roll: trackProcesses(machine, (words) => words.includes("MARK=x"), root, new Set([1, runner])),
  };
}

test("those with the mark, and those that descend from the turn's process without one; never the runner", () => {
  const { machine, roll } = started();
  machine.all.set(23, { parent: 22 });
  machine.all.set(22, { parent: root });
  machine.all.set(30, { parent: 1, words: marked });
  machine.all.set(40, { parent: 1 });
  expect(new Set(roll.scan())).toEqual(new Set([root, 22, 23, 30]));
});

test("R1: who once belonged still does when its parent is gone and its environment is another", () => {
  const { machine, roll } = started();
  machine.all.set(22, { parent: root });
  machine.all.set(30, { parent: 1, words: marked });
  roll.scan();
  machine.all.delete(root);
  machine.all.set(22, { parent: 1 });
  machine.all.set(30, { parent: 1 });
  machine.all.set(31, { parent: 30 });
  expect(new Set(roll.scan())).toEqual(new Set([22, 30, 31]));
  machine.all.delete(30);
  expect(new Set(roll.scan())).toEqual(new Set([22, 31]));
});

test("R2: strangers are read twice, however many there are and however long it lasts", () => {
  const { machine, roll } = started();
  for (let pid = 1_000; pid < 1_500; pid++) machine.all.set(pid, { parent: 1 });
  for (let looks = 0; looks < 100; looks++) roll.scan();
  expect(machine.read.filter((pid) => pid === 1_234)).toHaveLength(2);
});

test("R2: one that was just being made at the first look is found at the second", () => {
  const { machine, roll } = started();
  machine.all.set(30, { parent: 1 });
  expect(roll.scan()).not.toContain(30);
  machine.all.set(30, { parent: 1, words: marked });
  expect(roll.scan()).toContain(30);
});

test("R2: a stranger's number that was given anew is read anew", () => {
  const { machine, roll } = started();
  machine.all.set(40, { parent: 1, startTime: "1" });
  for (let looks = 0; looks < 3; looks++) roll.scan();
  machine.all.set(40, { parent: 1, startTime: "2", words: marked });
  const found = Array.from({ length: 10 }, () => roll.scan().includes(40));
  expect(found.at(-1)).toBe(true);
});

test("R3: many turns that look in one moment read each process once, and in the next anew", () => {
  const { machine } = started();
  machine.all.set(40, { parent: 1 });
  const moment = cacheForMoment(machine);
  const rolls = ["MARK=x", "MARK=y"].map((mark) =>
    trackProcesses(moment, (words) => words.includes(mark), root, new Set([1, runner])),
  );
  expect(rolls.map((roll) => roll.scan())).toEqual([[root], []]);
  expect(machine.read.filter((pid) => pid === 40)).toHaveLength(1);
  machine.all.set(41, { parent: 1, words: ["MARK=y"] });
  moment.begin();
  expect(rolls.map((roll) => roll.scan())).toEqual([[root], [41]]);
  expect(machine.read.filter((pid) => pid === 40)).toHaveLength(2);
});
