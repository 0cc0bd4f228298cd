import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { type CommandRequest, runCommand } from "../run-command.ts";

test("the channel is closed where a command cannot be started", async () => {
  const pipes = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === "PipeWrap").length;
  const before = pipes();

  const clock = {
    now: () => "",
    monotonicMs: () => 0,
    after: () => () => undefined,
  } as unknown as CommandRequest["clock"];

  const wrap = (): never => {
    throw new Error("no such isolation");
  };

  await expect(
    runCommand({ command: "true", cwd: tmpdir(), clock, wrap, isRecorded: true }),
  ).rejects.toThrow("no such isolation");

  await new Promise((resolve) => setImmediate(resolve));
  expect(pipes()).toBe(before);
});
