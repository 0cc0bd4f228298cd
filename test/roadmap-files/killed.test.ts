// The plug is pulled, for real: whatever moment it is, the files are whole, and those drawn
// afterwards are what the journal yields.

import { join } from "node:path";
import * as v from "valibot";
import { expect } from "vitest";
import { RoadmapState } from "../../src/contracts/roadmap-state.ts";
import { MetricsFile, TraceSpan } from "../../src/contracts/roadmap-reports.ts";
import { deriveStateText } from "../../src/playbooks/roadmap/files/derive-state-text.ts";
import { autopilot, begin, type Entry, journal, runFolderOf, until } from "../support/autopilot.ts";
import { git } from "../support/scratch-repository.ts";
import { aFew, longTest } from "../support/sampled.ts";
import {
  artifact,
  audit,
  has,
  json,
  names,
  planned,
  project,
  quiet,
  read,
  turnsOf,
  goArgs,
} from "./project.ts";

const phases = [
  { id: "1", name: "One" },
  { id: "2", name: "Two", after: ["1"] },
];
const turns = () => [...phases.flatMap((phase) => turnsOf(phase)), audit(phases)];
/**
 * What is killed in the first phase comes to no end by itself, however late somebody looks: the
 * second phase's turns wait.
 */
const waiting = () =>
  turns().map((turn) =>
    (turn["when"] as { readonly phase?: string }).phase === "1"
      ? turn
      : { ...turn, do: [{ sleep: 600_000 }, ...((turn["do"] ?? []) as readonly object[])] },
  );
const runIn = (folder: string): string => runFolderOf(folder).split("/").at(-1) ?? "";
const derived = (folder: string): string =>
  deriveStateText({ root: folder, folder: join(folder, ".autopilot") }, runIn(folder)) ?? "";
const seen = (folder: string): readonly Entry[] => {
  try {
    return journal(folder);
  } catch {
    return []; // the run has not begun yet
  }
};

/**
 * Starts a command, kills it as soon as the journal says so, and waits until it is gone. False if
 * it ended by itself.
 */
async function killed(
  folder: string,
  args: readonly string[],
  when: (entries: readonly Entry[]) => boolean,
): Promise<boolean> {
  const { child, ended } = begin(folder, args, quiet);
  let isOver = false;
  void ended.then(() => (isOver = true));
  await until("the moment to pull the plug", () => isOver || when(seen(folder)));
  child.kill("SIGKILL");

  return (await ended).signal === "SIGKILL";
}

const moments: readonly (readonly [string, (entry: Entry) => boolean])[] = [
  [
    "an agent's turn was begun",
    ({ event, attempt }) => event === "session_opened" && String(attempt).includes("/plan#"),
  ],
  [
    "a turn was paid for",
    ({ event, attempt }) => event === "turn_ended" && String(attempt).includes("/do#"),
  ],
  [
    "work was committed",
    ({ event, attempt }) => event === "changes_applied" && String(attempt).includes("/do#"),
  ],
  [
    "a step ended",
    ({ event, attempt }) => event === "step_completed" && String(attempt).includes("/checks#"),
  ],
  ["a phase ended", ({ event, walk }) => event === "phase_completed" && walk === "1"],
];
aFew(2).each(moments)(
  "killed when %s: what lies there is whole, and what is drawn next is the journal's",
  async (moment, isThen) => {
    const folder = project(phases, moment === "an agent's turn was begun" ? {} : planned(phases)); // that turn is the planner's
    expect(
      await killed(folder, goArgs(folder, waiting(), ["all"]), (entries) => entries.some(isThen)),
    ).toBe(true);

    for (const path of [".autopilot/state.json", ".autopilot/state.json.backup"]) {
      if (has(folder, path)) {
        expect(v.parse(RoadmapState, json(folder, path))._meta.status).toBe("running");
      }
    }

    const stopped = await autopilot(folder, ["stop", "--json"], quiet);
    expect(stopped.json.state, stopped.out).toBe("stopped");
    expect(read(folder, ".autopilot/state.json")).toBe(derived(folder));
    expect(v.parse(RoadmapState, json(folder, ".autopilot/state.json"))._meta.status).toBe(
      "failed",
    );

    expect(
      names(folder, ".autopilot/diagnostics").filter((name) => name.startsWith("diagnostic-")),
    ).toHaveLength(1);
  },
);

