// The embedded agent's contract: which turn of a script is played, and that it is the same one
// after every death.

import { setTimeout as wait } from "node:timers/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  autopilot,
  begin,
  eventsOf,
  goScripted,
  goArgs,
  journal,
  processesOf,
} from "../support/autopilot.ts";
import { git, scratchCheckedOnce as scratch, write } from "../support/scratch-repository.ts";
import { aFew, isLong, longTest } from "../support/sampled.ts";

const promise = { say: "<promise>DONE</promise>" };
const makeB = { write: { path: "src/b.txt", text: "b\n" } };
const bExists = ["--done-criteria", "b is there :: test -f src/b.txt"];
const note = (text: string) => ({ append: { path: "src/notes.txt", text: `${text}\n` } });
const notes = (folder: string): readonly string[] =>
  git(folder, "show", "HEAD:src/notes.txt").split("\n");
const review = { pass: true, confidence: 0.9, issues: [] };

describe.concurrent("the scripted agent", () => {
  test("plays the first unused turn whose keys all match, repeats as often as told, and only then the next", async () => {
    const folder = scratch();
    const turns = [
      { when: { flow: "other" }, do: [note("never: another flow")] },
      { when: { role: "judge" }, do: [note("never: another role")] },
      { when: { task: "7" }, do: [note("never: no task here")] },
      {
        when: { flow: "objective", phase: "1", step: "execute", role: "executor", attempt: 2 },
        do: [note("second")],
      },
      { when: { phase: 1 }, do: [note("twice")], repeat: 2 },
      { do: [makeB, note("last"), promise] },
    ];

    const { json } = await goScripted(folder, turns, bExists);
    expect(json).toMatchObject({ state: "completed" });
    expect(notes(folder)).toEqual(["twice", "second", "twice", "last"]);
  });

  test("when no turn matches it says so and changes nothing", async () => {
    const folder = scratch();
    await goScripted(
      folder,
      [{ when: { step: "elsewhere" }, do: [makeB] }],
      [...bExists, "--max-cycles", "1"],
    );

    expect(eventsOf(folder, "turn_ended")).toMatchObject([
      { said: "nothing to do", promised: false },
    ]);

    expect(eventsOf(folder, "changes_applied")).toEqual([]);
  });

  longTest(
    "a return that does not fit is asked for again with the errors, and the asks choose their own turns",
    "test/cli-runs/junk.test.ts › one that is fixed when it is asked again counts",
    async () => {
      const folder = scratch();
      const turns = [
        { when: { role: "executor" }, do: [makeB, promise], confidence: 0.1 },
        { when: { role: "judge", ask: 1 }, do: [{ say: "no JSON from me" }] },
        { when: { role: "judge", ask: 2 }, returns: { pass: "perhaps" } },
        { when: { role: "judge", ask: 3 }, returns: review },
      ];

      const { json } = await goScripted(folder, turns, [...bExists, "--handoff-mode", "auto"]);
      expect(json).toMatchObject({ reason_code: "completion_verified", state: "completed" });
      const asked = eventsOf(folder, "return_asked_again");
      expect(asked).toMatchObject([
        { ask: 2, reason_code: "return_invalid" },
        { ask: 3, reason_code: "return_invalid" },
      ]);

      expect(asked.map(({ errors }) => (errors as string[]).join(" "))).toEqual([
        expect.stringContaining("JSON"),
        expect.stringContaining("pass"),
      ]);
    },
  );

  test("a return is asked for again at most twice; then the step fails with return_invalid", async () => {
    const folder = scratch();
    const turns = [
      { when: { role: "executor" }, do: [makeB, promise], confidence: 0.1 },
      { when: { role: "judge" }, do: [{ say: "no" }], repeat: 0 },
    ];

    const { json } = await goScripted(folder, turns, [...bExists, "--handoff-mode", "auto"]);
    expect(json).toMatchObject({
      reason_code: "confidence_drop_requires_handoff",
      state: "paused",
    });

    expect(eventsOf(folder, "return_asked_again")).toHaveLength(2);
    expect(eventsOf(folder, "step_failed")).toMatchObject([{ reason_code: "return_invalid" }]);
  });

  test("a script that is not valid is refused with file and line, before anything is written", async () => {
    const folder = scratch();
    const file = join(dirname(folder), "broken.yaml");
    write(dirname(folder), {
      "broken.yaml": "turns:\n  - do:\n      - say: hello\n      - jump: high\n",
    });

    const { code, json } = await autopilot(folder, [
      "go",
      "make b",
      "--yes",
      "--json",
      "--isolation",
      "clone",
      "--agent",
      `scripted:${file}`,
    ]);

    expect({ code, reason: json.reason_code }).toEqual({ code: 1, reason: "script_invalid" });
    expect(json.message).toMatch(/broken\.yaml:4:/);
    expect((await autopilot(folder, ["status", "--json"])).json).toMatchObject({ state: "idle" });
  });

  aFew(1).each([11, 12, 13])(
    "killed with -9 at random moments again and again, it plays the same turns to the same tree (seed %d)",
    async (seed) => {
      const folder = scratch();
      const turns = [1, 2, 3].map((n) => ({
        do: [note(`turn ${n}`), { sleep: 150 }, note(`turn ${n}, second half`)],
      }));

      // Every turn that a kill cut short is charged at its estimate, so there must be room for
      // them.
      const args = goArgs(
        folder,
        [...turns, { do: [makeB, note("the end"), promise] }],
        [...bExists, "--max-budget", "tokens=5M"],
      );

      const chance = chanceFrom(seed);
      let kills = 0;
      let living = begin(folder, args);

      for (let n = 0; n < (isLong ? 5 : 2); n++) {
        const isOver = await Promise.race([
          living.ended.then(() => true),
          wait(300 + chance() * 1500).then(() => false),
        ]);
        if (isOver) break;
        living.child.kill("SIGKILL");
        await living.ended;
        kills++;
        // Before its first line on disk there is no run to take up, and the goal is said again.
        const { json } = await autopilot(folder, ["status", "--json"]);
        living = begin(
          folder,
          json.state === "running" || json.state === "paused" ? ["resume", "--json"] : args,
        );
      }

      let { json } = await living.ended;
      // An attempt that took the runner down three times waits for a person, who says: go on.
      for (let n = 0; n < 3 && json.state === "paused"; n++) {
        if (json.reason_code === "human_block_open" || json.reason_code === "crash_loop") {
          await autopilot(folder, ["approve", "--json"]);
        }

        ({ json } = await autopilot(folder, ["resume", "--json"]));
      }

      expect(json).toMatchObject({ reason_code: "completion_verified", state: "completed" });
      expect(kills).toBeGreaterThan(0);
      expect(notes(folder)).toEqual([
        "turn 1",
        "turn 1, second half",
        "turn 2",
        "turn 2, second half",
        "turn 3",
        "turn 3, second half",
        "the end",
      ]);

      expect(eventsOf(folder, "turn_ended")).toHaveLength(4);
      expect(
        new Set(
          journal(folder)
            .filter(({ event, step }) => event === "step_started" && step === "execute")
            .map(({ attempt }) => attempt),
        ).size,
      ).toBe(4);

      expect(processesOf(String(json.run_id), folder)).toEqual([]);
      expect((await autopilot(folder, ["verify", "--json"])).json).toMatchObject({
        result: "PASS",
      });
    },
  );
});

/** A small generator, so that a seed tells the whole story (xorshift). */
function chanceFrom(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;

    return (state >>> 0) / 2 ** 32;
  };
}
