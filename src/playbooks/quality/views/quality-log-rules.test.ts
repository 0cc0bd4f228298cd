// Every rule of a run_state.jsonl, broken one at a time in a log that is otherwise in order.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openViolations } from "../../../documents/line-rules.ts";
import { openQualityLogRules } from "./quality-log-rules.ts";
import {
  abortedRun,
  cycleSpecs,
  type Event,
  judge,
  judgeLines,
  phaseEnd,
  phaseStart,
  runEnd,
  runIndex,
  runSpecs,
  runStart,
  reported,
  wholeCycle,
  wholeRun,
  without,
} from "./quality-log-rules.test-support.ts";

/** A log with an event put in place of another, from line 1. */
const withLine = (log: readonly Event[], line: number, event: Event): readonly Event[] =>
  log.with(line - 1, event);
const lineOf = (log: readonly Event[], name: string): number =>
  log.findIndex(({ event }) => event === name) + 1;
const textOf = (log: readonly Event[]): string[] => log.map((event) => JSON.stringify(event));

describe("in order", () => {
  test("are a whole run, an aborted one, a whole cycle, and a log that is still being written", () => {
    for (const log of [wholeRun, abortedRun, wholeCycle, wholeRun.slice(0, 9)]) {
      expect(reported(judge(log))).toEqual([]);
    }
  });

  test("is a real log of another tool: newer version, fields beyond the format, a phase that starts before the one before it ended by the clock", () => {
    const real = readFileSync(
      join(import.meta.dirname, "../../../../test/fixtures/quality/complete-run.run_state.jsonl"),
      "utf8",
    );
    const judged = judgeLines(real.split("\n"));
    expect(reported(judged)).toEqual([]);
    expect(judged.facts).toMatchObject({
      level: "run",
      bugsMdCount: 5,
      end: { line: 45, status: "success" },
    });
  });

  test("are blank lines, which are skipped and counted", () => {
    expect(reported(judgeLines(["", "  ", ...textOf(wholeRun), ""]))).toEqual([]);
    expect(
      reported(
        judgeLines([
          "",
          ...textOf(
            wholeRun.toSpliced(4, 0, { event: "gate_check", gate_name: "x", verdict: "pass" }),
          ),
        ]),
      ),
    ).toEqual(["6 RS3"]);
  });

  test("are fields the format does not know and a version that is newer", () => {
    const log = wholeRun.map((event) => ({ ...event, mood: "good", deep: { a: [1] } }));
    expect(
      reported(judge(withLine(log, 1, { ...runIndex, schema_version: "2.0.0", extra: true }))),
    ).toEqual([]);
  });

  test("are events the format does not know, where _index lists them", () => {
    const index = {
      ...runIndex,
      event_types: [...(runIndex["event_types"] as string[]), "coffee_made"],
    };
    const log = withLine(wholeRun, 1, index).toSpliced(4, 0, {
      event: "coffee_made",
      ts: "2026-05-15T14:32:01Z",
    });
    expect(reported(judge(log))).toEqual([]);
  });
});

