// Two terminals begin at the same moment, or one while the other still asks or has asked.

import { resolve } from "node:path";
import { expect, test } from "vitest";
import { go } from "../../src/commands/go.ts";
import { writeRequest } from "../../src/project/requests/request-files.ts";
import { start } from "../../src/commands/start.ts";
import { apart, autopilot, gateBeside, runFolderOf, scripted } from "../support/autopilot.ts";
import { commandContext } from "../support/command-context.ts";
import { scratchCheckedOnce as scratch } from "../support/scratch-repository.ts";

test("of several starts at the same moment one runs, the others are told of it, and a bare command means the one that runs", async () => {
  const folder = scratch();
  const gate = gateBeside(folder);
  const idle = [{ do: [gate.waits, { write: { path: "hello.txt", text: "hello\n" } }] }];

  const args = [
    "go",
    "say hello",
    ...scripted(folder, idle),
    "--isolation",
    "clone",
    "--max-cycles",
    "1",
    "--yes",
    "--json",
  ];

  let ends = 0;
  const startOne = async () => {
    const end = await apart(folder, args);
    if (++ends === 2) gate.open(); // two are refused while the third works
    return end;
  };
  const ended = await Promise.all([startOne(), startOne(), startOne()]);
  expect(ended.map(({ json }) => json.reason_code).toSorted()).toEqual([
    "cycle_cap_reached",
    "run_open",
    "run_open",
  ]);

  const named = [...new Set(ended.map(({ json }) => json.run_id))];
  expect(named, "those refused name the one that runs").toHaveLength(1);
  expect((await autopilot(folder, ["status", "--json"])).json).toMatchObject({
    run_id: named[0],
    state: "running",
  });
});

test("a draft that another terminal starts while this one still asks is not started twice", async () => {
  const folder = scratch();
  const place = commandContext({
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: resolve(folder, "../home") },
    isTerminal: true,
    ask: async () => {
      const other = await autopilot(folder, ["go", "--yes", "--max-cycles", "1", "--json"]);
      expect(other.json.reason_code).toBe("cycle_cap_reached");
      return "y";
    },
  });

  const [, agent = ""] = scripted(folder, []);
  expect(await start(place, { words: ["say hello"], agent, isolation: "clone" })).toMatchObject({
    result: "PASS",
  });

  expect(await go(place, { words: [], yes: false })).toMatchObject({
    reason_code: "invalid_state_transition",
    state: "running",
  });
});

test("a pause that nobody lived to take does not hold up the resume that comes after it", async () => {
  const folder = scratch();
  const args = [
    "go",
    "say hello",
    ...scripted(folder, []),
    "--isolation",
    "clone",
    "--max-cycles",
    "1",
    "--yes",
    "--json",
  ];
  expect((await autopilot(folder, args)).json).toMatchObject({
    reason_code: "cycle_cap_reached",
    state: "running",
  });

  await writeRequest(runFolderOf(folder), {
    event: "control_requested",
    control: "pause",
    now: true,
    request: "left-behind",
    actor: "operator:ada",
  });

  const resumed = await autopilot(folder, ["resume", "--max-cycles", "1", "--json"]);
  expect(resumed.json).toMatchObject({ reason_code: "cycle_cap_reached", state: "running" });
});
