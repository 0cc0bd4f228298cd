// The checks that may veto a completion: the project's own, red-green, and those kept from the
// agent.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, eventsOf, goScripted, journal, runFolderOf } from "../support/autopilot.ts";
import { scratch, scratchCheckedOnce, write } from "../support/scratch-repository.ts";

const promise = { say: "<promise>DONE</promise>" };
const makeB = { write: { path: "src/b.txt", text: "b\n" } };
const bExists = ["--done-criteria", "b is there :: test -f src/b.txt"];
const hasBwrap = spawnSync("bwrap", ["--version"]).status === 0;
const manifest = (test: string): string =>
  JSON.stringify({ name: "scratch", version: "1.0.0", scripts: { test } });

describe.concurrent("checks", () => {
  test("a project check that passed before and fails now vetoes the completion as a regression", async () => {
    const folder = scratchCheckedOnce({
      files: { "package.json": manifest("test -f keep.txt"), "keep.txt": "kept\n" },
    });

    const turns = [
      { do: [makeB, { delete: { path: "keep.txt" } }, promise] },
      { do: [{ write: { path: "keep.txt", text: "kept\n" } }, promise] },
    ];

    const { json } = await goScripted(folder, turns, [...bExists, "--max-cycles", "1"]);
    expect(json).toMatchObject({
      result: "WARN",
      reason_code: "cycle_cap_reached",
      state: "running",
    });

    const [proved] = eventsOf(folder, "step_failed");
    expect(proved).toMatchObject({
      reason_code: "check_regressed",
      facts: { regressed: 1, failing: 0 },
    });

    const fixed = await autopilot(folder, ["go", "--json"]);
    expect(fixed.json).toMatchObject({
      result: "PASS",
      reason_code: "completion_verified",
      state: "completed",
    });
  });

  test("a check runs under the limits of its box, and its evidence says so", async () => {
    const folder = scratch();
    await goScripted(folder, [{ do: [makeB, promise] }], bExists);
    const proved = eventsOf(folder, "step_completed").find(({ attempt }) =>
      String(attempt).includes("/prove#"),
    );

    const [{ evidence } = { evidence: "" }] = (proved?.["checks"] ?? []) as readonly {
      readonly evidence: string;
    }[];
    const kept = readFileSync(
      join(runFolderOf(folder), "blobs", evidence.slice(0, 2), evidence),
      "utf8",
    );
    expect((JSON.parse(kept) as { readonly argv: readonly string[] }).argv).toContain(
      "autopilot-limits",
    );
  });

  test("a project check that was red before the run does not block it", async () => {
    const folder = scratch({ files: { "package.json": manifest("test -f never.txt") } });
    const { json } = await goScripted(folder, [{ do: [makeB, promise] }], bExists);
    expect(json).toMatchObject({
      result: "PASS",
      reason_code: "completion_verified",
      state: "completed",
    });

    const proved = eventsOf(folder, "step_completed").find(({ attempt }) =>
      String(attempt).includes("/prove#"),
    );
    expect(proved).toMatchObject({ facts: { red_before: 1, regressed: 0 } });
  });

  test("a test that passed in a check that was red must pass still: fixing one and breaking another is told by name", async () => {
    const tap =
      'for t in one two; do if test -f src/$t.txt; then echo "ok 1 - $t"; else echo "not ok 1 - $t"; fi; done; exit 1';
    const folder = scratchCheckedOnce({
      files: {
        "package.json": manifest("sh test/all.sh"),
        "test/all.sh": tap,
        "src/two.txt": "2\n",
      },
    });

    const swap = [
      { write: { path: "src/one.txt", text: "1\n" } },
      { delete: { path: "src/two.txt" } },
    ];

    const turns = [
      { do: [makeB, ...swap, promise] },
      { do: [{ write: { path: "src/two.txt", text: "2\n" } }, promise] },
    ];

    const { json } = await goScripted(folder, turns, bExists);
    expect(json).toMatchObject({
      result: "PASS",
      reason_code: "completion_verified",
      state: "completed",
    });

    expect(eventsOf(folder, "step_failed")).toMatchObject([
      {
        reason_code: "check_regressed",
        detail:
          "npm run test: failed (passed before the work began and fails now: two), worse than before the run",
      },
    ]);
  });

  test("a criterion that regressed is open again, and the run goes on until it holds", async () => {
    const folder = scratchCheckedOnce({ files: { "src/a.txt": "a\n" } });
    const args = [...bExists, "--done-criteria", "a stays :: test -f src/a.txt"];
    const turns = [
      { do: [makeB, { delete: { path: "src/a.txt" } }, promise] },
      { do: [{ write: { path: "src/a.txt", text: "a\n" } }, promise] },
    ];

    const { json } = await goScripted(folder, turns, args);
    expect(json).toMatchObject({ reason_code: "completion_verified", state: "completed" });
    expect(eventsOf(folder, "turn_ended")).toHaveLength(2);
  });

  test("a red-green check must have been red: one that passed before the run keeps it from completing", async () => {
    const folder = scratchCheckedOnce({ files: { "src/a.txt": "a\n" } });
    const { json } = await goScripted(
      folder,
      [{ do: [makeB, promise] }],
      [...bExists, "--red-green", "test -f src/a.txt", "--max-cycles", "1"],
    );
    expect(json).toMatchObject({ reason_code: "cycle_cap_reached", state: "running" });
    expect(eventsOf(folder, "step_failed")).toMatchObject([{ reason_code: "criterion_failed" }]);
  });

  test("a red-green check that was red before and is green after lets the run complete", async () => {
    const folder = scratch();
    const { json } = await goScripted(
      folder,
      [{ do: [makeB, promise] }],
      [...bExists, "--red-green", "grep -q b src/b.txt"],
    );
    expect(json).toMatchObject({ reason_code: "completion_verified", state: "completed" });
    const checks = eventsOf(folder, "step_completed").find(({ attempt }) =>
      String(attempt).includes("/prove#"),
    )?.["checks"];
    expect(checks).toMatchObject([
      { check: { kind: "criterion" }, status: "passed" },
      { check: { kind: "red_green" }, status: "passed" },
    ]);
  });

  test("a holdout check that fails keeps the run from completing, one that passes lets it", async () => {
    const folder = scratchCheckedOnce();
    const turns = [
      { do: [makeB, promise] },
      { do: [{ append: { path: "src/b.txt", text: "42\n" } }, promise] },
    ];

    const { json } = await goScripted(folder, turns, [
      ...bExists,
      "--holdout",
      "grep -q 42 src/b.txt",
    ]);
    expect(json).toMatchObject({ reason_code: "completion_verified", state: "completed" });
    expect(eventsOf(folder, "turn_ended")).toHaveLength(2);
    const held = journal(folder)
      .filter(({ event }) => event.startsWith("step_"))
      .flatMap(({ checks }) => (checks ?? []) as { check: { kind: string }; status: string }[]);
    expect(
      held.filter(({ check }) => check.kind === "holdout").map(({ status }) => status),
    ).toEqual(["failed", "failed", "passed"]);
  });

  test("a check that changes the tree or leaves files behind changes nothing that lands", async () => {
    const folder = scratchCheckedOnce({ files: { "src/a.txt": "a\n" } });
    const args = [
      "--done-criteria",
      "b is there :: echo spoiled > src/a.txt; touch litter; test -f src/b.txt",
    ];

    const { json } = await goScripted(folder, [{ do: [makeB, promise] }], args);
    expect(json).toMatchObject({ state: "completed" });
    expect(eventsOf(folder, "changes_applied").flatMap(({ paths }) => paths)).toEqual([
      "src/b.txt",
    ]);

    expect((await autopilot(folder, ["verify", "--json"])).json).toMatchObject({ result: "PASS" });
  });

  test("neither a holdout check nor what it printed is ever in a prompt, though its failure sends the agent back", async () => {
    const folder = scratchCheckedOnce();
    const reported = join(dirname(folder), "prompts.txt");
    const dump = resolve(import.meta.dirname, "../fixtures/agents/dump.mjs");
    write(folder, {
      ".autopilot/config.yaml": JSON.stringify({
        agents: { dump: { argv: [process.execPath, dump, reported] } },
      }),
    });

    const args = [
      "--holdout",
      "echo what-it-printed; grep -q sesame src/b.txt",
      "--done-criteria",
      "plain :: echo shown-on-purpose; test -f src/c.txt",
      "--max-cycles",
      "2",
    ];

    const { json } = await autopilot(folder, [
      "go",
      "make b",
      "--yes",
      "--json",
      "--isolation",
      "clone",
      "--agent",
      "dump",
      ...args,
    ]);
    expect(json).toMatchObject({ reason_code: "cycle_cap_reached", state: "running" });
    const prompts = readFileSync(reported, "utf8").split("=== end of a prompt\n").slice(0, -1);
    expect(prompts).toHaveLength(2);
    expect(prompts[1]).toContain("shown-on-purpose"); // the positive control: what failed openly is shown
    expect(prompts.join("")).not.toMatch(/sesame|what-it-printed/);
  });

  test.each(["clone", ...(hasBwrap ? ["bwrap"] : [])])(
    "what an agent leaves in its home does not reach the checks that judge it (isolation %s)",
    async (isolation) => {
      const folder = scratchCheckedOnce();
      const plant = { run: 'echo planted > "$HOME/planted" && cat "$HOME/planted"' };

      const args = [
        "--done-criteria",
        'not at home :: test -f src/b.txt && test -n "$HOME" && test -w "$HOME" && ! test -e "$HOME/planted"',
        "--isolation",
        isolation,
      ];

      const { json } = await goScripted(folder, [{ do: [makeB, plant, promise] }], args);
      expect(json).toMatchObject({ reason_code: "completion_verified", state: "completed" });
    },
  );
});