describe("the seven invariants", () => {
  test("RS1: _index is the first line, and there is one", () => {
    expect(reported(judge(wholeRun.slice(1)))).toEqual(["1 RS1", "2 RS7"]);
    expect(reported(judge([runStart, runIndex, ...wholeRun.slice(2)]))).toEqual([
      "1 RS1",
      "2 RS1",
      "2 RS7",
    ]);

    expect(reported(judge(wholeRun.toSpliced(7, 0, runIndex)))).toEqual(["8 RS1"]);
    expect(reported(judgeLines([]))).toEqual(["1 RS1"]);
    expect(reported(judgeLines(["", ""]))).toEqual(["1 RS1"]);
  });

  test("RS2: every line is one JSON object", () => {
    for (const line of [
      "{",
      "not json",
      "[]",
      "null",
      '"text"',
      "3",
      '{"a":1}{"b":2}',
      '{"a":1,}',
      '{"a":"\0"}',
      "\u{feff}{}",
    ]) {
      expect([line, reported(judgeLines(textOf(wholeRun).with(5, line)))]).toEqual([
        line,
        ["6 RS2"],
      ]);
    }
  });

  test("RS2: a line that could not be read stands for an event, so that those after it are not told for its place", () => {
    for (const log of [wholeRun, wholeCycle]) {
      for (const unread of [1, 2]) {
        const violations = openViolations();
        const rules = openQualityLogRules(violations);

        for (const [index, line] of textOf(log).entries()) {
          if (index + 1 === unread) {
            rules.addFault(unread, "is not UTF-8 from its byte 25 on, expected text", true);
          } else {
            rules.checkLine(line, index + 1);
          }
        }

        rules.finish();
        expect(violations.list()).toMatchObject([{ line: unread, rule: "RS2" }]);
      }
    }

    const alone = openViolations();
    const rules = openQualityLogRules(alone);
    rules.addFault(1, "is not UTF-8 from its byte 3 on, expected text", true);
    rules.finish();
    expect(alone.list().map(({ line }) => line)).toEqual([1, 1]);
  });

  test("RS3: every event has a ts and an event, and both are texts", () => {
    for (const [index, event] of wholeRun.entries()) {
      expect(reported(judge(withLine(wholeRun, index + 1, without(event, "ts"))))).toContain(
        `${index + 1} RS3`,
      );

      expect(reported(judge(withLine(wholeRun, index + 1, without(event, "event"))))).toContain(
        `${index + 1} RS3`,
      );
    }

    expect(reported(judge(withLine(wholeRun, 5, { ...wholeRun[4], ts: 1_747_319_521 })))).toEqual([
      "5 RS3",
    ]);

    expect(reported(judge(withLine(wholeRun, 5, { ...wholeRun[4], event: null })))).toEqual([
      "5 RS3",
    ]);
  });

  test("RS4: every event is one of those that _index lists", () => {
    const types = runIndex["event_types"] as readonly string[];
    for (const name of new Set(wholeRun.slice(1).map(({ event }) => event as string))) {
      const log = withLine(wholeRun, 1, {
        ...runIndex,
        event_types: types.filter((type) => type !== name),
      });

      const lines = wholeRun.flatMap(({ event }, index) =>
        event === name ? [`${index + 1} RS4`] : [],
      );
      expect(reported(judge(log))).toEqual(lines);
    }

    expect(judge(withLine(wholeRun, 1, { ...runIndex, event_types: [] })).errors).toBe(
      wholeRun.length - 1,
    );

    expect(
      reported(
        judge(wholeRun.toSpliced(4, 0, { event: "coffee_made", ts: "2026-05-15T14:32:01Z" })),
      ),
    ).toEqual(["5 RS4"]);
  });

  test("RS6: a phase starts once and ends once, and the phases come in order", () => {
    const end3 = lineOf(wholeRun, "finding_logged") + 1;
    expect(reported(judge(wholeRun.toSpliced(end3, 0, phaseEnd(3))))).toEqual([`${end3 + 1} RS6`]);
    expect(reported(judge(wholeRun.toSpliced(4, 0, phaseStart(1))))).toEqual(["5 RS6"]);
    expect(
      reported(
        judge(wholeRun.filter(({ event, phase }) => event !== "phase_start" || phase !== 4)),
      ),
    ).toEqual(["16 RS6"]);

    const swapped = [runIndex, runStart, phaseStart(2), phaseEnd(2), phaseStart(1), phaseEnd(1)];
    expect(reported(judge(swapped))).toEqual(["5 RS6"]);

    const overlapping = [
      runIndex,
      runStart,
      phaseStart(1),
      phaseStart(2),
      phaseEnd(1),
      phaseEnd(2),
    ];
    expect(reported(judge(overlapping))).toEqual(["4 RS6"]);
  });

  test("RS7: run_start is the second line, and run_end the last; where two lines contradict each other, both are named", () => {
    expect(reported(judge(wholeRun.toSpliced(1, 1)))).toEqual(["2 RS7"]);
    expect(
      reported(judge([runIndex, ...wholeRun.slice(2, 4), runStart, ...wholeRun.slice(4)])),
    ).toEqual(["2 RS7", "4 RS7"]);

    const after = [
      ...wholeRun,
      { event: "error", ts: "2026-05-15T14:32:01Z", message: "too late", recoverable: false },
    ];
    expect(reported(judge(after))).toEqual([
      `${wholeRun.length} RS7`,
      `${wholeRun.length + 1} RS7`,
    ]);

    expect(reported(judge([...wholeRun, runEnd]))).toEqual([
      `${wholeRun.length} RS7`,
      `${wholeRun.length + 1} RS7`,
    ]);

    expect(reported(judge([runIndex]))).toEqual(["1 RS7"]);
  });
});

