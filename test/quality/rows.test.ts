// The cross-validation table through the command line, from both sides: what lacks something is
// sent back with an `error`, and passes once it is there.

import { describe, expect, test } from "vitest";
import { gatesGap } from "../../src/core/verdict.ts";
import { autopilot, eventsOf } from "../support/autopilot.ts";
import { longTest } from "../support/sampled.ts";
import {
  audit,
  exploration,
  type Files,
  inShort,
  left,
  log,
  logText,
  named,
  shop,
  turn,
  turns,
} from "./audit.ts";
import { faultsIn } from "./seed-reader.ts";

const without = (files: Files | undefined, ...paths: readonly string[]): Files =>
  Object.fromEntries(Object.entries(files ?? {}).filter(([path]) => !paths.includes(path)));
const only = (files: Files | undefined, ...paths: readonly string[]): Files =>
  Object.fromEntries(Object.entries(files ?? {}).filter(([path]) => paths.includes(path)));
const again = (...phases: readonly number[]): readonly string[] =>
  phases.flatMap((phase) => [`start ${phase}`, `error ${phase} recoverable`, `end ${phase}`]);

describe.concurrent("each row of the table, from both sides", () => {
  test("every phase lacks one thing at first, is told which, runs again, and ends", async () => {
    const folder = shop();
    const { json } = await audit(
      folder,
      turns({
        "1": [
          turn("1", { "EXPLORATION.md": exploration(119) }),
          turn("1", { "EXPLORATION.md": exploration(120) }),
        ],
        "2": [
          turn("2", without(left["2"], "RUN_TDD_TESTS.md")),
          turn("2", only(left["2"], "RUN_TDD_TESTS.md")),
        ],
        "3": [
          turn(
            "3",
            without(
              left["3"],
              "patches/BUG-001-regression-test.patch",
              "patches/BUG-002-regression-test.patch",
            ),
          ),
          turn(
            "3",
            only(
              left["3"],
              "patches/BUG-001-regression-test.patch",
              "patches/BUG-002-regression-test.patch",
            ),
          ),
        ],
        "4": [
          turn("4", without(left["4"], "spec_audits/2026-05-15-triage.md")),
          turn("4", only(left["4"], "spec_audits/2026-05-15-triage.md")),
        ],
        "5": [
          turn("5", without(left["5"], "results/BUG-002.red.log")),
          turn("5", only(left["5"], "results/BUG-002.red.log")),
        ],
      }),
    );
    expect(json).toMatchObject({
      result: "WARN",
      state: "completed",
      verdict: "verified_with_gaps",
    });

    expect(inShort(log(folder))).toEqual([
      "_index",
      "run_start",
      ...again(1, 2, 3, 4, 5),
      "start 6",
      "end 6",
      "run_end success",
    ]);

    const messages = named(log(folder), "error").map((line) => String(line["message"]));
    expect(messages).toEqual([
      expect.stringMatching(
        /min_lines quality\/EXPLORATION\.md: found 119 lines, expected at least 120/,
      ) as string,
      expect.stringMatching(/exists quality\/RUN_TDD_TESTS\.md: found nothing there/) as string,
      expect.stringMatching(
        /any quality\/patches\/BUG-\*-regression-test\.patch: found 0 of 0/,
      ) as string,
      expect.stringMatching(/any quality\/spec_audits\/\*-triage\.md: found 0 of 0/) as string,
      expect.stringMatching(
        /exists quality\/results\/BUG-002\.red\.log: found nothing there/,
      ) as string,
    ]);

    expect(faultsIn(logText(folder), 2)).toEqual([]);
  });

  longTest(
    "no bug at all: no patch is asked for, the fifth row is vacuous, and its check is skipped",
    "test/quality/rows.test.ts › the terminal gate asks for more than the rows: one patch a bug. The verifier may fix it, and then the gate holds",
    async () => {
      const folder = shop();
      const { json } = await audit(
        folder,
        turns({
          "3": turn(
            "3",
            { "code_reviews/review.md": "src/sum.js was read; nothing is wrong with it.\n" },
            { returns: { bugs: [], writeups: [] } },
          ),
          "5": turn("5", {}, { returns: { reconciled: [] } }),
        }),
      );
      expect(json).toMatchObject({ result: "WARN", state: "completed", gaps: [gatesGap] });
      const lines = log(folder);
      expect(
        named(lines, "phase_end")
          .map((line) => line["key_counts"])
          .slice(2),
      ).toMatchObject([
        { bugs_identified: 0 },
        {},
        { gate_checks_total: 1, gate_failures: 0 },
        { bugs_md_count: 0, gate_verdict: "pass" },
      ]);

      expect(
        named(lines, "gate_check").find((line) => line["gate_name"] === "reconciliation"),
      ).toMatchObject({ verdict: "skip" });

      expect(faultsIn(logText(folder), 0)).toEqual([]);
    },
  );

  longTest(
    "audits under other names pass on their number alone; the gate warns, and the run is verified with a gap",
    "test/quality/rows.test.ts › the terminal gate asks for more than the rows: one patch a bug. The verifier may fix it, and then the gate holds",
    async () => {
      const folder = shop();
      const { json } = await audit(
        folder,
        turns({
          "4": [
            turn(
              "4",
              { "spec_audits/one.md": "REQ-001 is not met.\n" },
              { returns: { passes: [] } },
            ),
            turn(
              "4",
              { "spec_audits/two.md": "Nor is REQ-002.\n" },
              { returns: { passes: [], req_count: 2 } },
            ),
          ],
        }),
      );
      expect(json).toMatchObject({
        result: "WARN",
        reason_code: "completion_with_gaps",
        state: "completed",
      });

      expect(json["gaps"]).toEqual([
        gatesGap,
        expect.stringContaining("regression_tests"),
        expect.stringContaining("spec_audit_names"),
      ]);

      expect(inShort(log(folder))).toEqual([
        "_index",
        "run_start",
        "start 1",
        "end 1",
        "start 2",
        "end 2",
        "start 3",
        "end 3",
        ...again(4),
        "start 5",
        "end 5",
        "start 6",
        "end 6",
        "run_end success",
      ]);

      expect(named(log(folder), "phase_end").at(-1)).toMatchObject({
        key_counts: { gate_verdict: "partial" },
      });
    },
  );

  test("the terminal gate asks for more than the rows: one patch a bug. The verifier may fix it, and then the gate holds", async () => {
    const folder = shop();
    const { json } = await audit(
      folder,
      turns({
        "3": turn("3", without(left["3"], "patches/BUG-002-regression-test.patch")),
        "6": [turn("6", {}), turn("6", only(left["3"], "patches/BUG-002-regression-test.patch"))],
      }),
    );
    expect(json).toMatchObject({
      result: "WARN",
      state: "completed",
      verdict: "verified_with_gaps",
    });

    const checks = named(log(folder), "gate_check").filter(
      (line) => line["gate_name"] === "patches",
    );
    expect(checks.map((line) => line["verdict"])).toEqual(["fail", "pass"]);
    expect(inShort(log(folder)).slice(-4)).toEqual([
      "start 6",
      "error 6 recoverable",
      "end 6",
      "run_end success",
    ]);

    expect(named(log(folder), "phase_end").at(-1)).toMatchObject({
      key_counts: { gate_verdict: "partial" },
    });
  });

  longTest(
    "bugs that were named and are not in BUGS.md fail the gate: three more tries, then the run has failed",
    "test/quality/failing.test.ts › a gate that never holds: three more tries, each an error, then the run has failed, exit 1; taken up again, a new log begins",
    async () => {
      const folder = shop();
      const { code, json } = await audit(
        folder,
        turns({
          "5": turn("5", left["5"], {
            returns: { reconciled: [{ id: "BUG-001" }, { id: "BUG-002" }, { id: "BUG-003" }] },
          }),
          "6": { ...turn("6", {}), repeat: 0 },
        }),
      );

      expect({ code, ...json }).toMatchObject({
        code: 1,
        result: "FAIL",
        reason_code: "phase_failed",
        state: "paused",
      });

      expect(inShort(log(folder)).slice(-6)).toEqual([
        "start 6",
        "error 6 recoverable",
        "error 6 recoverable",
        "error 6 recoverable",
        "error 6 final",
        "run_end failed",
      ]);

      expect(eventsOf(folder, "turn_ended")).toHaveLength(5 + 4);
      expect(named(log(folder), "gate_check").at(-1)).toBeDefined();
      expect(
        named(log(folder), "gate_check").find((line) => line["gate_name"] === "bugs_heading"),
      ).toMatchObject({
        verdict: "fail",
        reason: expect.stringContaining("BUG-003") as string,
      });

      expect(faultsIn(logText(folder))).toEqual([]);
      expect(
        (await autopilot(folder, ["validate", "quality/run_state.jsonl", "--json"])).code,
      ).toBe(0);
    },
  );
});
