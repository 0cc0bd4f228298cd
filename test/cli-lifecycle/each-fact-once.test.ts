// What a command prints about a run that stopped: each fact once, and where to see what the agent
// did.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, goScripted } from "../support/autopilot.ts";
import { scratchCheckedOnce as scratch } from "../support/scratch-repository.ts";

const promise = { say: "<promise>DONE</promise>" };
const criterion = ["--done-criteria", "out is there :: test -f out.txt"];
const times = (text: string, words: string): number => text.split(words).length - 1;
/** As people see it: without --json. */
const resumed = (folder: string) => autopilot(folder, ["resume", "--now"]);

describe("a run that stopped says why once", () => {
  test("an agent that dies: a row for each turn, one sentence at the end, nothing about a breaker", async () => {
    const folder = scratch();
    const { json, err } = await goScripted(folder, [{ do: [{ exit: 3 }], repeat: 0 }], criterion);
    expect(json).toMatchObject({ state: "paused", reason_code: "breaker_open" });
    expect(times(err, "exited with code 3")).toBe(3);
    expect(err).toMatch(/✗ Turn 1 {4}The agent's process exited with code 3/);
    expect(err).not.toMatch(/Circuit breaker|Paused \(|retries from/);
    const { out } = await autopilot(folder, ["status"]);
    expect(times(out, "3 attempts in a row")).toBe(1);
    expect(out).not.toContain("circuit breaker");
    const report = (await autopilot(folder, ["report"])).out;
    expect(times(report, "3 attempts in a row")).toBe(1);
  });

  test("a change outside the scope: the reason once, and the command that shows what was discarded", async () => {
    const folder = scratch();
    const outside = { do: [{ write: { path: "README.md", text: "mine\n" } }, promise], repeat: 0 };
    const { json, err } = await goScripted(folder, [outside], [...criterion, "--scope", "src/**"]);
    expect(json).toMatchObject({ state: "paused", reason_code: "scope_violation_blocked" });
    expect(err).toContain("→ autopilot diff --turn 1");
    const { out } = await autopilot(folder, ["status"]);
    expect(times(out, "outside_scope")).toBe(0);
    const discarded = (await autopilot(folder, ["diff", "--turn", "1"])).out;
    expect(discarded).toMatch(/set aside[\s\S]*\+mine/);
  });

  test("a run that ends: the result once", async () => {
    const folder = scratch();
    await goScripted(
      folder,
      [
        { do: [{ exit: 3 }], repeat: 3 },
        { do: [{ write: { path: "out.txt", text: "out\n" } }, promise] },
      ],
      criterion,
    );

    const { out, err } = await resumed(folder);
    expect(times(out + err, "Merged into your branch")).toBe(1);
    expect(times(out + err, "is completed")).toBe(1);
  });
});

describe("what an agent did", () => {
  test("diff --turn shows one turn, transcript --turn the prompt it got", async () => {
    const folder = scratch();
    const turns = [
      { do: [{ write: { path: "a.txt", text: "first\n" } }] },
      { do: [{ write: { path: "out.txt", text: "second\n" } }, promise] },
    ];
    await goScripted(folder, turns, criterion);
    const first = (await autopilot(folder, ["diff", "--turn", "1"])).out;
    expect(first).toContain("+first");
    expect(first).not.toContain("+second");
    expect((await autopilot(folder, ["diff", "--turn", "3", "--json"])).json).toMatchObject({
      result: "FAIL",
      reason_code: "usage",
    });

    expect((await autopilot(folder, ["transcript"])).out).toContain(
      "autopilot transcript --turn 2   this turn in full, with its prompt",
    );

    expect((await autopilot(folder, ["transcript", "--turn", "2"])).out).toMatch(
      /Prompt\n {2}│ You work unattended/,
    );
  });
});

test("a name under limits that nothing takes is refused, with the nearest that is", async () => {
  const folder = scratch();
  mkdirSync(join(folder, ".autopilot"), { recursive: true });
  const config = join(folder, ".autopilot/config.yaml");
  writeFileSync(config, "limits: { max_total_retrys_per_run: 3, max_cycles: 4 }\n");
  const { out, code } = await autopilot(folder, ["validate", config]);
  expect(code).toBe(1);
  expect(out).toContain("limits.max_total_retrys_per_run");
  expect(out).toContain("Did you mean max_total_retries_per_run?");
  expect(out).not.toContain("max_cycles");
  expect((await goScripted(folder, [{ do: [promise] }], criterion)).json).toMatchObject({
    reason_code: "config_invalid",
  });
});