describe("fields", () => {
  const levels = [
    { level: "run", specs: runSpecs, logs: [wholeRun, abortedRun] },
    { level: "cycle", specs: cycleSpecs, logs: [wholeCycle] },
  ];
  const rows = levels.flatMap(({ level, specs, logs }) =>
    Object.entries(specs).map(([name, spec]) => {
      const log = logs.find((candidate) => lineOf(candidate, name) > 0) ?? [];
      return {
        level,
        name,
        spec,
        log,
        line: lineOf(log, name),
        event: log[lineOf(log, name) - 1] ?? {},
      };
    }),
  );

  test.each(rows)(
    "$level $name: each required field that is missing, null or of another kind is told",
    ({ spec, log, line, event }) => {
      expect(line).toBeGreaterThan(0);
      for (const key of spec.required) {
        for (const broken of [
          without(event, key),
          { ...event, [key]: null },
          { ...event, [key]: [[]] },
        ]) {
          expect([key, reported(judge(withLine(log, line, broken)))]).toEqual([
            key,
            expect.arrayContaining([`${line} RS-field`]),
          ]);
        }

        expect(judge(withLine(log, line, without(event, key))).errors).toBeGreaterThan(0);
      }
    },
  );

  test.each(rows)(
    "$level $name: each optional field may be left out, and is of its kind where it stands",
    ({ spec, log, line, event }) => {
      for (const key of spec.optional ?? []) {
        expect([key, judge(withLine(log, line, without(event, key))).errors]).toEqual([key, 0]);
        expect([key, reported(judge(withLine(log, line, { ...event, [key]: [[]] })))]).toEqual([
          key,
          [`${line} RS-field`],
        ]);

        expect([key, judge(withLine(log, line, { ...event, [key]: null })).errors]).toEqual([
          key,
          0,
        ]);
      }
    },
  );

  test.each(rows)(
    "$level $name: a word or a number that is none of those allowed is told",
    ({ spec, log, line, event }) => {
      for (const [key, wrong] of Object.entries(spec.enums ?? {})) {
        expect([key, reported(judge(withLine(log, line, { ...event, [key]: wrong })))]).toEqual([
          key,
          expect.arrayContaining([`${line} RS-enum`]),
        ]);
      }
    },
  );

  test.each([
    "yesterday",
    "2026-05-15T14:32:01",
    "2026-05-15T14:32:01+00:00",
    "2026-05-15 14:32:01Z",
    "2026-13-15T14:32:01Z",
    "2026-02-30T14:32:01Z",
    "2026-05-15T24:32:01Z",
    "",
  ])("a ts of %s is no time in UTC", (ts) => {
    expect(reported(judge(withLine(wholeRun, 5, { ...wholeRun[4], ts })))).toEqual(["5 RS-field"]);
  });

  test("times may be finer than a second, and need not grow", () => {
    const log = wholeRun.map((event, at) =>
      at === 0 ? event : { ...event, ts: `2026-05-15T14:${59 - at}:01.${at}Z` },
    );
    expect(reported(judge(log))).toEqual([]);
  });

  test("numbers are held to what they count: no half findings, no recall above one", () => {
    expect(reported(judge(withLine(wholeRun, 5, { ...wholeRun[4], findings_count: 1.5 })))).toEqual(
      ["5 RS-field"],
    );

    expect(reported(judge(withLine(wholeRun, 5, { ...wholeRun[4], findings_count: -1 })))).toEqual([
      "5 RS-field",
    ]);

    expect(reported(judge(withLine(wholeCycle, 4, { ...wholeCycle[3], recall: 1.1 })))).toEqual([
      "4 RS-field",
    ]);

    expect(
      reported(judge(withLine(wholeCycle, 8, { ...wholeCycle[7], delta: { chi: "much" } }))),
    ).toEqual(["8 RS-field"]);

    expect(
      reported(
        judge(
          withLine(wholeCycle, 8, { ...wholeCycle[7], cross_benchmark_check: { clean: "yes" } }),
        ),
      ),
    ).toEqual(["8 RS-field", "8 RS-field"]);
  });

  test("_index started_at is the event's own ts; a cycle's index knows no such field", () => {
    const other = { started_at: "2026-05-15T14:00:00Z" };
    expect(reported(judge(withLine(wholeRun, 1, { ...wholeRun[0], ...other })))).toEqual([
      "1 RS-field",
    ]);

    expect(reported(judge(withLine(wholeCycle, 1, { ...wholeCycle[0], ...other })))).toEqual([]);
  });

  test("a runner, a verdict or a state that only other tools know is a warning", () => {
    const warned = (log: readonly Event[]) =>
      judge(log).violations.map(({ line, rule, severity }) => `${line} ${rule} ${severity}`);
    expect(warned(withLine(wholeRun, 2, { ...runStart, runner: "aider" }))).toEqual([
      "2 RS-enum warning",
    ]);

    expect(warned(withLine(wholeRun, 3, { ...wholeRun[2], state: "half_docs" }))).toEqual([
      "3 RS-enum warning",
    ]);

    for (const verdict of ["halt-preflight-failed", "halt-playbook-hang"]) {
      expect(warned(withLine(wholeCycle, 8, { ...wholeCycle[7], verdict }))).toEqual([
        "8 RS-enum warning",
      ]);
    }
  });

  test("the counts of a phase are of their kind; one that is left out is a warning, a verdict that is none is an error", () => {
    const line = lineOf(wholeRun, "phase_end");
    const last = wholeRun.length - 1;
    const counted = (counts: Event, at = line) =>
      judge(withLine(wholeRun, at, { ...wholeRun[at - 1], key_counts: counts }));
    expect(counted({ findings_total: 3 }).violations).toMatchObject([
      { line, rule: "RS-field", severity: "warning" },
    ]);

    expect(reported(counted({ findings_total: "3", patterns_walked: 7 }))).toEqual([
      `${line} RS-field`,
    ]);

    expect(reported(counted({ bugs_md_count: 6, gate_verdict: "good" }, last))).toEqual([
      `${last} RS-enum`,
    ]);
  });
});

