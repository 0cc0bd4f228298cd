import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// NODE_EXTRA_CA_CERTS costs tens of milliseconds per Node start and children of tests need no network.
delete process.env["NODE_EXTRA_CA_CERTS"];
delete process.env["IS_SANDBOX"];
process.env["PATH"] = withoutShim("python3", process.env["PATH"] ?? "");

// Where CI wants the result in a form a program reads.
const results = process.env["TEST_RESULTS"];
const setupFiles = ["test/support/each-file.ts", ...(process.env["TEST_CPU"] === undefined ? [] : ["test/support/processor-time.ts"])];

/**
 * Fast tests compute, and each of their workers loads most of the product: one a core, before the others. A whole one starts processes and
 * waits for them about half of its time.
 */
const fastWorkers = availableParallelism();
const wholeWorkers = 2 * availableParallelism() + 1;

/**
 * A version manager puts a script in a program's place, which starts a dozen others each time. Where that is so, the folder of the program itself
 * stands in its place.
 */
function withoutShim(program: string, path: string): string {
  const folders = path.split(delimiter);
  const first = folders.find((folder) => existsSync(join(folder, program)));
  const { stdout, status } = spawnSync(program, ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" });
  if (status !== 0 || first === undefined) return path;
  return folders.map((folder) => (folder === first ? dirname(stdout.trim()) : folder)).join(delimiter);
}

/** Files that take longest by themselves: begun first, so that none of them is what all wait for at the end. */
const long = [
  "test/fleet/workers",
  "test/portfolio/pool",
  "test/hostile/box",
  "test/cli-roadmap/failed-runs",
  "test/fleet/dispatch",
  "test/fleet/planner-campaign",
  "test/roadmap/kill",
  "test/fleet/fleet-portfolio",
  "test/verify/experiments",
  "test/quality/regression-tests",
  "test/cli-roadmap/walking",
  "test/fleet/worker-campaign",
  "test/faults/clock",
  "test/faults/kill-points",
  "test/cli-runs/protected-files",
  "test/flows/kills",
  "test/staged/taken-over",
  "test/faults/killed-git",
  "test/portfolio/campaign",
  "test/roadmap/lies",
  "test/cli-runs/parked",
  "test/cli-lifecycle/answers",
  "test/calibration/quality",
  "test/roadmap/three-phases",
  "test/roadmap-files/files",
  "test/flows/tutorial",
  "test/secrets/leaks",
  "test/simulation/shipped",
];

/** The long ones, then the others. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const weight = ({ moduleId }: TestSpecification): number => {
      const place = long.findIndex((name) => moduleId.endsWith(`${name}.test.ts`));
      return place < 0 ? long.length : place;
    };
    return (await super.sort(files)).toSorted((one, other) => weight(one) - weight(other));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    reporters: results === undefined ? ["default"] : ["default", ["json", { outputFile: results }]],
    experimental: { fsModuleCache: true }, // what was transformed once is not again
    execArgv: ["--max-semi-space-size=32"], // a twentieth less computing: most of what is made is soon gone
    projects: [
      {
        test: {
          name: "fast",
          include: ["src/**/*.test.ts", "test/law/*.test.ts", "test/contracts/**/*.test.ts", "test/simulation/quick.test.ts"],
          exclude: ["src/**/*.whole.test.ts"],
          isolate: false,
          setupFiles,
          maxWorkers: fastWorkers,
          sequence: { groupOrder: 0 },
          testTimeout: 120_000, // none takes a second by itself; a busy machine may make it wait
        },
      },
      {
        test: {
          name: "whole",
          maxWorkers: wholeWorkers,
          sequence: { groupOrder: 1 },
          include: ["test/**/*.test.ts", "src/**/*.whole.test.ts"], // the latter start processes or compute for seconds
          exclude: [
            "test/law/*.test.ts",
            "test/contracts/**",
            "test/simulation/quick.test.ts",
            "test/fixtures/**",
            "test/real-agents/**",
          ],
          globalSetup: ["test/support/build-once.ts"],
          setupFiles,
          isolate: false, // a worker serves many files: the product's code is loaded once
          testTimeout: 600_000,
          hookTimeout: 120_000,
        },
      },
      {
        // Real agents, installed by scripts/agents.mjs; not part of `npm test`. One at a time: each takes up to a gigabyte and both cores.
        test: {
          name: "agents",
          include: ["test/real-agents/**/*.test.ts"],
          globalSetup: ["test/support/build-once.ts"],
          setupFiles,
          env: { AUTOPILOT_TEST_APART: "1" }, // as a user does
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
