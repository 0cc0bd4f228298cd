import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// NODE_EXTRA_CA_CERTS costs tens of milliseconds per Node start and children of tests need no network.
delete process.env["NODE_EXTRA_CA_CERTS"];
delete process.env["IS_SANDBOX"];

// Where CI wants the result in a form a program reads.
const results = process.env["TEST_RESULTS"];

/** Fast and whole tests share the workers; each of the latter starts processes of its own and waits for them. */
const maxWorkers = availableParallelism() + 1;

/** Files that take a minute or more by themselves: begun first, so that none of them is what all wait for at the end. */
const long = [
  "portfolio/pool",
  "cli-runs/oracles",
  "roadmap-files/failures",
  "flows/kills",
  "roadmap-files/killed",
  "secrets/leaks",
  "hostile/box",
  "cli-lifecycle/answers",
  "roadmap-files/damaged",
  "dashboard/dashboard",
  "roadmap/three-phases",
  "faults/disk-errors",
];

/** The long ones, the whole ones, the fast ones. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const weight = ({ moduleId, project }: TestSpecification): number =>
      project.name === "fast" ? 2 : long.some((name) => moduleId.endsWith(`test/${name}.test.ts`)) ? 0 : 1;
    return (await super.sort(files)).toSorted((one, other) => weight(one) - weight(other));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    reporters: results === undefined ? ["default"] : ["default", ["json", { outputFile: results }]],
    projects: [
      {
        test: {
          name: "fast",
          include: ["src/**/*.test.ts", "test/architecture.test.ts", "test/contracts/**/*.test.ts", "test/simulation/quick.test.ts"],
          isolate: false,
          setupFiles: ["test/support/after-each-file.ts"],
          maxWorkers,
          testTimeout: 30_000, // none takes a second by itself; a busy machine may make it wait
        },
      },
      {
        test: {
          name: "whole",
          maxWorkers,
          include: ["test/**/*.test.ts"],
          exclude: [
            "test/architecture.test.ts",
            "test/contracts/**",
            "test/simulation/quick.test.ts",
            "test/fixtures/**",
            "test/real-agents/**",
          ],
          globalSetup: ["test/support/build-once.ts"],
          setupFiles: ["test/support/after-each-file.ts"],
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
          setupFiles: ["test/support/after-each-file.ts"],
          env: { AUTOPILOT_TEST_APART: "1" }, // as a user does
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
