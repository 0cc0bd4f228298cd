// A state file that somebody edits while a run continues, or between two: it is read before it is
// written, and what of it holds is journaled.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, eventsOf, gateBeside, runFolderOf, until } from "../support/autopilot.ts";
import { scratch } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";
import {
  beginStaged,
  commit,
  draft,
  goStaged,
  greenfield,
  plan,
  problem,
  stateOf,
  stateText,
  type Turn,
  turn,
} from "./project.ts";

const place = (folder: string): string => join(folder, "_docs/_autopilot_state.md");
/** Edits the file as a person would, and fails where there was nothing to edit. */
function edit(
  folder: string,
  ...changes: readonly (readonly [from: string | RegExp, to: string])[]
): string {
  let text = stateText(folder);
  for (const [from, to] of changes) {
    const next = text.replace(from, to);
    if (next === text) throw new Error(`not in the file: ${String(from)}`);
    text = next;
  }

  writeFileSync(place(folder), text);
  return text;
}
/** These turns, in which that phase's waits for the gate. */
const heldAt = (phase: string, gate: { readonly waits: object }): readonly Turn[] =>
  greenfield.map((item) => (is(phase)(item) ? { ...item, do: [gate.waits, ...item.do] } : item));
const is = (phase: string) => (item: Turn) =>
  JSON.stringify(item.when) === `{"phase":"${phase}","step":"do"}`;
const differed = (
  folder: string,
): Readonly<Record<string, { readonly found: string; readonly kept: string }>> =>
  Object.fromEntries(
    eventsOf(folder, "document_differed").map(({ field, found, kept }) => [
      String(field),
      { found: String(found), kept: String(kept) },
    ]),
  );

