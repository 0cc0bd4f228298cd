import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { toMarkVariables } from "../agents/process/process-mark.ts";
import { isBelowRun, isInsideRun } from "./inside-run.ts";

const mark = toMarkVariables({
  run: "run-2026-01-02-030405",
  attempt: "1/x#1",
  repository: "/p",
  agentsId: "l",
});

test.each([
  ["an agent's", mark, true],
  ["an agent's that dropped one variable", { AUTOPILOT_LIFE: "l" }, true],
  ["an agent's that dropped another", { AUTOPILOT_RUN: "r", AUTOPILOT_ATTEMPT: "a" }, true],
  ["a person's", { PATH: "/bin", AUTOPILOT_AGENT: "claude" }, false],
] as const)("%s environment", (_what, env, inside) => {
  expect(isInsideRun({ env })).toBe(inside);
});

test.runIf(process.platform === "linux")(
  "a server with a clean environment is found by the processes above it",
  async () => {
    const child = spawn("/bin/cat", [], {
      env: { PATH: "/bin", ...mark },
      stdio: ["pipe", "pipe", "ignore"],
    });

    try {
      child.stdin.write("x");
      await once(child.stdout, "data"); // it runs under its own environment now
      expect(isBelowRun({ env: {} }, child.pid)).toBe(true);
      expect(isBelowRun({ env: {} }, 1)).toBe(false);
    } finally {
      child.kill();
    }
  },
);
