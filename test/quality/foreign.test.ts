// A quality run that another tool began: only its files are here. It is recognised, and gone on
// with by the rules of its own format.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, eventsOf, runFolderOf, scripted } from "../support/autopilot.ts";
import { write } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";
import {
  audit,
  history,
  inShort,
  left,
  linesIn,
  log,
  logText,
  named,
  progress,
  turns,
} from "./audit.ts";
import { begun, both, end, head, start, text } from "./foreign-log.ts";
import { faultsIn } from "./seed-reader.ts";

const played = (folder: string): readonly string[] =>
  eventsOf(folder, "turn_ended").map((entry) => String(entry["attempt"]).split("@")[0] ?? "");

describe.concurrent("a log of another tool", () => {
  test("its phase in progress is complete: phase_end is added, the next phase begins, and every line of theirs stays", async () => {
    const lines = [...head(), ...both(1, 2, 3, 4), start(5)];
    const folder = begun(lines, ["1", "2", "3", "4", "5"]);
    const { json } = await audit(folder);
    expect(json).toMatchObject({ state: "completed", verdict: "verified_with_gaps" });
    expect(logText(folder).startsWith(text(lines))).toBe(true);
    expect(inShort(log(folder))).toEqual([
      "_index",
      "run_start",
      ...[1, 2, 3, 4, 5, 6].flatMap((p) => [`start ${p}`, `end ${p}`]),
      "run_end success",
    ]);

    expect(played(folder)).toEqual(["6"]);
    expect(named(log(folder), "phase_end")[0]).toMatchObject({ key_counts: { findings_total: 8 } }); // theirs
    expect(progress(folder)).toContain("**Benchmark:** theirs-1.0 **Lever:** pre-pattern7");
    expect(progress(folder)).toContain("**Runner:** claude **Playbook version:** 1.5.7");
    expect(
      readFileSync(join(runFolderOf(folder), "set-aside/quality/PROGRESS.md"), "utf8"),
    ).toContain("Theirs."); // never lost

    expect(faultsIn(logText(folder), 2)).toEqual([]);
  });

  test("its phase in progress is not complete: that phase runs again", async () => {
    const folder = begun([...head(), ...both(1, 2, 3, 4), start(5)], ["1", "2", "3", "4"]);
    const { json } = await audit(folder);
    expect(json).toMatchObject({ state: "completed" });
    expect(played(folder)).toEqual(["5", "6"]);
    expect(faultsIn(logText(folder), 2)).toEqual([]);
  });

  longTest(
    "an ended phase has lost its artifacts: their log goes to history as it was, a new one begins, and what still stands is closed again",
    "test/quality/again.test.ts › an artifact %s after its phase_end: the log moves to history, the phase runs again, and the file is back in the checkout",
    async () => {
      const lines = [...head(), ...both(1, 2, 3, 4), start(5)];
      const folder = begun(lines, ["1", "3", "4", "5"]);
      const { json } = await audit(folder);
      expect(json).toMatchObject({ state: "completed" });
      const [old = ""] = history(folder);
      expect(
        linesIn(readFileSync(join(folder, "quality/history", old), "utf8")).slice(0, lines.length),
      ).toEqual(linesIn(text(lines)));

      expect(inShort(log(folder)).slice(0, 7)).toEqual([
        "_index",
        "run_start",
        "error 2 recoverable",
        "start 1",
        "end 1",
        "start 2",
        "end 2",
      ]);

      expect(named(log(folder), "error")[0]?.["message"]).toContain("no longer prove it");
      expect(played(folder)).toEqual(["2", "6"]);
      expect(faultsIn(logText(folder), 2)).toEqual([]);
    },
  );

  test("all six phases ended and nothing else: run_end is added, and no agent is started", async () => {
    const lines = [...head(), ...both(1, 2, 3, 4, 5, 6)];
    const theirs = {
      "quality/PROGRESS.md": "# QPB Run Progress\n\n## Terminal Gate Verification\n",
      "quality/results/quality-gate.log": "RESULT: GATE PASSED\n",
    };
    const folder = begun(lines, ["1", "2", "3", "4", "5"], theirs);
    const { json } = await audit(folder, []);
    expect(json).toMatchObject({
      result: "WARN",
      state: "completed",
      verdict: "verified_with_gaps",
    }); // the gate was theirs, not ours

    expect(linesIn(logText(folder)).slice(lines.length)).toMatchObject([
      { event: "run_end", status: "success", final_verdict: "pass" },
    ]);

    expect(played(folder)).toEqual([]);
    expect(progress(folder)).toContain("## Terminal Gate Verification");
    expect(readFileSync(join(folder, "quality/results/quality-gate.log"), "utf8")).toBe(
      "RESULT: GATE PASSED\n",
    );
  });

  longTest(
    "all six ended, but BUGS.md has another number: the last phase is done again",
    "test/quality/foreign.test.ts › its phase in progress is not complete: that phase runs again",
    async () => {
      const lines = [
        ...head(),
        ...both(1, 2, 3, 4, 5),
        start(6),
        end(6).replace('"bugs_md_count": 2', '"bugs_md_count": 7'),
      ];

      const theirs = {
        "quality/PROGRESS.md": "## Terminal Gate Verification\n",
        "quality/results/quality-gate.log": "RESULT: GATE PASSED\n",
      };
      const folder = begun(lines, ["1", "2", "3", "4", "5"], theirs);
      await audit(folder);
      expect(played(folder)).toEqual(["6"]);
      expect(named(log(folder), "phase_end").at(-1)).toMatchObject({
        key_counts: { bugs_md_count: 2 },
      });

      expect(history(folder)).toHaveLength(1);
      expect(faultsIn(logText(folder), 2)).toEqual([]);
    },
  );

  test("only event types that its _index lists are added", async () => {
    const few = ["_index", "run_start", "phase_start", "phase_end", "run_end"];
    const folder = begun([...head(few), ...both(1, 2, 3), start(4)], ["1", "2", "3"]);
    await audit(folder);
    expect(new Set(log(folder).map(({ event }) => event))).toEqual(new Set(few));
    expect(faultsIn(logText(folder), 2)).toEqual([]);
  });

  test("a last line without its end is ended first; a log that breaks its own rules is moved, never fixed", async () => {
    const done = ["1", "2", "3", "4", "5"];
    const theirs = [...head(), ...both(1, 2, 3, 4, 5), start(6)];
    const open = begun(theirs, done);
    write(open, { "quality/run_state.jsonl": theirs.join("\n") });
    const broken = begun([...head(), start(1), start(1)], done);
    const before = logText(broken);
    await Promise.all([audit(open), audit(broken)]);
    expect(linesIn(logText(open)).slice(0, theirs.length)).toEqual(linesIn(text(theirs)));
    expect(faultsIn(logText(open), 2)).toEqual([]);
    expect(readFileSync(join(broken, "quality/history", history(broken)[0] ?? ""), "utf8")).toBe(
      before,
    );

    expect(inShort(log(broken)).slice(0, 4)).toEqual([
      "_index",
      "run_start",
      "error - recoverable",
      "start 1",
    ]);
  });

  test("what it left and never committed is not done twice behind the user's back: it is told, and nothing begins", async () => {
    const folder = begun([...head(), ...both(1), start(2)], []);
    write(folder, { "quality/EXPLORATION.md": left["1"]?.["EXPLORATION.md"] ?? "" });
    const { code, json } = await audit(folder);
    expect({ code, ...json }).toMatchObject({ code: 1, reason_code: "checkout_dirty" });
    expect(json.remediation.join()).toContain("git add quality");
  });

  test("`status` names it, and `resume` goes on with it", async () => {
    const folder = begun([...head(), ...both(1, 2, 3, 4), start(5)], ["1", "2", "3", "4"]);
    const { out } = await autopilot(folder, ["status"]);
    expect(out).toMatch(/phase 5 of 6 is in progress/);

    const { json } = await autopilot(folder, [
      "resume",
      "--yes",
      "--json",
      "--isolation",
      "clone",
      ...scripted(folder, turns()),
    ]);
    expect(json).toMatchObject({ state: "completed" });
    expect(named(log(folder), "_index")).toMatchObject([{ benchmark: "theirs-1.0" }]);
  });
});
