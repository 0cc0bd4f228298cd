import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { endTree } from "../../src/agents/process/end-tree.ts";
import { createTurnFilter } from "../../src/agents/process/process-mark.ts";
import { spawnAgent, type SpawnedAgent } from "../../src/agents/process/spawn-agent.ts";
import { turnLimits } from "../../src/agents/turn/turn-limits.ts";
import { alive, isRunning, until } from "./table.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "autopilot-tree-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});
const noProc = !existsSync("/proc/self/environ");

async function begin(
  command: string,
): Promise<SpawnedAgent & { readonly end: () => Promise<number> }> {
  const mark = {
    run: "run-2026-01-02-030405",
    attempt: "1@1/execute#1",
    repository: folder,
    agentsId: folder,
  };

  const spawned = await spawnAgent({
    argv: ["/bin/sh", "-c", command],
    cwd: folder,
    mark,
    passEnv: [],
    env: {},
    home: null,
    wrap: null,
  });
  if ("problem" in spawned) throw new Error(spawned.problem);
  return {
    ...spawned,
    end: () =>
      endTree(spawned.child, createTurnFilter(mark), { graceMs: turnLimits.turnTermGraceMs }),
  };
}
const pidIn = (name: string): number =>
  Number(existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : 0);

test.skipIf(noProc).each([
  ["one that goes when told", "echo $$ > pid; exec sleep 1000"],
  ["one that ignores TERM", "trap '' TERM; echo $$ > pid; while :; do sleep 1; done"],
  ["a child in another session", "setsid sh -c 'echo $$ > pid; exec sleep 1000' & wait"],
  [
    "a child whose parent is gone",
    "(setsid sh -c 'echo $$ > pid; exec sleep 1000' &) ; sleep 1000",
  ],
  [
    "a child that threw its environment away",
    "env -i /bin/sh -c 'echo $$ > pid; trap \"\" TERM; while :; do sleep 1; done' & wait",
  ],
  [
    "a child that holds the pipes after the parent has ended",
    "(setsid sh -c 'echo $$ > pid; trap \"\" TERM; while :; do sleep 1; done' &)",
  ],
])("%s is ended (needs /proc to look from outside)", async (_, command) => {
  const tree = await begin(command);
  await until(() => pidIn("pid") > 0, "it has said who it is");
  const pid = pidIn("pid");
  expect(isRunning(pid)).toBe(true);
  expect(await tree.end()).toBe(0);
  await until(() => !isRunning(pid), "it is gone");
  expect(alive(`AUTOPILOT_LIFE=${folder}`)).toEqual([]);
});

test("what it prints on stderr is kept to its tail", async () => {
  const tree = await begin("i=0; while [ $i -lt 20000 ]; do echo line $i >&2; i=$((i + 1)); done");
  await tree.exited;
  await until(() => tree.stderrTail().includes("line 19999"), "the last line has come");
  expect(tree.stderrTail().length).toBeLessThanOrEqual(16 * 1024);
  await tree.end();
});