describe.concurrent("the state file", () => {
  test("edited by hand in mid-run: it stays as it is until the next boundary, then their decisions, blockers, notes and sections hold, and our steps and retries", async () => {
    const folder = scratch();
    commit(folder, problem);
    const gate = gateBeside(folder);
    const turns = heldAt("3", gate);
    const ended = goStaged(folder, "greenfield", turns, ["--option", "research=decided"]);
    await until(
      "the Plan turn",
      () =>
        stateOf(folder).current?.step === 3 && stateOf(folder).current?.status === "in_progress",
    );

    const theirs = edit(
      folder,
      ["## Key Decisions\n", "## Key Decisions\n- Database: SQLite, says Ann\n"],
      ["- none\n", "- the licence server is down on Friday\n\n## Reading list\n- the old wiki\n"],
      [/^\| 2 \| Research.*\n/m, ""],
      [/^step: 3$/m, "step: 5"],
      [/^name: Plan$/m, "name: Decompose"],
    );

    gate.open();
    await until(
      "another fact of the run",
      () => eventsOf(folder, "turn_ended").some(({ attempt }) => attempt === "3@1/do#1") || null,
    );

    const end = await ended;
    expect(end.json).toMatchObject({ reason_code: "session_boundary" });
    const found = differed(folder);
    expect(Object.keys(found)).toEqual([
      "Current Step",
      "Completed Steps",
      "Key Decisions",
      "Blockers",
      "other sections",
    ]);

    expect(found["Current Step"]).toMatchObject({
      found: expect.stringMatching(/step 5 Decompose/) as string,
      kept: expect.stringMatching(/step 3 Plan/) as string,
    });

    expect(found["Key Decisions"]?.kept).toContain("- Database: SQLite, says Ann");
    const last = stateOf(folder);
    expect(last.decisions[0]).toBe("Database: SQLite, says Ann");
    expect(last.blockers).toEqual(["the licence server is down on Friday"]);
    expect(last.completed.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5]); // the row they took away is ours
    expect(stateText(folder)).toContain("## Reading list\n- the old wiki");
    expect(theirs).not.toBe(stateText(folder));
  });

  longTest(
    "a Current Step that stands behind an optional step leaves it out, though it was asked for",
    "test/staged/edits.test.ts › edited by hand in mid-run: it stays as it is until the next boundary, then their decisions, blockers, notes and sections hold, and our steps and retries",
    async () => {
      const folder = scratch();
      commit(folder, { ...problem, ...draft });
      const gate = gateBeside(folder);
      const turns = heldAt("3", gate);

      const ended = goStaged(folder, "greenfield", turns, [
        "--option",
        "research=decided",
        "--with",
        "ui",
      ]);

      await until(
        "the Plan turn",
        () =>
          stateOf(folder).current?.step === 3 && stateOf(folder).current?.status === "in_progress",
      );

      edit(folder, [/^step: 3$/m, "step: 5"], [/^name: Plan$/m, "name: Decompose"]);
      gate.open();
      expect((await ended).json).toMatchObject({ reason_code: "session_boundary" });
      expect(stateOf(folder).completed.find(({ step }) => step === 4)).toMatchObject({
        key_outcome: "skipped",
      });
    },
  );

  longTest(
    "is not written over unread: an edit after the last boundary is still there when the run rests, and is heard when it is taken up",
    "src/playbooks/staged/files/staged-file.test.ts › what somebody else wrote is not written over until a difference was journaled after it was read",
    async () => {
      const folder = scratch();
      commit(folder, { ...problem, ...draft, ...plan });
      const gate = gateBeside(folder);
      const turns = heldAt("5", gate);
      const run = beginStaged(folder, "greenfield", turns);
      await until(
        "the Decompose turn",
        () =>
          stateOf(folder).current?.step === 5 && stateOf(folder).current?.status === "in_progress",
      );

      await autopilot(folder, ["pause", "--json"]); // rests when the turn ends, before the boundary that follows the step
      const theirs = edit(folder, ["## Key Decisions\n", "## Key Decisions\n- No frameworks\n"]);
      gate.open();
      expect((await run.ended).json).toMatchObject({ reason_code: "operator_paused" });
      expect(stateText(folder)).toBe(theirs);
      const taken = await autopilot(folder, ["go", "--json"]);
      expect(taken.err).toContain("- No frameworks"); // shown first
      expect(taken.json.warnings.join("\n")).toContain(
        "Key Decisions of the state file was changed by somebody else",
      );

      expect(stateOf(folder).decisions).toContain("No frameworks");
      expect(eventsOf(folder, "document_differed")).toHaveLength(1);
    },
  );

  test("answers what waits: the research decision on record, and a reset of the retries", async () => {
    const folder = scratch();
    commit(folder, { ...problem, ...draft });
    const bad = {
      ...turn("3", { "_docs/01_solution/solution.md": "# Half\n\nOnly half of what is wanted.\n" }),
      repeat: 4,
    };

    const late = { ...turn("3", plan), when: { phase: "3", step: "do", attempt: 5 } };
    await goStaged(folder, "greenfield", [
      late,
      bad,
      ...greenfield.filter((candidate) => !is("3")(candidate)),
    ]);

    edit(folder, [
      "## Key Decisions\n",
      "## Key Decisions\n- Research decision: proceed to planning\n",
    ]);

    const second = await autopilot(folder, ["go", "--json"]);
    expect(second.json).toMatchObject({ reason_code: "phase_failed" });
    expect(eventsOf(folder, "block_answered")).toMatchObject([
      { block: "block:2@1/decision#1", answer: "B" },
    ]);

    expect(stateOf(folder).current).toMatchObject({ status: "failed", retry_count: 3 });
    edit(folder, ["status: failed", "status: in_progress"], ["retry_count: 3", "retry_count: 0"]);
    const third = await autopilot(folder, ["go", "--json"]);
    expect(third.json).toMatchObject({ reason_code: "session_boundary" });
    expect(stateOf(folder)).toMatchObject({ current: { step: 6, retry_count: 0 }, blockers: [] });
  });

  test("that is none any more is set aside, not lost; one that was deleted is drawn again", async () => {
    const folder = scratch();
    commit(folder, { ...problem, ...draft });
    await goStaged(folder, "greenfield", greenfield);
    writeFileSync(place(folder), Buffer.from([0, 255, 1, 2, 3]));
    const taken = await autopilot(folder, ["go", "--json"]);
    expect(taken.json.warnings.join("\n")).toMatch(
      /_autopilot_state\.md is no UTF-8 text; it is set aside/,
    );

    expect(stateOf(folder).current).toMatchObject({ step: 2 });
    const aside = join(runFolderOf(folder), "set-aside", "_docs");
    expect(readFileSync(join(aside, readdirSync(aside)[0] ?? ""))).toEqual(
      Buffer.from([0, 255, 1, 2, 3]),
    );

    rmSync(place(folder));
    await autopilot(folder, ["go", "--json"]);
    expect(existsSync(place(folder))).toBe(true);
    rmSync(place(folder));
    mkdirSync(place(folder)); // a folder in its place keeps it from being drawn, and nothing else
    const blocked = await autopilot(folder, ["go", "--json"]);
    expect(blocked.json).toMatchObject({ reason_code: "human_block_open" });
    expect(blocked.err).toMatch(/could not be written: .*_autopilot_state\.md is a folder/);
  });

  test("status says where the project stands and executes nothing", async () => {
    const folder = scratch();
    commit(folder, problem);
    await goStaged(folder, "greenfield", greenfield);
    const before = eventsOf(folder, "run_opened").length;
    const shown = await autopilot(folder, ["status"]);
    expect(shown.out).toContain(
      "Flow greenfield, step 2 of 10: Research (in progress, at 2 — decision)",
    );

    expect(shown.out).toContain("! Waits for an answer: Research");
    expect((await autopilot(folder, ["status", "-v"])).out).toContain("Blockers:");
    const { json } = await autopilot(folder, ["status", "--json"]);
    expect(json["staged"]).toMatchObject({
      current: { flow: "greenfield", step: 2, status: "in_progress" },
      last_session: { reason: "user paused" },
    });

    expect(eventsOf(folder, "run_opened")).toHaveLength(before);
  });
});
