// What goes wrong for good, and what is only stopped: how the log ends, and how a run continues
// from there.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, begin, eventsOf, until } from "../support/autopilot.ts";
import { longTest } from "../support/sampled.ts";
import {
  audit,
  exploration,
  history,
  inShort,
  left,
  linesIn,
  log,
  logText,
  named,
  progress,
  shop,
  sources,
  turn,
  turns,
  args,
} from "./audit.ts";
import { begun, both, head } from "./foreign-log.ts";
import { faultsIn } from "./seed-reader.ts";

describe.concurrent("a quality run that does not come to its end", () => {
  test("a gate that never holds: three more tries, each an error, then the run has failed, exit 1; taken up again, a new log begins", async () => {
    const folder = shop();
    const short = (lines: number): object => turn("2", { [`NOTE-${lines}.md`]: `${lines}\n` });

    const { code, json } = await audit(folder, [
      turn("1"),
      short(1),
      short(2),
      short(3),
      short(4),
      ...turns().slice(1),
    ]);

    expect({ code, ...json }).toMatchObject({
      code: 1,
      result: "FAIL",
      reason_code: "phase_failed",
      state: "paused",
    });

    const before = logText(folder);
    expect(inShort(linesIn(before))).toEqual([
      "_index", "run_start", "start 1", "end 1", "start 2",
      "error 2 recoverable", "error 2 recoverable", "error 2 recoverable", "error 2 final", "run_end failed",
    ]); // prettier-ignore

    expect(faultsIn(before)).toEqual([]);
    expect(progress(folder)).toMatch(/^ERROR: proof_missing — /m);
    const again = await autopilot(folder, ["resume", "--json"]);
    expect(again.json).toMatchObject({ result: "WARN", state: "completed" });
    const [old = ""] = history(folder);
    expect(readFileSync(join(folder, "quality/history", old), "utf8")).toBe(before);
    expect(inShort(log(folder))).toEqual([
      "_index", "run_start", "error 2 recoverable",
      ...[1, 2, 3, 4, 5, 6].flatMap((phase) => [`start ${phase}`, `end ${phase}`]), "run_end success",
    ]); // prettier-ignore

    expect(faultsIn(logText(folder), 2)).toEqual([]);
  });

  longTest(
    "an agent that does nothing at all is tried as often, and the breaker does not come in between",
    "test/quality/failing.test.ts › a gate that never holds: three more tries, each an error, then the run has failed, exit 1; taken up again, a new log begins",
    async () => {
      const folder = shop();
      const { json } = await audit(folder, []);
      expect(json).toMatchObject({ result: "FAIL", reason_code: "phase_failed" });
      expect(inShort(log(folder))).toEqual([
      "_index", "run_start", "start 1", "error 1 recoverable", "error 1 recoverable", "error 1 recoverable", "error 1 final", "run_end failed",
    ]); // prettier-ignore
    },
  );

  test("an agent that edits a source file: nothing of that turn is kept, the log says so, and the phase runs again", async () => {
    const folder = begun([...head(), ...both(1, 2, 3, 4)], ["1", "2", "3", "4"]);
    const strayed = turn("5", left["5"], {
      do: [{ write: { path: "src/sum.js", text: "export const sum = () => 0;\n" } }],
    });

    const { json } = await audit(folder, turns({ "5": [strayed, turn("5")] }));
    expect(json).toMatchObject({ result: "WARN", state: "completed" });
    expect(readFileSync(join(folder, "src/sum.js"), "utf8")).toBe(sources["src/sum.js"]);
    const [error] = named(log(folder), "error");
    expect(error).toMatchObject({
      phase: 5,
      recoverable: true,
      message: expect.stringContaining("src/sum.js") as string,
    });

    expect(
      named(log(folder), "gate_check").find((line) => line["gate_name"] === "source_unchanged"),
    ).toMatchObject({ verdict: "pass" });
  });

  longTest(
    "an agent that takes away what an earlier phase left is found out by the terminal gate",
    "test/quality/rows.test.ts › the terminal gate asks for more than the rows: one patch a bug. The verifier may fix it, and then the gate holds",
    async () => {
      const folder = shop();
      const { json } = await audit(
        folder,
        turns({
          "5": turn("5", left["5"], { do: [{ delete: { path: "quality/CONTRACTS.md" } }] }),
          "6": [
            turn("6", {}),
            turn("6", { "CONTRACTS.md": "What sum promises: nothing for an empty list.\n" }),
          ],
        }),
      );
      expect(json).toMatchObject({ state: "completed", verdict: "verified_with_gaps" });
      expect(
        named(log(folder), "gate_check")
          .filter((line) => line["gate_name"] === "phase_2")
          .map((line) => line["verdict"]),
      ).toEqual(["fail", "pass"]);
    },
  );

  test("paused, it stays an open run; stopped, it ends aborted", async () => {
    const folder = shop();
    const slow = turn("2", left["2"], { do: [{ sleep: 60_000 }] });
    const { ended } = begin(folder, args(folder, [turn("1"), slow]));
    await until(
      "phase 2",
      () =>
        existsSync(join(folder, "quality/run_state.jsonl")) &&
        inShort(log(folder)).includes("start 2"),
    );

    await autopilot(folder, ["pause", "--now", "--json"]);
    expect((await ended).json).toMatchObject({ result: "WARN", state: "paused" });
    expect(inShort(log(folder))).toEqual(["_index", "run_start", "start 1", "end 1", "start 2"]);
    expect(progress(folder)).toMatch(
      /- \[ \] Phase 2 — Generate \*\(in progress, started \d\d:\d\d:\d\dZ\)\*/,
    );

    expect((await autopilot(folder, ["stop", "--json"])).json).toMatchObject({ result: "PASS" });
    expect(inShort(log(folder))).toEqual([
      "_index",
      "run_start",
      "start 1",
      "end 1",
      "start 2",
      "run_end aborted",
    ]);

    expect(faultsIn(logText(folder))).toEqual([]);
  });

  longTest(
    "an agent that writes empty lines, or headings alone, holds the gate as it is written; it is called hollow and leaves a gap",
    "test/flows/gates-in-runs.test.ts › %s: the gate holds as it is written, the file is told as hollow, and the run ends verified with gaps",
    async () => {
      const [blank, heads] = [shop(), shop()];
      const empty = `## Finding\n${"\n".repeat(119)}`;
      const headings = Array.from({ length: 120 }, (_, n) => `## Finding ${n + 1}\n`).join("");
      const results = await Promise.all([
        audit(blank, turns({ "1": turn("1", { "EXPLORATION.md": empty }) })),
        audit(heads, turns({ "1": turn("1", { "EXPLORATION.md": headings }) })),
      ]);

      for (const [n, folder] of [blank, heads].entries()) {
        expect(results[n]?.json).toMatchObject({
          result: "WARN",
          reason_code: "completion_with_gaps",
          state: "completed",
          verdict: "verified_with_gaps",
        });

        expect(results[n]?.json["gaps"]).toContainEqual(
          expect.stringMatching(/^quality\/EXPLORATION\.md is hollow: /),
        );

        expect(inShort(log(folder))).not.toContain("error 1 recoverable");
        expect(
          named(log(folder), "gate_check").find((line) => line["gate_name"] === "content"),
        ).toMatchObject({ verdict: "warn" });

        expect(named(log(folder), "phase_end").at(-1)).toMatchObject({
          key_counts: { gate_verdict: "partial" },
        });
      }

      expect(exploration(120).split("\n")).toHaveLength(121); // the honest one has as many lines and is not hollow: whole-run.test.ts
      expect(eventsOf(blank, "turn_ended")).toHaveLength(6);
    },
  );
});
