// A roadmap of three phases, killed before each write to its journal in turn: at every boundary of
// a phase, a step, a turn and a task. One phase passes, one is debugged, one is there already.
// However it was killed, it ends with the same state, commits and metrics.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  around,
  calls,
  debug,
  does,
  moduleFiles,
  plan,
  planCheck,
  planOf,
  project,
  research,
  smooth,
  type Turn,
} from "../roadmap/stories.ts";
import { autopilot, journal, runFolderOf, scripted } from "../support/autopilot.ts";
import { git } from "../support/scratch-repository.ts";
import { callsOf } from "./call-families.ts";
import { type Faulted, sampled, twoAtATime, whyNoStrace, withFault } from "./under-strace.ts";

/**
 * Every write with AUTOPILOT_FAULTS=all, a few with a number; an everyday run of the suite has
 * test/roadmap/kill.test.ts instead.
 */
const asked = process.env["AUTOPILOT_FAULTS"] ?? "0";
const writesMax = asked === "all" ? Number.POSITIVE_INFINITY : Math.min(3, Number(asked));
const whyNot =
  writesMax === 0 ? " (skipped: too long for every day; npm run test:long plays it)" : whyNoStrace;
const timeoutMs = 2 * 3_600_000;

const phases = [
  { id: "1", name: "Sum", criteria: [`sum adds :: ${calls("sum", "2, 3", "5")}`] },
  {
    id: "2",
    name: "Mean",
    after: "Phase 1",
    criteria: [`mean halves :: ${calls("mean", "2, 4", "3")}`],
  },
  {
    id: "3",
    name: "Greeting",
    criteria: [`it greets :: ${calls("greet", "'Bob'", "Hello, Bob")}`],
  },
];
const turns: readonly Turn[] = [
  ...smooth("1", "sum", "(a, b) => a + b", `it adds :: ${calls("sum", "1, 1", "2")}`),
  research("2"),
  plan(
    "2",
    planOf([
      {
        id: "02-01",
        files: ["src/mean.js", "src/index.js"],
        verify: ["it is exported :: grep -q mean src/index.js"],
      },
    ]),
  ),
  planCheck("2"),
  does("2", "02-01", moduleFiles("mean", "(a, b) => a + b / 2", ["sum"])),
  debug("2", { "src/mean.js": "export const mean = (a, b) => (a + b) / 2;\n" }),
  ...around("2"),
  ...around("3"),
];

const startArgs = (folder: string): readonly string[] => [
  "start",
  "--flow=roadmap",
  "--option=phases=all",
  "--isolation=clone",
  "--json",
  ...scripted(folder, turns),
];

async function drafted(): Promise<string> {
  const folder = project(phases);
  const reported = await autopilot(folder, startArgs(folder));
  expect(reported.code, reported.out).toBe(0);

  return folder;
}

type Story = {
  readonly tree: string;
  readonly commits: readonly string[];
  readonly state: unknown;
  readonly metrics: unknown;
};

/**
 * The result of a run, without times, costs (a turn that was cut short is paid for too) and what
 * only its own life has.
 */
function storyOf(folder: string): Story {
  const run = runFolderOf(folder).split("/").at(-1) ?? "";
  const reported = (path: string): Record<string, unknown> =>
    JSON.parse(readFileSync(join(folder, ".autopilot/archive", path), "utf8")) as Record<
      string,
      unknown
    >;
  const records = reported(`${run}.json`)["phases"] as Record<string, Record<string, unknown>>;
  const metrics =
    (reported("metrics.json") as unknown as readonly Record<string, unknown>[])[0] ?? {};
  const isLasting = ([name]: readonly [string, unknown]): boolean =>
    !/timestamp|_at$|minutes|tokens|run_id|hash|commit|per_phase_summary/.test(name);

  const lasting = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(isLasting)
        .map(([name, one]) => [name, lasting(one)]),
    );
  };

  return {
    tree: git(
      folder,
      "ls-tree",
      "-r",
      "HEAD",
      "--",
      "src",
      "test",
      ".planning/ROADMAP.md",
      ".planning/phases/1/PLAN.md",
    ),
    commits: git(folder, "log", "--format=%s").split("\n"),
    state: lasting(records),
    metrics: lasting(metrics),
  };
}

/** Does what a person would do after a crash until the run is over. */
async function finish(folder: string): Promise<void> {
  for (let tries = 0; tries < 4; tries++) {
    const { json } = await autopilot(folder, ["status", "--json"]);
    if (json.state === "completed") return;
    await autopilot(
      folder,
      json.state === "draft" ? ["go", "--yes", "--json"] : ["resume", "--json"],
    );
  }

  const { out } = await autopilot(folder, ["status", "--json"]);
  expect(out).toContain('"completed"');
}

const never = 60_000;
const killAt = (folder: string, at: number): Promise<Faulted> =>
  withFault(folder, ["go", "--yes", "--json"], {
    thread: "main",
    calls: callsOf("write"),
    path: join(runFolderOf(folder), "journal.jsonl"),
    at,
    does: "signal=KILL",
  });

describe.skipIf(whyNot !== "")(`a roadmap killed at its boundaries${whyNot}`, () => {
  test(
    "killed before any write to its journal, it ends with the same state, commits and metrics",
    { timeout: timeoutMs },
    async () => {
      const calm = await drafted();
      const ended = await killAt(calm, never);
      expect(ended.json, ended.out).toMatchObject({ result: "PASS", state: "completed" });
      const undisturbed = storyOf(calm);
      const written = new Set(journal(calm).map(({ event }) => event));

      for (const event of [
        "phase_started",
        "step_started",
        "turn_ended",
        "changes_applied",
        "step_completed",
        "phase_completed",
      ]) {
        expect(written).toContain(event);
      }

      const writes = ended.log.match(/\bwritev?\(/g)?.length ?? 0;
      expect(writes).toBeGreaterThan(50);

      const chosen = sampled(
        Array.from({ length: writes }, (_, at) => at + 1),
        writesMax,
      );
      await twoAtATime(
        chosen,
        (at) => `before write ${at} of ${writes}`,
        async (at) => {
          const folder = await drafted();
          expect(await killAt(folder, at)).toMatchObject({ fired: 1, signal: "SIGKILL" });
          await finish(folder);
          expect(storyOf(folder)).toEqual(undisturbed);
          expect((await autopilot(folder, ["verify", "--json"])).json).toMatchObject({
            chain: { ok: true },
          });
        },
      );

      process.stdout.write(`roadmap kills: ${chosen.length} of ${writes} writes\n`);
    },
  );
});
