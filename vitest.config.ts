import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

// NODE_EXTRA_CA_CERTS costs tens of milliseconds per Node start and children of tests need no network.
delete process.env["NODE_EXTRA_CA_CERTS"];
delete process.env["IS_SANDBOX"];

// Where CI wants the result in a form a program reads.
const results = process.env["TEST_RESULTS"];

export default defineConfig({
  test: {
    reporters: results === undefined ? ["default"] : ["default", ["json", { outputFile: results }]],
    projects: [
      {
        test: {
          name: "fast",
          include: ["src/**/*.test.ts", "test/architecture.test.ts", "test/contracts/**/*.test.ts", "test/simulation/quick.test.ts"],
          isolate: false,
          maxWorkers: Math.max(2, availableParallelism()),
          testTimeout: 30_000, // none takes a second by itself; a busy machine may make it wait
        },
      },
      {
        test: {
          name: "whole",
          maxWorkers: availableParallelism() + 1, // each starts processes of its own and waits for them
          sequence: { groupOrder: 1 }, // after the fast ones
          include: ["test/**/*.test.ts"],
          exclude: [
            "test/architecture.test.ts",
            "test/contracts/**",
            "test/simulation/quick.test.ts",
            "test/fixtures/**",
            "test/real-agents/**",
          ],
          globalSetup: ["test/support/build-once.ts"],
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
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