describe("the end of a run", () => {
  test("success needs the phase_end of all six phases", () => {
    const log = wholeRun.filter(({ phase }) => phase !== 6 && phase !== 5);
    expect(judge(log).violations).toMatchObject([{ line: log.length, rule: "RS-end" }]);
    expect(judge(log).violations[0]?.message).toContain("phase 5, 6");
  });

  test("success needs a count of BUGS.md; failed and aborted need nothing", () => {
    const line = wholeRun.length - 1;
    const uncounted = withLine(wholeRun, line, {
      ...wholeRun[line - 1],
      key_counts: { gate_verdict: "pass" },
    });
    expect(reported(judge(uncounted))).toEqual([`${line} RS-field`, `${line + 1} RS-end`]);
    expect(reported(judge([...wholeRun.slice(0, 6), { ...runEnd, status: "failed" }]))).toEqual([]);
  });
});

describe("whatever a log holds", () => {
  test("every violation is counted, and no more are kept than a person reads", () => {
    const log = [...textOf(wholeRun.slice(0, 4)), ...Array.from({ length: 10_000 }, () => "{")];
    const judged = judgeLines(log);
    expect([judged.errors, judged.violations.length]).toEqual([10_000, 250]);
  });

  test("a damaged first line is told as what it is, and the rest is judged", () => {
    expect(reported(judgeLines(["{", ...textOf(wholeRun).slice(1)]))).toEqual(["1 RS2"]);
    expect(
      reported(judgeLines([...textOf(wholeRun.slice(0, 1)), "{", ...textOf(wholeRun.slice(2))])),
    ).toEqual(["2 RS2"]);
  });

  test("names that every object has are plain fields", () => {
    const log = wholeRun.map((event) => ({
      ...event,
      constructor: 1,
      toString: "x",
      hasOwnProperty: null,
    }));
    expect(reported(judge(log))).toEqual([]);
    expect(
      reported(
        judge(wholeRun.toSpliced(4, 0, { event: "constructor", ts: "2026-05-15T14:32:01Z" })),
      ),
    ).toEqual(["5 RS4"]);
  });
});