longTest(
  "killed after the first phase and stopped, the next run knows that phase as completed",
  "test/roadmap-files/killed.test.ts › killed when %s: what lies there is whole, and what is drawn next is the journal's",
  async () => {
    const folder = project(phases, planned(phases));
    const isLanded = ({ event, walk }: Entry): boolean => event === "phase_started" && walk === "2";
    expect(
      await killed(folder, goArgs(folder, waiting(), ["all"]), (entries) => entries.some(isLanded)),
    ).toBe(true);

    await autopilot(folder, ["stop", "--json"], quiet);
    expect(git(folder, "log", "-1", "--format=%s")).toBe("autopilot: pages of phase 1");
    const first = runIn(folder);
    const last = read(folder, ".autopilot/state.json");

    const ended = await autopilot(
      folder,
      goArgs(
        folder,
        [...turnsOf(phases[1] ?? { id: "", name: "" }), audit(phases.slice(1))],
        ["all"],
      ),
      quiet,
    );
    expect([ended.code, ended.json.state], ended.out + ended.err).toEqual([0, "completed"]);
    expect(read(folder, `.autopilot/archive/${first}.json`)).toBe(last);
    const tracked = git(folder, "ls-tree", "-r", "--name-only", "HEAD");
    for (const { id } of phases) expect(tracked).toContain(`.planning/phases/${id}/TRACE.jsonl`);
    expect(git(folder, "status", "--porcelain")).toBe("");
    expect(
      seen(folder)
        .filter(({ event }) => event === "phase_started")
        .map(({ walk }) => walk),
    ).not.toContain("1");
  },
);

longTest(
  "killed over and over, a roadmap ends with the state, the commits and the figures of one that was left alone",
  "test/roadmap/kill.test.ts › killed as its steps end, it ends with the same steps, commits, branches and figures",
  async () => {
    const [calm, harassed] = [project(phases), project(phases)];
    await autopilot(calm, goArgs(calm, turns(), ["--complete"]), quiet);
    let kills = 0;
    let args = goArgs(harassed, turns(), ["--complete"]);

    for (let at = 12; ; at = seen(harassed).length + 11) {
      if (!(await killed(harassed, args, (entries) => entries.length >= at))) break;
      kills++;
      args = ["resume", "--json"];
    }

    expect(kills).toBeGreaterThan(5);
    await autopilot(harassed, ["resume", "--json"], quiet); // the last kill may have come after the last line and before the files
    const last = await autopilot(harassed, ["status", "--json"]);
    expect(last.json.state).toBe("completed");
    const stateOf = (folder: string): RoadmapState =>
      v.parse(RoadmapState, json(folder, `.autopilot/archive/${runIn(folder)}.json`));
    expect(read(harassed, `.autopilot/archive/${runIn(harassed)}.json`)).toBe(derived(harassed));
    expect(has(harassed, ".autopilot/state.json")).toBe(false);

    const shape = ({ phases: all, metrics }: RoadmapState) => ({
      phases: Object.entries(all).map(
        ([key, { status, steps, debug_attempts, replan_attempts }]) => ({
          key,
          status,
          debug_attempts,
          replan_attempts,
          steps: Object.entries(steps).map(([step, reported]) => [
            step,
            reported !== undefined && "status" in reported ? reported.status : reported,
          ]),
          hashes: [steps.research?.hash, steps.plan?.hash],
        }),
      ),
      done: [
        metrics.phases_completed,
        metrics.phases_failed,
        metrics.debug_loops_total,
        metrics.replan_count,
      ],
    });
    expect(shape(stateOf(harassed))).toEqual(shape(stateOf(calm)));
    const tree = (folder: string): string =>
      git(folder, "ls-tree", "-r", `autopilot/${runIn(folder)}`);
    expect(tree(harassed)).toBe(tree(calm));
    const commits = (folder: string): readonly string[] =>
      git(folder, "log", "--format=%s").split("\n");
    expect(commits(harassed)).toEqual(commits(calm));

    const figures = (folder: string) =>
      v
        .parse(MetricsFile, json(folder, ".autopilot/archive/metrics.json"))
        .map(({ phases_attempted, phases_succeeded, avg_alignment_score, success_rate }) => ({
          phases_attempted,
          phases_succeeded,
          avg_alignment_score,
          success_rate,
        }));
    expect(figures(harassed)).toEqual(figures(calm));

    for (const { id } of phases) {
      const spans = read(harassed, `.planning/phases/${id}/TRACE.jsonl`).trimEnd().split("\n");
      for (const span of spans) v.parse(TraceSpan, JSON.parse(span));
      expect(read(harassed, `.planning/phases/${id}/EXECUTION-LOG.md`)).toContain("-- COMPLETED");
      expect(read(harassed, artifact(id))).toBe(`ready ${id}\n`);
    }
  },
);
