// Checks that come to different things on one tree, and verdicts that need not be made twice.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, eventsOf, goScripted } from "../support/autopilot.ts";
import { scratch } from "../support/scratch-repository.ts";

const promise = { say: "<promise>DONE</promise>" };
const makeB = { write: { path: "src/b.txt", text: "b\n" } };
const bExists = ["--done-criteria", "b is there :: test -f src/b.txt"];

/**
 * A command that counts its runs beside the repository and comes to these exit codes in turn, the
 * last for ever.
 */
function inTurn(
  folder: string,
  ...codes: number[]
): { readonly command: string; readonly ran: () => number } {
  const file = join(dirname(folder), "runs");
  writeFileSync(file, "");
  const script = join(dirname(folder), "turns.sh");
  writeFileSync(
    script,
    `echo x >> ${file}\nn=$(wc -l < ${file})\nset -- ${codes.join(" ")}\n[ $n -gt $# ] && n=$#\nshift $((n - 1))\nexit $1\n`,
  );

  return { command: `sh ${script}`, ran: () => readFileSync(file, "utf8").length / 2 };
}
function userConfig(folder: string, config: object): void {
  const place = join(dirname(folder), "home", ".config", "autopilot");
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "config.yaml"), JSON.stringify(config));
}
const provedIn = (folder: string, event: string) =>
  eventsOf(folder, event).find(({ attempt }) => String(attempt).includes("/prove#"));

describe("a flaky check", () => {
  test("that passes once and then fails does not complete a run, and is called what it is", async () => {
    const folder = scratch();
    const { command } = inTurn(folder, 1, 1, 0, 1);

    const { json } = await goScripted(
      folder,
      [{ do: [makeB, promise] }],
      ["--done-criteria", `steady :: ${command}`, "--max-cycles", "1"],
    );
    expect(json).toMatchObject({ reason_code: "cycle_cap_reached", state: "running" });
    expect(provedIn(folder, "step_failed")).toMatchObject({
      reason_code: "check_flaky",
      facts: { flaky: 1, failing: 1 },
      checks: [{ status: "flaky" }],
    });

    const judged = eventsOf(folder, "step_completed").find(({ attempt }) =>
      String(attempt).includes("/judged#"),
    );
    expect(judged).toMatchObject({
      facts: {
        complete: false,
        why: "check_flaky",
        gaps: expect.stringContaining("passes and fails on the same tree") as string,
      },
    });
  });

  test("in quarantine is told, held against nobody, and proves nothing", async () => {
    const folder = scratch();
    const { command } = inTurn(folder, 0, 1, 0, 1);
    userConfig(folder, {
      checks: {
        commands: [command],
        quarantine: [{ check: command, until: "2999-12-31", reason: "known" }],
      },
    });

    const { json } = await goScripted(folder, [{ do: [makeB, promise] }], bExists);
    expect(json).toMatchObject({ reason_code: "completion_with_gaps", state: "completed" });
    expect(provedIn(folder, "step_completed")).toMatchObject({
      facts: { quarantined: 1, failing: 0, regressed: 0 },
    });

    expect(eventsOf(folder, "run_completed")).toMatchObject([
      {
        verdict: "verified_with_gaps",
        gaps: [expect.stringContaining("in quarantine until 2999-12-31")],
      },
    ]);
  });

  test("whose quarantine is over counts again, and that is told", async () => {
    const folder = scratch();
    const { command } = inTurn(folder, 0, 1, 0, 1);
    userConfig(folder, {
      checks: { commands: [command], quarantine: [{ check: command, until: "2020-01-01" }] },
    });

    const { json } = await goScripted(
      folder,
      [{ do: [makeB, promise] }],
      [...bExists, "--max-cycles", "1"],
    );
    expect(json).toMatchObject({ reason_code: "cycle_cap_reached" });
    expect(json.warnings.join(" ")).toContain("ended with 2020-01-01, so it counts again");
    expect(provedIn(folder, "step_failed")).toMatchObject({
      reason_code: "check_flaky",
      facts: { flaky: 1, quarantined: 0 },
    });
  });

  test("is believed at its word where the config says that nothing is repeated", async () => {
    const folder = scratch();
    const { command, ran } = inTurn(folder, 1, 0, 1);
    userConfig(folder, { checks: { repeat: 1 } });

    const { json } = await goScripted(
      folder,
      [{ do: [makeB, promise] }],
      ["--done-criteria", `steady :: ${command}`],
    );
    expect(json).toMatchObject({ reason_code: "completion_verified" });
    expect(ran()).toBe(2);
  });
});

describe("a verdict on a tree that was judged before", () => {
  test("is taken over and marked so while the run goes on, and made anew by verify", async () => {
    const folder = scratch();
    const { command, ran } = inTurn(folder, 0);
    userConfig(folder, { checks: { canary: "off" } }); // trying a check out runs it too
    const makeC = { write: { path: "c.txt", text: "c\n" } };
    const turns = [{ do: [makeB] }, { do: [{ say: "nothing new" }] }, { do: [makeC, promise] }];

    const criteria = [
      "--done-criteria",
      `counted :: ${command}`,
      "--done-criteria",
      "c is there :: test -f c.txt",
    ];

    const { json } = await goScripted(folder, turns, [...bExists, ...criteria]);
    expect(json).toMatchObject({ state: "completed" });
    const proofs = [...eventsOf(folder, "step_completed"), ...eventsOf(folder, "step_failed")]
      .toSorted((a, b) => a.seq - b.seq)
      .filter(({ attempt }) => String(attempt).includes("/prove#"))
      .map(({ checks }) => (checks as { cached?: boolean }[]).map(({ cached = false }) => cached));
    expect(proofs).toEqual([
      [false, false, false],
      [true, true, true],
      [false, false, false],
    ]);

    const before = ran();
    expect(before).toBe(3); // the baseline, the first proof and the third
    expect((await autopilot(folder, ["verify", "--json"])).json).toMatchObject({ result: "PASS" });
    expect(ran()).toBeGreaterThan(before);
  });
});
